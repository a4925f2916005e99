using Grpc.Core;

namespace LightQ.Client.Administration;

/// <summary>
/// What the generated clients call the control plane through: that of the client's broker, or of any of its brokers
/// that answers.
/// </summary>
/// <remarks>Thread-safe. Connects at the first call.</remarks>
internal sealed class ControlChannel : IDisposable
{
    private readonly ControlNode[] _nodes;
    private readonly Lazy<CallInvoker> _secretCalls;
    private int _current;

    public ControlChannel(LightQClientOptions options)
    {
        _nodes = [.. options.ForEach().Select(static broker => new ControlNode(broker))];
        Calls = _nodes.Length == 1 ? _nodes[0].Calls : new FailoverInvoker(this, options, static n => n.Calls);
        _secretCalls = new Lazy<CallInvoker>(() =>
            _nodes.Length == 1 ? _nodes[0].SecretCalls : new FailoverInvoker(this, options, static n => n.SecretCalls)
        );
    }

    /// <summary>For calls without a secret in request and response.</summary>
    public CallInvoker Calls { get; }

    /// <summary>For calls whose request or response holds a password or a token of a user.</summary>
    public CallInvoker SecretCalls => _secretCalls.Value;

    /// <summary>For calls that are about one broker, the first of the options, and mean no other.</summary>
    public CallInvoker FirstCalls => _nodes[0].Calls;

    /// <summary>The brokers, by their place in the options.</summary>
    public IReadOnlyList<ControlNode> Nodes => _nodes;

    /// <summary>The broker that answered last.</summary>
    public int Current
    {
        get => Volatile.Read(ref _current);
        set => Volatile.Write(ref _current, value);
    }

    public void Dispose()
    {
        foreach (ControlNode node in _nodes)
            node.Dispose();
    }
}
