using Grpc.Core;
using LightQ.Client.Connections;

namespace LightQ.Client.Administration;

/// <summary>
/// What the generated clients call the control plane through: that of the client's broker, or of any of its brokers
/// that answers.
/// </summary>
/// <remarks>Thread-safe. Connects at the first call.</remarks>
internal sealed class ControlChannel : IDisposable
{
    private readonly Lock _lock = new();
    private readonly Dictionary<string, ControlNode> _nodes = new(StringComparer.OrdinalIgnoreCase);
    private readonly ControlNode _first;
    private readonly Lazy<CallInvoker> _secretCalls;
    private bool _isDisposed;
    private int _current;

    public ControlChannel(LightQClientOptions options)
    {
        Brokers = new KnownBrokers(options);
        for (int place = 0; place < Brokers.Count; place++)
            NodeAt(place);
        _first = NodeAt(0);
        Calls = new FailoverInvoker(this, options, static n => n.Calls);
        _secretCalls = new Lazy<CallInvoker>(() => new FailoverInvoker(this, options, static n => n.SecretCalls));
    }

    /// <summary>The brokers, those of the options first.</summary>
    public KnownBrokers Brokers { get; }

    /// <summary>For calls without a secret in request and response.</summary>
    public CallInvoker Calls { get; }

    /// <summary>For calls whose request or response holds a password or a token of a user.</summary>
    public CallInvoker SecretCalls => _secretCalls.Value;

    /// <summary>For calls that are about one broker, the first of the options, and mean no other.</summary>
    public CallInvoker FirstCalls => _first.Calls;

    /// <summary>The place of the broker that answered last.</summary>
    public int Current
    {
        get => Volatile.Read(ref _current);
        set => Volatile.Write(ref _current, value);
    }

    /// <summary>A broker's control plane, by its place; one that is known no longer is kept to the end.</summary>
    public ControlNode NodeAt(int place)
    {
        LightQClientOptions broker = Brokers[place];
        string address = HostPort.Format(broker.Host, broker.ControlPort);
        lock (_lock)
        {
            if (_nodes.TryGetValue(address, out ControlNode? node))
                return node;
            ObjectDisposedException.ThrowIf(_isDisposed, this);
            return _nodes[address] = new ControlNode(broker);
        }
    }

    public void Dispose()
    {
        lock (_lock)
        {
            _isDisposed = true;
            foreach (ControlNode node in _nodes.Values)
                node.Dispose();
        }
    }
}
