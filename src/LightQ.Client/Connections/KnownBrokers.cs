namespace LightQ.Client.Connections;

/// <summary>
/// The brokers that a client knows: those of its options, and behind them those that a cluster has named since. One
/// address is enough to find them all. Thread-safe.
/// </summary>
internal sealed class KnownBrokers
{
    private readonly LightQClientOptions _options;
    private readonly LightQClientOptions[] _given;
    private Known _known;

    public KnownBrokers(LightQClientOptions options)
    {
        _options = options;
        _given = options.ForEach();
        _known = new Known(_given, []);
    }

    /// <summary>Those of the options, which last.</summary>
    public IReadOnlyList<LightQClientOptions> Given => _given;

    /// <summary>How many there are at the moment.</summary>
    public int Count => Volatile.Read(ref _known).All.Length;

    /// <summary>One of them, in turn.</summary>
    public LightQClientOptions this[int turn]
    {
        get
        {
            LightQClientOptions[] all = Volatile.Read(ref _known).All;
            return all[turn % all.Length];
        }
    }

    /// <summary>All of them, from one on; last those that the cluster has not heard of for too long.</summary>
    public LightQClientOptions[] InTurn(int first)
    {
        Known known = Volatile.Read(ref _known);
        return
        [
            .. Enumerable
                .Range(0, known.All.Length)
                .Select(i => known.All[(first + i) % known.All.Length])
                .OrderBy(broker => known.Silent.Contains(AddressOf(broker))),
        ];
    }

    /// <summary>The place of a broker; 0 where it is known no longer.</summary>
    public int PlaceOf(LightQClientOptions broker) =>
        Math.Max(0, Array.FindIndex(Volatile.Read(ref _known).All, b => AddressOf(b) == AddressOf(broker)));

    /// <summary>A cluster has named its nodes: those that it names no more are forgotten.</summary>
    /// <param name="nodes">Where they are: data plane, control plane, and whether they are silent.</param>
    public void Learn(IReadOnlyCollection<(string Data, string Control, bool IsSilent)> nodes)
    {
        var seen = new HashSet<string>(_given.Select(AddressOf), StringComparer.OrdinalIgnoreCase);
        var silent = new HashSet<string>(StringComparer.OrdinalIgnoreCase);
        List<LightQClientOptions> all = [.. _given];
        foreach ((string data, string control, bool isSilent) in nodes)
        {
            if (!HostPort.TryParse(data, out string host, out int port))
                continue;
            string address = HostPort.Format(host, port);
            if (isSilent)
                silent.Add(address);
            if (!seen.Add(address))
                continue;
            int controlPort = HostPort.TryParse(control, out _, out int named) ? named : _options.ControlPort;
            all.Add(_options.For(host, port, controlPort));
        }
        Volatile.Write(ref _known, new Known([.. all], silent));
    }

    private static string AddressOf(LightQClientOptions broker) => HostPort.Format(broker.Host, broker.DataPort);

    private sealed record Known(LightQClientOptions[] All, HashSet<string> Silent);
}
