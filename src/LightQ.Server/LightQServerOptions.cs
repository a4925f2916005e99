using System.Net;
using LightQ.Broker;
using LightQ.Broker.Replication;
using LightQ.Protocol;
using Microsoft.Extensions.Logging;

namespace LightQ.Server;

/// <summary>The settings of a server. Every value is checked when it is set.</summary>
public sealed record LightQServerOptions
{
    /// <summary>
    /// Options for a server inside another program: free ports on loopback, and a data directory that is deleted with
    /// the server.
    /// </summary>
    public static LightQServerOptions InProcess { get; } =
        new()
        {
            DataPort = 0,
            ControlPort = 0,
            WebPort = 0,
        };

    /// <summary>
    /// Where messages and settings are stored; created when missing. Null: a temporary directory that is deleted when
    /// the server stops.
    /// </summary>
    public string? DataDirectory
    {
        get;
        init =>
            field =
                value is null || value.Trim().Length != 0
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(DataDirectory), value, "a path");
    }

    /// <summary>
    /// The address to listen on. Default 127.0.0.1. An address that other machines can reach needs <see cref="Tls"/>
    /// and <see cref="RequireAuth"/>, or <see cref="Insecure"/>.
    /// </summary>
    public IPAddress Bind { get; init; } = IPAddress.Loopback;

    /// <summary>Port of the data plane; 0 takes a free one. Default 5700.</summary>
    public int DataPort
    {
        get;
        init => field = CheckPort(value, nameof(DataPort));
    } = ProtocolLimits.DefaultDataPort;

    /// <summary>Port of the control plane (gRPC); 0 takes a free one. Default 5701.</summary>
    public int ControlPort
    {
        get;
        init => field = CheckPort(value, nameof(ControlPort));
    } = ProtocolLimits.DefaultControlPort;

    /// <summary>Port of health and metrics (HTTP/1.1); 0 takes a free one. Default 5702.</summary>
    public int WebPort
    {
        get;
        init => field = CheckPort(value, nameof(WebPort));
    } = ProtocolLimits.DefaultWebPort;

    /// <summary>
    /// Whether clients must log in. Default false: on loopback, anonymous clients may do everything until a user
    /// besides admin exists.
    /// </summary>
    public bool RequireAuth { get; init; }

    /// <summary>
    /// Most passwords that may wait to be hashed, 1 to 1,000,000. Default 4,096: beyond that, a login is rejected with
    /// <see cref="ErrorCode.ResourceExhausted"/>.
    /// </summary>
    public int MaxWaitingLogins
    {
        get;
        init =>
            field = value is >= 1 and <= 1_000_000
                ? value
                : throw new ArgumentOutOfRangeException(nameof(MaxWaitingLogins), value, "1 to 1000000");
    } = 4096;

    /// <summary>
    /// Most unexpired tokens that <c>Login</c> gives to one user, each for 15 minutes. Default 1,000: beyond that, a
    /// login is rejected with <see cref="ErrorCode.ResourceExhausted"/>.
    /// </summary>
    public int MaxLoginsPerUser
    {
        get;
        init =>
            field =
                value >= 1
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(MaxLoginsPerUser), value, "1 or more");
    } = 1000;

    /// <summary>
    /// Allows the server to listen beyond loopback without TLS or without a login. Then the network can read passwords
    /// and messages, or every client may do everything. Default false.
    /// </summary>
    public bool Insecure { get; init; }

    /// <summary>
    /// How long a stop waits for connections to end by themselves, 0 to 10 minutes. Default 5 s. It does not cut short
    /// the writing of data to the disk.
    /// </summary>
    public TimeSpan StopTimeout
    {
        get;
        init =>
            field =
                value >= TimeSpan.Zero && value <= TimeSpan.FromMinutes(10)
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(StopTimeout), value, "00:00:00 to 00:10:00");
    } = TimeSpan.FromSeconds(5);

    /// <summary>The longest drain: 10 minutes.</summary>
    public static TimeSpan LongestDrain { get; } = TimeSpan.FromMinutes(10);

    /// <summary>
    /// How long a server process that gets SIGTERM or Ctrl-C lets clients finish before it stops, 0 to 10 minutes.
    /// Default 0: it stops at once. A second signal ends the wait.
    /// </summary>
    public TimeSpan DrainTimeout
    {
        get;
        init =>
            field =
                value >= TimeSpan.Zero && value <= LongestDrain
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(DrainTimeout), value, "00:00:00 to 00:10:00");
    }

    /// <summary>Encryption and certificates. Default: none.</summary>
    public TlsOptions Tls { get; init; } = new();

    /// <summary>Limits of the data plane.</summary>
    public DataPlaneOptions DataPlane { get; init; } = new();

    /// <summary>Limits of the control and the web port.</summary>
    public HttpOptions Http { get; init; } = new();

    /// <summary>Settings of the engine.</summary>
    public BrokerOptions Broker { get; init; } = new();

    /// <summary>The cluster. Default: none.</summary>
    public ClusterOptions Cluster { get; init; } = new();

    /// <summary>
    /// Connects to the replicated log that <see cref="Cluster"/> names; not a configuration value. Null, the default:
    /// it cannot be used. <c>NatsReplication.ConnectAsync</c> of the project LightQ.Replication.Nats is one.
    /// </summary>
    public Func<
        ClusterOptions,
        ILoggerFactory,
        CancellationToken,
        Task<IReplicationEngine>
    >? ReplicationEngine { get; init; }

    /// <summary>What a server process logs.</summary>
    public LogOptions Log { get; init; } = new();

    /// <summary>Where metrics and spans are sent. Default: nowhere.</summary>
    public OtlpOptions Otlp { get; init; } = new();

    /// <summary>The audit log.</summary>
    public AuditOptions Audit { get; init; } = new();

    /// <summary>The page for browsers at the web port.</summary>
    public DashboardOptions Dashboard { get; init; } = new();

    /// <summary>The clock; not a configuration value. Default: the system's.</summary>
    public TimeProvider TimeProvider { get; init; } = TimeProvider.System;

    /// <summary>Where the values come from; none of them itself.</summary>
    internal ValueOrigins Origins { get; init; } = ValueOrigins.None;

    /// <summary>
    /// The clock of connections: heartbeats, time-outs. Another than <see cref="TimeProvider"/> where that one jumps,
    /// as no peer could answer in time.
    /// </summary>
    internal TimeProvider ConnectionTime
    {
        get => field ?? TimeProvider;
        init;
    }

    private static int CheckPort(int value, string name) =>
        value is >= 0 and <= ushort.MaxValue
            ? value
            : throw new ArgumentOutOfRangeException(name, value, "0 (a free port) to 65535");
}
