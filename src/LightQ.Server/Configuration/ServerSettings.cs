using LightQ.Server.Tls;
using Microsoft.Extensions.Logging;
using static LightQ.Server.Configuration.SettingText;

namespace LightQ.Server.Configuration;

/// <summary>Every setting, in the order in which they are shown.</summary>
public static class ServerSettings
{
    private const string NoFile = "(none)";

    /// <summary>The settings.</summary>
    public static IReadOnlyList<ServerSetting> All { get; } =
    [
        new("DataDirectory", "--data", "Where messages and settings are kept; made when missing.", (o, t) => o with { DataDirectory = t }, o => o.DataDirectory ?? "(temporary)"),
        new("Bind", "--bind", "The address to listen on; one that other machines reach needs TLS and --require-auth.", (o, t) => o with { Bind = ReadAddress(t) }, o => o.Bind.ToString()),
        Number("DataPort", "--data-port", "Port of the data plane; 0 takes a free one.", (o, v) => o with { DataPort = v }, o => o.DataPort),
        Number("ControlPort", "--control-port", "Port of the control plane (gRPC); 0 takes a free one.", (o, v) => o with { ControlPort = v }, o => o.ControlPort),
        Number("WebPort", "--web-port", "Port of health and metrics (HTTP/1.1); 0 takes a free one.", (o, v) => o with { WebPort = v }, o => o.WebPort),
        Switch("RequireAuth", "--require-auth", "Whether clients must log in.", (o, v) => o with { RequireAuth = v }, o => o.RequireAuth).Live(),
        Limit(Number("MaxWaitingLogins", null, "Passwords that may wait to be hashed; with more, a login of the address that has most is refused.", (o, v) => o with { MaxWaitingLogins = v }, o => o.MaxWaitingLogins)).Live(),
        Limit(Number("MaxLoginsPerUser", null, "Tokens of logins that one user may have in force; each lasts 15 minutes.", (o, v) => o with { MaxLoginsPerUser = v }, o => o.MaxLoginsPerUser)).Live(),
        Switch("Insecure", "--insecure", "Allows to listen beyond loopback without TLS or without --require-auth.", (o, v) => o with { Insecure = v }, o => o.Insecure),
        File("Tls:CertificateFile", "--tls-cert", "The certificate of all ports, PEM or PFX; read again when it changes.", (o, t) => o with { CertificateFile = t }, o => o.CertificateFile),
        File("Tls:KeyFile", "--tls-key", "The certificate's private key in PEM, if it is in a file of its own.", (o, t) => o with { KeyFile = t }, o => o.KeyFile),
        File("Tls:PasswordFile", null, "A file with the password of the key or PFX, if they are encrypted.", (o, t) => o with { PasswordFile = t }, o => o.PasswordFile),
        File("Tls:ClientCaFile", "--tls-client-ca", "The authorities of clients' certificates in PEM; clients then need one.", (o, t) => o with { ClientCaFile = t }, o => o.ClientCaFile),
        new("Tls:ClientCertificates", null, "Whether clients show certificates: none, allowed or required.", (o, t) => o with { Tls = o.Tls with { ClientCertificates = ReadChoice<ClientCertificates>(t) } }, o => WriteChoice(o.Tls.ClientCertificates)),
        Switch("Tls:SelfSigned", "--tls-self-signed", "Make a certificate for this machine in the data directory, for a first try.", (o, v) => o with { Tls = o.Tls with { SelfSigned = v } }, o => o.Tls.SelfSigned),
        Time("StopTimeout", "--stop-timeout", "How long a stop waits for connections to end by themselves.", (o, v) => o with { StopTimeout = v }, o => o.StopTimeout).Live(),
        Time("DrainTimeout", "--drain-timeout", "How long SIGTERM or Ctrl-C lets clients finish before the broker stops; 0s for none.", (o, v) => o with { DrainTimeout = v }, o => o.DrainTimeout).Live(),
        new ServerSetting("Log:Level", "--log-level", "What is logged to standard error: trace, debug, information, warning, error, critical or none, and worse.", (o, t) => o with { Log = o.Log with { Level = ReadChoice<LogLevel>(t) } }, o => WriteChoice(o.Log.Level)).Live(),
        new ServerSetting("Log:Levels", null, "Other levels for parts of the log, as CATEGORY=LEVEL,CATEGORY=LEVEL; a category is meant with what is under it.", (o, t) => o with { Log = o.Log with { Levels = t } }, o => o.Log.Levels).Live(),
        new("Log:Format", "--log-format", "How lines are logged: text, json (an object a line) or systemd (with the priority in front).", (o, t) => o with { Log = o.Log with { Format = ReadChoice<LogFormat>(t) } }, o => WriteChoice(o.Log.Format)),
        Limit(Number("DataPlane:MaxFrameBytes", null, "Largest frame in bytes, header included.", (o, v) => o with { DataPlane = o.DataPlane with { MaxFrameBytes = v } }, o => o.DataPlane.MaxFrameBytes)),
        Limit(Time("DataPlane:Heartbeat", null, "Silence after which either side sends a Ping; three end the connection.", (o, v) => o with { DataPlane = o.DataPlane with { Heartbeat = v } }, o => o.DataPlane.Heartbeat)),
        Limit(Time("DataPlane:HandshakeTimeout", null, "Time a client has to say Hello and be accepted.", (o, v) => o with { DataPlane = o.DataPlane with { HandshakeTimeout = v } }, o => o.DataPlane.HandshakeTimeout)),
        Limit(Number("DataPlane:MaxConnections", null, "Most data-plane connections.", (o, v) => o with { DataPlane = o.DataPlane with { MaxConnections = v } }, o => o.DataPlane.MaxConnections)).Live(),
        Limit(Number("DataPlane:MaxConnectionsPerAddress", null, "Most data-plane connections from one address.", (o, v) => o with { DataPlane = o.DataPlane with { MaxConnectionsPerAddress = v } }, o => o.DataPlane.MaxConnectionsPerAddress)).Live(),
        Limit(Number("DataPlane:MaxUnauthenticatedConnections", null, "Most connections that have not been welcomed yet.", (o, v) => o with { DataPlane = o.DataPlane with { MaxUnauthenticatedConnections = v } }, o => o.DataPlane.MaxUnauthenticatedConnections)).Live(),
        Limit(Number("DataPlane:MinFrameBytesPerSecond", null, "Bytes a second that a frame must come with, on average; 0 for none.", (o, v) => o with { DataPlane = o.DataPlane with { MinFrameBytesPerSecond = v } }, o => o.DataPlane.MinFrameBytesPerSecond)).Live(),
        Time("DataPlane:FrameGrace", null, "How long a frame may take whatever its rate is.", (o, v) => o with { DataPlane = o.DataPlane with { FrameGrace = v } }, o => o.DataPlane.FrameGrace).Live(),
        Limit(Bytes("DataPlane:MaxAssemblyBytes", "Most bytes of memory for long frames that are arriving, on all connections together.", (o, v) => o with { DataPlane = o.DataPlane with { MaxAssemblyBytes = v } }, o => o.DataPlane.MaxAssemblyBytes)).Live(),
        Limit(Time("DataPlane:StalledReaderTimeout", null, "How long one send may take before its peer counts as one that does not read.", (o, v) => o with { DataPlane = o.DataPlane with { StalledReaderTimeout = v } }, o => o.DataPlane.StalledReaderTimeout)).Live(),
        Number("DataPlane:MaxUnsentBytes", null, "Most bytes that the system takes of a connection ahead of what it can send (Linux).", (o, v) => o with { DataPlane = o.DataPlane with { MaxUnsentBytes = v } }, o => o.DataPlane.MaxUnsentBytes),
        Limit(Number("DataPlane:MaxUnreadAnswerBytes", null, "Most bytes of answers that wait for a client to read them.", (o, v) => o with { DataPlane = o.DataPlane with { MaxUnreadAnswerBytes = v } }, o => o.DataPlane.MaxUnreadAnswerBytes)).Live(),
        Limit(Number("DataPlane:MaxStreams", null, "Most streams of one connection.", (o, v) => o with { DataPlane = o.DataPlane with { MaxStreams = v } }, o => o.DataPlane.MaxStreams)).Live(),
        Limit(Number("Http:MaxControlConnections", null, "Most connections to the control port.", (o, v) => o with { Http = o.Http with { MaxControlConnections = v } }, o => o.Http.MaxControlConnections)).Live(),
        Limit(Number("Http:MaxWebConnections", null, "Most connections to the web port.", (o, v) => o with { Http = o.Http with { MaxWebConnections = v } }, o => o.Http.MaxWebConnections)).Live(),
        Limit(Number("Http:MaxConnectionsPerAddress", null, "Most connections from one address to each of the two ports.", (o, v) => o with { Http = o.Http with { MaxConnectionsPerAddress = v } }, o => o.Http.MaxConnectionsPerAddress)).Live(),
        Limit(Number("Http:MaxStreamsPerConnection", null, "Most calls at once on one connection to the control port.", (o, v) => o with { Http = o.Http with { MaxStreamsPerConnection = v } }, o => o.Http.MaxStreamsPerConnection)),
        Limit(Number("Http:MaxCalls", null, "Most calls at once on all connections to the control port.", (o, v) => o with { Http = o.Http with { MaxCalls = v } }, o => o.Http.MaxCalls)).Live(),
        Limit(Number("Http:MaxCallsPerSecond", null, "Calls a second on one connection to the control port, on average; what is beyond waits. 0 for any number.", (o, v) => o with { Http = o.Http with { MaxCallsPerSecond = v } }, o => o.Http.MaxCallsPerSecond)).Live(),
        Limit(Number("Http:MaxMessageBytes", null, "Largest gRPC message in bytes; 0 means as DataPlane:MaxFrameBytes, 4 MiB at least.", (o, v) => o with { Http = o.Http with { MaxMessageBytes = v } }, o => o.Http.MaxMessageBytes)),
        new ServerSetting("Http:AllowedHosts", null, "Names, with commas, that the web port may be asked under besides localhost and addresses where no login is required; *.example.com, or * for any.", (o, t) => o with { Http = o.Http with { AllowedHosts = t } }, o => o.Http.AllowedHosts).Live(),
        new(
            "Http:AllowedOrigins",
            null,
            "Origins, with commas, whose pages may call the web port from a browser, such as https://app.example.com.",
            (o, t) => o with { Http = o.Http with { AllowedOrigins = t } },
            o => o.Http.AllowedOrigins),
        Limit(Number(
            "Http:MaxFetchers",
            null,
            "Most members of groups that Fetch keeps between calls, one for each user, topic and group.",
            (o, v) => o with { Http = o.Http with { MaxFetchers = v } },
            o => o.Http.MaxFetchers)).Live(),
        Limit(Number("Http:MaxMetricsGroups", null, "Most groups that /metrics shows; more are left out, and counted.", (o, v) => o with { Http = o.Http with { MaxMetricsGroups = v } }, o => o.Http.MaxMetricsGroups)).Live(),
        Limit(Number("Http:MaxRequestBytes", null, "Largest body of a request to the web port in bytes.", (o, v) => o with { Http = o.Http with { MaxRequestBytes = v } }, o => o.Http.MaxRequestBytes)),
        Limit(Number("Http:MaxHeaderBytes", null, "All headers of a request together, in bytes.", (o, v) => o with { Http = o.Http with { MaxHeaderBytes = v } }, o => o.Http.MaxHeaderBytes)),
        Limit(Time("Http:HeaderTimeout", null, "Time a client has to send its first bytes, and the headers of a request.", (o, v) => o with { Http = o.Http with { HeaderTimeout = v } }, o => o.Http.HeaderTimeout)),
        Limit(Time("Http:IdleTimeout", null, "How long a connection may be without a request.", (o, v) => o with { Http = o.Http with { IdleTimeout = v } }, o => o.Http.IdleTimeout)),
        Limit(Number("Http:MinBodyBytesPerSecond", null, "Bytes a second that the body of a request must come with, on average; 0 for none.", (o, v) => o with { Http = o.Http with { MinBodyBytesPerSecond = v } }, o => o.Http.MinBodyBytesPerSecond)),
        new("Otlp:Endpoint", null,
            "Where metrics and spans of control calls are sent by OTLP, such as http://collector:4317; also OTEL_EXPORTER_OTLP_ENDPOINT.", (o, t) => o with { Otlp = o.Otlp with { Endpoint = ReadEndpoint(t) } }, o => Write(o.Otlp.Endpoint)),
        new("Otlp:Protocol", null, "How: grpc or http/protobuf; also OTEL_EXPORTER_OTLP_PROTOCOL.", (o, t) =>
            o with { Otlp = o.Otlp with { Protocol = ReadProtocol(t) } }, o => Write(o.Otlp.Protocol)),
        new("Otlp:Headers", null,
            "What goes along, NAME=VALUE,NAME=VALUE; a secret, best given as OTEL_EXPORTER_OTLP_HEADERS.", (o, t) =>
            o with { Otlp = o.Otlp with { Headers = t } }, o => o.Otlp.Headers) { IsSecret = true },
        Switch("Audit:IsEnabled", null, "Whether logins and changes are kept in the data directory's audit log.", (o, v) => o with { Audit = o.Audit with { IsEnabled = v } }, o => o.Audit.IsEnabled),
        Number("Audit:FileBytes", null, "Size in bytes at which a file of the audit log is closed and the next begun.", (o, v) => o with { Audit = o.Audit with { FileBytes = v } }, o => o.Audit.FileBytes).Live(),
        Number("Audit:MaxFiles", null, "Most files of the audit log; the oldest is deleted when there would be more.", (o, v) => o with { Audit = o.Audit with { MaxFiles = v } }, o => o.Audit.MaxFiles).Live(),
        Limit(Number("Broker:PublishWindowBytes", null, "Publish window of a producer stream in bytes.", (o, v) => o with { Broker = o.Broker with { PublishWindowBytes = v } }, o => o.Broker.PublishWindowBytes)).Live(),
        Time("Broker:SlowTimeout", null, "How long a blocking subscription that names no time-out may stand still while producers wait.", (o, v) => o with { Broker = o.Broker with { SlowTimeout = v } }, o => o.Broker.SlowTimeout),
        Bytes("Broker:SpillBytesPerSubscription", "Most bytes that one subscription may spill to disk.", (o, v) => o with { Broker = o.Broker with { SpillBytesPerSubscription = v } }, o => o.Broker.SpillBytesPerSubscription),
        Bytes("Broker:SpillBytes", "Most bytes that all subscriptions together may spill to disk.", (o, v) => o with { Broker = o.Broker with { SpillBytes = v } }, o => o.Broker.SpillBytes),
        Bytes("Broker:BacklogMemoryBytes", "Most memory for what slow subscriptions keep outside their rings.", (o, v) => o with { Broker = o.Broker with { BacklogMemoryBytes = v } }, o => o.Broker.BacklogMemoryBytes),
        Time("Broker:RestAfter", null, "After how long unused a transient topic gives its memory, and what it held, back.", (o, v) => o with { Broker = o.Broker with { RestAfter = v } }, o => o.Broker.RestAfter),
        Time("Broker:ProducerExpiry", null, "After how long without a batch a named producer is forgotten.", (o, v) => o with { Broker = o.Broker with { ProducerExpiry = v } }, o => o.Broker.ProducerExpiry),
        Time("Broker:PositionInterval", null, "How often group positions reach the disk.", (o, v) => o with { Broker = o.Broker with { PositionInterval = v } }, o => o.Broker.PositionInterval),
        Time("Broker:CheckpointInterval", null, "How often a busy durable topic's checkpoint is written.", (o, v) => o with { Broker = o.Broker with { CheckpointInterval = v } }, o => o.Broker.CheckpointInterval),
        Number("Broker:JournalWriters", null, "Threads that write journals.", (o, v) => o with { Broker = o.Broker with { JournalWriters = v } }, o => o.Broker.JournalWriters),
        Number("Broker:ScrubBytesPerSecond", null, "Bytes of durable topics read again per second to find damage early; 0 for none.", (o, v) => o with { Broker = o.Broker with { ScrubBytesPerSecond = v } }, o => o.Broker.ScrubBytesPerSecond),
        Time("Broker:ScrubInterval", null, "From the beginning of one such pass over everything to that of the next.", (o, v) => o with { Broker = o.Broker with { ScrubInterval = v } }, o => o.Broker.ScrubInterval),
        Limit(Number("Broker:MaxDelayedBatches", null, "Most delayed batches that wait in one partition.", (o, v) => o with { Broker = o.Broker with { MaxDelayedBatches = v } }, o => o.Broker.MaxDelayedBatches)).Live(),
        Limit(Number("Broker:MaxTopics", null, "Most topics.", (o, v) => o with { Broker = o.Broker with { MaxTopics = v } }, o => o.Broker.MaxTopics)).Live(),
        Limit(Number("Broker:MaxPartitions", null, "Most partitions of all topics together.", (o, v) => o with { Broker = o.Broker with { MaxPartitions = v } }, o => o.Broker.MaxPartitions)).Live(),
        Limit(Number("Broker:MaxGroupsPerTopic", null, "Most groups of one topic.", (o, v) => o with { Broker = o.Broker with { MaxGroupsPerTopic = v } }, o => o.Broker.MaxGroupsPerTopic)).Live(),
        Limit(Number("Broker:MaxNamedProducersPerTopic", null, "Most named producers of one topic.", (o, v) => o with { Broker = o.Broker with { MaxNamedProducersPerTopic = v } }, o => o.Broker.MaxNamedProducersPerTopic)).Live(),
        Limit(Bytes("Broker:MaxPendingBytes", "Most bytes of batches that wait in memory because their topics are full, of all producers together.", (o, v) => o with { Broker = o.Broker with { MaxPendingBytes = v } }, o => o.Broker.MaxPendingBytes)).Live(),
        Limit(Number("Broker:MaxUsers", null, "Most users.", (o, v) => o with { Broker = o.Broker with { MaxUsers = v } }, o => o.Broker.MaxUsers)).Live(),
        Limit(Number("Broker:MaxGrantsPerUser", null, "Most rights of one user.", (o, v) => o with { Broker = o.Broker with { MaxGrantsPerUser = v } }, o => o.Broker.MaxGrantsPerUser)).Live(),
        Limit(Number("Broker:MaxTokensPerUser", null, "Most tokens that last, of one user.", (o, v) => o with { Broker = o.Broker with { MaxTokensPerUser = v } }, o => o.Broker.MaxTokensPerUser)).Live(),
    ];

    /// <summary>Finds a setting; keys are compared without case.</summary>
    internal static ServerSetting? Find(string key) => All.FirstOrDefault(s => s.Key.Equals(key, StringComparison.OrdinalIgnoreCase));

    private static ServerSetting Limit(ServerSetting setting) => new(setting) { IsLimit = true };

    private static ServerSetting Number(
        string key, string? flag, string description, Func<LightQServerOptions, int, LightQServerOptions> apply, Func<LightQServerOptions, int> read) =>
        new(key, flag, description, (o, t) => apply(o, ReadNumber(t)), o => Write(read(o)));

    private static ServerSetting Bytes(
        string key, string description, Func<LightQServerOptions, long, LightQServerOptions> apply, Func<LightQServerOptions, long> read) =>
        new(key, null, description, (o, t) => apply(o, ReadBytes(t)), o => Write(read(o)));

    private static ServerSetting File(string key, string? flag, string description, Func<TlsOptions, string?, TlsOptions> apply, Func<TlsOptions, string?> read) =>
        new(key, flag, description, (o, t) => o with { Tls = apply(o.Tls, t is "" or NoFile ? null : t) }, o => read(o.Tls) ?? NoFile);

    private static ServerSetting Switch(
        string key, string? flag, string description, Func<LightQServerOptions, bool, LightQServerOptions> apply, Func<LightQServerOptions, bool> read) =>
        new(key, flag, description, (o, t) => apply(o, ReadSwitch(t)), o => Write(read(o)));

    private static ServerSetting Time(
        string key, string? flag, string description, Func<LightQServerOptions, TimeSpan, LightQServerOptions> apply, Func<LightQServerOptions, TimeSpan> read) =>
        new(key, flag, description, (o, t) => apply(o, ReadTime(t)), o => Write(read(o)));
}
