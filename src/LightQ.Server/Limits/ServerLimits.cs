using System.Globalization;
using System.Net;
using LightQ.Broker;
using LightQ.Protocol;
using LightQ.Server.Configuration;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Limits;

/// <summary>
/// The one place where the server's limits are looked up, and where their rejections are counted and logged.
/// Thread-safe.
/// </summary>
/// <remarks>A limit is asked for whenever it is met and never kept, so that another value counts at once.</remarks>
internal sealed class ServerLimits
{
    /// <summary>
    /// Lines of the log about rejected peers of one kind in <see cref="LogInterval"/>: a peer that floods the ports
    /// does not fill the log.
    /// </summary>
    private const int RefusalLines = 10;

    /// <summary>Between two lines of the log about the same limit.</summary>
    private static readonly TimeSpan LogInterval = TimeSpan.FromSeconds(1);

    /// <summary>
    /// Between two lines about groups that <c>/metrics</c> leaves out, which it is asked for every few seconds.
    /// </summary>
    private static readonly TimeSpan LeftOutInterval = TimeSpan.FromHours(1);

    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly Dictionary<string, Silence> _silences = new(StringComparer.Ordinal);
    private volatile LightQServerOptions _options;
    private readonly Shares _descriptors;
    private long _acceptFailures;

    /// <param name="options">The settings.</param>
    /// <param name="refusals">
    /// Counts what is rejected; every rejection there is logged, at most one a second for each limit.
    /// </param>
    /// <param name="time">The clock.</param>
    /// <param name="logger">Where to log.</param>
    public ServerLimits(LightQServerOptions options, LimitRefusals refusals, TimeProvider time, ILogger logger)
    {
        _options = options;
        _time = time;
        _logger = logger;
        Refusals = refusals;
        Bodies = NewShares();
        _descriptors = NewShares();
        DataPlaneRefusals = refusals.In(ServerSettings.DataPlaneSection);
        HttpRefusals = refusals.In(ServerSettings.HttpSection);
        refusals.Refused += Log;
    }

    /// <summary>The settings in force.</summary>
    public LightQServerOptions Options
    {
        get => _options;
        set => _options = value;
    }

    /// <summary>The limits of the data port.</summary>
    public DataPlaneOptions DataPlane => _options.DataPlane;

    /// <summary>The limits of the control and the web port.</summary>
    public HttpOptions Http => _options.Http;

    /// <summary>Memory for bodies under way, of all planes together, in bytes.</summary>
    public Shares Bodies { get; }

    /// <summary>What was rejected, by the settings' keys.</summary>
    public LimitRefusals Refusals { get; }

    /// <summary>What the limits of the data port have rejected.</summary>
    public LimitRefusals DataPlaneRefusals { get; }

    /// <summary>What the limits of the control and the web port have rejected.</summary>
    public LimitRefusals HttpRefusals { get; }

    /// <summary>
    /// How often a connection could not be accepted, most likely because the process has no descriptor left.
    /// </summary>
    public long AcceptFailures => Volatile.Read(ref _acceptFailures);

    /// <summary>Counts for a limit that addresses and users share.</summary>
    public Shares NewShares() => new(() => _options.Broker.MaxSharePercent);

    /// <summary>
    /// Takes a descriptor for a connection, unless its address has its share of those that connections may have, on all
    /// ports together.
    /// </summary>
    /// <remarks>Where somebody has said how many connections an address may have, that is it.</remarks>
    public bool TryTakeDescriptor(IPAddress address)
    {
        long most = DescriptorReserve.ForConnections;
        bool isSaid = DataPlane.MaxConnectionsPerAddress != 0 || Http.MaxConnectionsPerAddress != 0;
        return _descriptors.TryTake(address, most, mostOfSource: isSaid ? most : 0) == Admission.Admitted;
    }

    /// <summary>Gives it back.</summary>
    public void GiveDescriptor(IPAddress address) => _descriptors.Give(address);

    /// <summary>Counts such a failure, and logs it at most once a second.</summary>
    public void OnAcceptFailed(int port, string reason)
    {
        Interlocked.Increment(ref _acceptFailures);
        if (TryBreakSilence("accept", 1, LogInterval, out string unsaid))
            ServerLog.AcceptFailed(_logger, port, reason, unsaid);
    }

    /// <summary>Counts a page of metrics that has not all groups, and logs it at most once an hour.</summary>
    /// <param name="groups">How many groups there are.</param>
    public void OnGroupsLeftOut(int groups)
    {
        string key = HttpRefusals.Count(nameof(HttpOptions.MaxMetricsGroups));
        if (TryBreakSilence(key, 1, LeftOutInterval, out _))
            ServerLog.GroupsLeftOut(_logger, groups, Http.MaxMetricsGroups, key);
    }

    /// <summary>Counts a rejection by the data plane's limits.</summary>
    /// <param name="code">The error for the client.</param>
    /// <param name="setting">The name of the <see cref="DataPlaneOptions"/>' property.</param>
    /// <param name="limit">Its value.</param>
    /// <param name="found">What was found, as a sentence without its point.</param>
    public ProtocolException Refuse(ErrorCode code, string setting, IFormattable limit, string found) =>
        new(code, DataPlaneRefusals.Refuse(setting, limit, found));

    /// <summary>Whether a rejected peer gets a line of the log: the first ten of a kind in a second do.</summary>
    /// <param name="kind">The reason why peers are rejected.</param>
    /// <param name="unsaid">Goes behind the line: how many had none since the one before.</param>
    public bool MayLogRefusal(string kind, out string unsaid) =>
        TryBreakSilence(kind, RefusalLines, LogInterval, out unsaid);

    private void Log(string setting, string reason)
    {
        if (TryBreakSilence(setting, 1, LogInterval, out string unsaid))
            ServerLog.LimitMet(_logger, setting, reason, unsaid);
    }

    private bool TryBreakSilence(string about, int linesAtOnce, TimeSpan interval, out string unsaid)
    {
        long now = _time.GetTimestamp();
        lock (_silences)
        {
            Silence silence = _silences.GetValueOrDefault(about);
            bool isNew = silence.Since == 0 || _time.GetElapsedTime(silence.Since, now) >= interval;
            unsaid =
                isNew && silence.Unsaid != 0
                    ? string.Create(CultureInfo.InvariantCulture, $" ({silence.Unsaid} more of these had no line)")
                    : "";
            bool may = isNew || silence.Lines < linesAtOnce;
            _silences[about] =
                isNew ? new Silence(now, 1, 0)
                : may ? silence with { Lines = silence.Lines + 1 }
                : silence with { Unsaid = silence.Unsaid + 1 };
            return may;
        }
    }

    /// <param name="Since">When the interval began.</param>
    /// <param name="Lines">Lines in it.</param>
    /// <param name="Unsaid">What had none.</param>
    private readonly record struct Silence(long Since, int Lines, long Unsaid);
}
