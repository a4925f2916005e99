using LightQ.Broker;
using Microsoft.Extensions.Logging;
using static LightQ.Server.Configuration.SettingText;

namespace LightQ.Server.Configuration;

/// <summary>Every setting, section by section.</summary>
public static class ServerSettings
{
    private static readonly SettingSection<LightQServerOptions> Server = new("", o => o, (_, server) => server);
    private static readonly SettingSection<TlsOptions> Tls = new("Tls", o => o.Tls, (o, tls) => o with { Tls = tls });
    private static readonly SettingSection<LogOptions> Log = new("Log", o => o.Log, (o, log) => o with { Log = log });
    private static readonly SettingSection<DataPlaneOptions> DataPlane = new(
        DataPlaneSection,
        o => o.DataPlane,
        (o, plane) => o with { DataPlane = plane }
    );
    private static readonly SettingSection<HttpOptions> Http = new(
        HttpSection,
        o => o.Http,
        (o, http) => o with { Http = http }
    );
    private static readonly SettingSection<OtlpOptions> Otlp = new(
        "Otlp",
        o => o.Otlp,
        (o, otlp) => o with { Otlp = otlp }
    );
    private static readonly SettingSection<AuditOptions> Audit = new(
        "Audit",
        o => o.Audit,
        (o, audit) => o with { Audit = audit }
    );
    private static readonly SettingSection<DashboardOptions> Dashboard = new(
        "Dashboard",
        o => o.Dashboard,
        (o, dashboard) => o with { Dashboard = dashboard }
    );
    private static readonly SettingSection<BrokerOptions> Broker = new(
        BrokerSection,
        o => o.Broker,
        (o, broker) => o with { Broker = broker }
    );

    /// <summary>The sections whose limits are counted under their keys.</summary>
    internal const string DataPlaneSection = "DataPlane",
        HttpSection = "Http",
        BrokerSection = "Broker";

    /// <summary>The settings, in the order in which they are shown.</summary>
    public static IReadOnlyList<ServerSetting> All { get; } =
    [
        Server.Text(
            nameof(LightQServerOptions.DataDirectory),
            "Where messages and settings are kept; made when missing.",
            o => o.DataDirectory ?? "(temporary)",
            (o, t) => o with { DataDirectory = t },
            "--data"
        ),
        Server.Text(
            nameof(LightQServerOptions.Bind),
            "The address to listen on; one that other machines reach needs TLS and --require-auth.",
            o => o.Bind.ToString(),
            (o, t) => o with { Bind = ReadAddress(t) },
            "--bind"
        ),
        Server.Number(
            nameof(LightQServerOptions.DataPort),
            "Port of the data plane; 0 takes a free one.",
            o => o.DataPort,
            (o, v) => o with { DataPort = v },
            "--data-port"
        ),
        Server.Number(
            nameof(LightQServerOptions.ControlPort),
            "Port of the control plane (gRPC); 0 takes a free one.",
            o => o.ControlPort,
            (o, v) => o with { ControlPort = v },
            "--control-port"
        ),
        Server.Number(
            nameof(LightQServerOptions.WebPort),
            "Port of health and metrics (HTTP/1.1); 0 takes a free one.",
            o => o.WebPort,
            (o, v) => o with { WebPort = v },
            "--web-port"
        ),
        Server
            .Switch(
                nameof(LightQServerOptions.RequireAuth),
                "Whether clients must log in.",
                o => o.RequireAuth,
                (o, v) => o with { RequireAuth = v },
                "--require-auth"
            )
            .Live(),
        Server
            .Number(
                nameof(LightQServerOptions.MaxWaitingLogins),
                "Passwords that may wait to be hashed; with more, a login of the address that has most is refused.",
                o => o.MaxWaitingLogins,
                (o, v) => o with { MaxWaitingLogins = v }
            )
            .Limit(LimitScope.SharedByAddresses)
            .Live(),
        Server
            .Number(
                nameof(LightQServerOptions.MaxLoginsPerUser),
                "Tokens of logins that one user may have in force; each lasts 15 minutes.",
                o => o.MaxLoginsPerUser,
                (o, v) => o with { MaxLoginsPerUser = v }
            )
            .Limit(LimitScope.User)
            .Live(),
        Server.Switch(
            nameof(LightQServerOptions.Insecure),
            "Allows to listen beyond loopback without TLS or without --require-auth.",
            o => o.Insecure,
            (o, v) => o with { Insecure = v },
            "--insecure"
        ),
        Tls.File(
            nameof(TlsOptions.CertificateFile),
            "The certificate of all ports, PEM or PFX; read again when it changes.",
            o => o.CertificateFile,
            (o, v) => o with { CertificateFile = v },
            "--tls-cert"
        ),
        Tls.File(
            nameof(TlsOptions.KeyFile),
            "The certificate's private key in PEM, if it is in a file of its own.",
            o => o.KeyFile,
            (o, v) => o with { KeyFile = v },
            "--tls-key"
        ),
        Tls.File(
            nameof(TlsOptions.PasswordFile),
            "A file with the password of the key or PFX, if they are encrypted.",
            o => o.PasswordFile,
            (o, v) => o with { PasswordFile = v }
        ),
        Tls.File(
            nameof(TlsOptions.ClientCaFile),
            "The authorities of clients' certificates in PEM; clients then need one.",
            o => o.ClientCaFile,
            (o, v) => o with { ClientCaFile = v },
            "--tls-client-ca"
        ),
        Tls.Text(
            nameof(TlsOptions.ClientCertificates),
            "Whether clients show certificates: none, allowed or required.",
            o => WriteChoice(o.ClientCertificates),
            (o, t) => o with { ClientCertificates = ReadChoice<ClientCertificates>(t) }
        ),
        Tls.Switch(
            nameof(TlsOptions.SelfSigned),
            "Make a certificate for this machine in the data directory, for a first try.",
            o => o.SelfSigned,
            (o, v) => o with { SelfSigned = v },
            "--tls-self-signed"
        ),
        Server
            .Time(
                nameof(LightQServerOptions.StopTimeout),
                "How long a stop waits for connections to end by themselves.",
                o => o.StopTimeout,
                (o, v) => o with { StopTimeout = v },
                "--stop-timeout"
            )
            .Live(),
        Server
            .Time(
                nameof(LightQServerOptions.DrainTimeout),
                "How long SIGTERM or Ctrl-C lets clients finish before the broker stops; 0s for none.",
                o => o.DrainTimeout,
                (o, v) => o with { DrainTimeout = v },
                "--drain-timeout"
            )
            .Live(),
        Log.Text(
                nameof(LogOptions.Level),
                "What is logged to standard error: trace, debug, information, warning, error, critical or none, and "
                    + "worse.",
                o => WriteChoice(o.Level),
                (o, t) => o with { Level = ReadChoice<LogLevel>(t) },
                "--log-level"
            )
            .Live(),
        Log.Text(
                nameof(LogOptions.Levels),
                "Other levels for parts of the log, as CATEGORY=LEVEL,CATEGORY=LEVEL; a category is meant with what is "
                    + "under it.",
                o => o.Levels,
                (o, t) => o with { Levels = t }
            )
            .Live(),
        Log.Text(
            nameof(LogOptions.Format),
            "How lines are logged: text, json (an object a line) or systemd (with the priority in front).",
            o => WriteChoice(o.Format),
            (o, t) => o with { Format = ReadChoice<LogFormat>(t) },
            "--log-format"
        ),
        DataPlane
            .Number(
                nameof(DataPlaneOptions.MaxFrameBytes),
                "Largest frame in bytes, header included.",
                o => o.MaxFrameBytes,
                (o, v) => o with { MaxFrameBytes = v }
            )
            .Limit(LimitScope.Request),
        DataPlane
            .Time(
                nameof(DataPlaneOptions.Heartbeat),
                "Silence after which either side sends a Ping; three end the connection.",
                o => o.Heartbeat,
                (o, v) => o with { Heartbeat = v }
            )
            .Limit(LimitScope.Connection),
        DataPlane
            .Time(
                nameof(DataPlaneOptions.HandshakeTimeout),
                "Time a client has to say Hello and be accepted.",
                o => o.HandshakeTimeout,
                (o, v) => o with { HandshakeTimeout = v }
            )
            .Limit(LimitScope.Connection),
        DataPlane
            .Number(
                nameof(DataPlaneOptions.MaxConnections),
                "Most data-plane connections.",
                o => o.MaxConnections,
                (o, v) => o with { MaxConnections = v }
            )
            .Limit(LimitScope.SharedByAddresses)
            .Live(),
        DataPlane
            .Number(
                nameof(DataPlaneOptions.MaxConnectionsPerAddress),
                "Most data-plane connections from one address; 0 for its share.",
                o => o.MaxConnectionsPerAddress,
                (o, v) => o with { MaxConnectionsPerAddress = v }
            )
            .Limit(LimitScope.Address)
            .Live(),
        DataPlane
            .Number(
                nameof(DataPlaneOptions.MaxUnauthenticatedConnections),
                "Most connections that have not been welcomed yet.",
                o => o.MaxUnauthenticatedConnections,
                (o, v) => o with { MaxUnauthenticatedConnections = v }
            )
            .Limit(LimitScope.SharedByAddresses)
            .Live(),
        DataPlane
            .Number(
                nameof(DataPlaneOptions.MinFrameBytesPerSecond),
                "Bytes a second that a frame must come with, on average; 0 for none.",
                o => o.MinFrameBytesPerSecond,
                (o, v) => o with { MinFrameBytesPerSecond = v }
            )
            .Limit(LimitScope.Connection)
            .Live(),
        DataPlane
            .Time(
                nameof(DataPlaneOptions.FrameGrace),
                "How long a frame may take whatever its rate is.",
                o => o.FrameGrace,
                (o, v) => o with { FrameGrace = v }
            )
            .Live(),
        DataPlane
            .Bytes(
                nameof(DataPlaneOptions.MaxAssemblyBytes),
                "Most bytes of memory for long requests and answers under way, on all ports together.",
                o => o.MaxAssemblyBytes,
                (o, v) => o with { MaxAssemblyBytes = v }
            )
            .Limit(LimitScope.SharedByAddressesAndUsers)
            .Live(),
        DataPlane
            .Time(
                nameof(DataPlaneOptions.StalledReaderTimeout),
                "How long one send may take before its peer counts as one that does not read.",
                o => o.StalledReaderTimeout,
                (o, v) => o with { StalledReaderTimeout = v }
            )
            .Limit(LimitScope.Connection)
            .Live(),
        DataPlane.Number(
            nameof(DataPlaneOptions.MaxUnsentBytes),
            "Most bytes that the system takes of a connection ahead of what it can send (Linux).",
            o => o.MaxUnsentBytes,
            (o, v) => o with { MaxUnsentBytes = v }
        ),
        DataPlane
            .Number(
                nameof(DataPlaneOptions.MaxUnreadAnswerBytes),
                "Most bytes of answers that wait for a client to read them.",
                o => o.MaxUnreadAnswerBytes,
                (o, v) => o with { MaxUnreadAnswerBytes = v }
            )
            .Limit(LimitScope.Connection)
            .Live(),
        DataPlane
            .Number(
                nameof(DataPlaneOptions.MaxStreams),
                "Most streams of one connection.",
                o => o.MaxStreams,
                (o, v) => o with { MaxStreams = v }
            )
            .Limit(LimitScope.Connection)
            .Live(),
        Http.Number(
                nameof(HttpOptions.MaxControlConnections),
                "Most connections to the control port.",
                o => o.MaxControlConnections,
                (o, v) => o with { MaxControlConnections = v }
            )
            .Limit(LimitScope.SharedByAddresses)
            .Live(),
        Http.Number(
                nameof(HttpOptions.MaxWebConnections),
                "Most connections to the web port.",
                o => o.MaxWebConnections,
                (o, v) => o with { MaxWebConnections = v }
            )
            .Limit(LimitScope.SharedByAddresses)
            .Live(),
        Http.Number(
                nameof(HttpOptions.MaxConnectionsPerAddress),
                "Most connections from one address to each of the two ports.",
                o => o.MaxConnectionsPerAddress,
                (o, v) => o with { MaxConnectionsPerAddress = v }
            )
            .Limit(LimitScope.Address)
            .Live(),
        Http.Number(
                nameof(HttpOptions.MaxStreamsPerConnection),
                "Most calls at once on one connection to the control port.",
                o => o.MaxStreamsPerConnection,
                (o, v) => o with { MaxStreamsPerConnection = v }
            )
            .Limit(LimitScope.Connection),
        Http.Number(
                nameof(HttpOptions.MaxCalls),
                "Most calls at once on all connections to the control port.",
                o => o.MaxCalls,
                (o, v) => o with { MaxCalls = v }
            )
            .Limit(LimitScope.SharedByAddressesAndUsers)
            .Live(),
        Http.Number(
                nameof(HttpOptions.MaxCallsPerSecond),
                "Calls a second on one connection to the control port, on average; what is beyond waits. 0 for any "
                    + "number.",
                o => o.MaxCallsPerSecond,
                (o, v) => o with { MaxCallsPerSecond = v }
            )
            .Limit(LimitScope.Connection)
            .Live(),
        Http.Number(
                nameof(HttpOptions.MaxMessageBytes),
                "Largest gRPC message in bytes; 0 means as DataPlane:MaxFrameBytes, 4 MiB at least.",
                o => o.MaxMessageBytes,
                (o, v) => o with { MaxMessageBytes = v }
            )
            .Limit(LimitScope.Request),
        Http.Text(
                nameof(HttpOptions.AllowedHosts),
                "Names, with commas, that the web port may be asked under besides localhost and addresses where no "
                    + "login is required; *.example.com, or * for any.",
                o => o.AllowedHosts,
                (o, t) => o with { AllowedHosts = t }
            )
            .Live(),
        Http.Text(
            nameof(HttpOptions.AllowedOrigins),
            "Origins, with commas, whose pages may call the web port from a browser, such as https://app.example.com.",
            o => o.AllowedOrigins,
            (o, t) => o with { AllowedOrigins = t }
        ),
        Http.Number(
                nameof(HttpOptions.MaxFetchers),
                "Most members of groups that Fetch keeps between calls, one for each user, topic and group.",
                o => o.MaxFetchers,
                (o, v) => o with { MaxFetchers = v }
            )
            .Limit(LimitScope.SharedByAddressesAndUsers)
            .Live(),
        Http.Number(
                nameof(HttpOptions.MaxMetricsGroups),
                "Most groups that /metrics shows; more are left out, and counted.",
                o => o.MaxMetricsGroups,
                (o, v) => o with { MaxMetricsGroups = v }
            )
            .Limit(LimitScope.Request)
            .Live(),
        Http.Number(
                nameof(HttpOptions.MaxRequestElements),
                "Most fields and entries of lists of a request.",
                o => o.MaxRequestElements,
                (o, v) => o with { MaxRequestElements = v }
            )
            .Limit(LimitScope.Request)
            .Live(),
        Http.Number(
                nameof(HttpOptions.MaxRequestBytes),
                "Largest body of a request to the web port in bytes.",
                o => o.MaxRequestBytes,
                (o, v) => o with { MaxRequestBytes = v }
            )
            .Limit(LimitScope.Request),
        Http.Number(
                nameof(HttpOptions.MaxHeaderBytes),
                "All headers of a request together, in bytes.",
                o => o.MaxHeaderBytes,
                (o, v) => o with { MaxHeaderBytes = v }
            )
            .Limit(LimitScope.Request),
        Http.Time(
                nameof(HttpOptions.HeaderTimeout),
                "Time a client has to send its first bytes, and the headers of a request.",
                o => o.HeaderTimeout,
                (o, v) => o with { HeaderTimeout = v }
            )
            .Limit(LimitScope.Connection),
        Http.Time(
                nameof(HttpOptions.IdleTimeout),
                "How long a connection may be without a request.",
                o => o.IdleTimeout,
                (o, v) => o with { IdleTimeout = v }
            )
            .Limit(LimitScope.Connection),
        Http.Number(
                nameof(HttpOptions.MinBodyBytesPerSecond),
                "Bytes a second that the body of a request must come with, on average; 0 for none.",
                o => o.MinBodyBytesPerSecond,
                (o, v) => o with { MinBodyBytesPerSecond = v }
            )
            .Limit(LimitScope.Request),
        Http.Time(
                nameof(HttpOptions.BodyTimeout),
                "How long a request may take from its beginning to its end.",
                o => o.BodyTimeout,
                (o, v) => o with { BodyTimeout = v }
            )
            .Limit(LimitScope.Request)
            .Live(),
        Otlp.Text(
            nameof(OtlpOptions.Endpoint),
            "Where metrics and spans of control calls are sent by OTLP, such as http://collector:4317; also "
                + "OTEL_EXPORTER_OTLP_ENDPOINT.",
            o => Write(o.Endpoint),
            (o, t) => o with { Endpoint = ReadEndpoint(t) }
        ),
        Otlp.Text(
            nameof(OtlpOptions.Protocol),
            "How: grpc or http/protobuf; also OTEL_EXPORTER_OTLP_PROTOCOL.",
            o => Write(o.Protocol),
            (o, t) => o with { Protocol = ReadProtocol(t) }
        ),
        Otlp.Text(
                nameof(OtlpOptions.Headers),
                "What goes along, NAME=VALUE,NAME=VALUE; a secret, best given as OTEL_EXPORTER_OTLP_HEADERS.",
                o => o.Headers,
                (o, t) => o with { Headers = t }
            )
            .Secret(),
        .. ClusterSettings.All,
        Audit.Switch(
            nameof(AuditOptions.IsEnabled),
            "Whether logins and changes are kept in the data directory's audit log.",
            o => o.IsEnabled,
            (o, v) => o with { IsEnabled = v }
        ),
        Audit
            .Number(
                nameof(AuditOptions.FileBytes),
                "Size in bytes at which a file of the audit log is closed and the next begun.",
                o => o.FileBytes,
                (o, v) => o with { FileBytes = v }
            )
            .Live(),
        Audit
            .Number(
                nameof(AuditOptions.MaxFiles),
                "Most files of the audit log; the oldest is deleted when there would be more.",
                o => o.MaxFiles,
                (o, v) => o with { MaxFiles = v }
            )
            .Live(),
        Dashboard.Switch(
            nameof(DashboardOptions.IsEnabled),
            "Whether the web port serves the dashboard, the page for browsers.",
            o => o.IsEnabled,
            (o, v) => o with { IsEnabled = v }
        ),
        Broker
            .Number(
                nameof(BrokerOptions.PublishWindowBytes),
                "Publish window of a producer stream in bytes.",
                o => o.PublishWindowBytes,
                (o, v) => o with { PublishWindowBytes = v }
            )
            .Limit(LimitScope.Stream)
            .Live(),
        Broker.Time(
            nameof(BrokerOptions.SlowTimeout),
            "How long a blocking subscription that names no time-out may stand still while producers wait.",
            o => o.SlowTimeout,
            (o, v) => o with { SlowTimeout = v }
        ),
        Broker
            .Bytes(
                nameof(BrokerOptions.SpillBytesPerSubscription),
                "Most bytes that one subscription may spill to disk.",
                o => o.SpillBytesPerSubscription,
                (o, v) => o with { SpillBytesPerSubscription = v }
            )
            .Limit(LimitScope.Stream),
        Broker
            .Bytes(
                nameof(BrokerOptions.SpillBytes),
                "Most bytes that all subscriptions together may spill to disk.",
                o => o.SpillBytes,
                (o, v) => o with { SpillBytes = v }
            )
            .Limit(LimitScope.SharedByUsers),
        Broker.Bytes(
            nameof(BrokerOptions.BacklogMemoryBytes),
            "Most memory for what slow subscriptions keep outside their rings.",
            o => o.BacklogMemoryBytes,
            (o, v) => o with { BacklogMemoryBytes = v }
        ),
        Broker.Time(
            nameof(BrokerOptions.RestAfter),
            "After how long unused a transient topic gives its memory, and what it held, back.",
            o => o.RestAfter,
            (o, v) => o with { RestAfter = v }
        ),
        Broker.Time(
            nameof(BrokerOptions.ProducerExpiry),
            "After how long without a batch a named producer is forgotten.",
            o => o.ProducerExpiry,
            (o, v) => o with { ProducerExpiry = v }
        ),
        Broker
            .Time(
                nameof(BrokerOptions.GroupExpiry),
                "After how long without a member, and without anything settled, a group ends; 0 for never.",
                o => o.GroupExpiry,
                (o, v) => o with { GroupExpiry = v }
            )
            .Live(),
        Broker.Time(
            nameof(BrokerOptions.PositionInterval),
            "How often group positions reach the disk.",
            o => o.PositionInterval,
            (o, v) => o with { PositionInterval = v }
        ),
        Broker.Time(
            nameof(BrokerOptions.CheckpointInterval),
            "How often a busy durable topic's checkpoint is written.",
            o => o.CheckpointInterval,
            (o, v) => o with { CheckpointInterval = v }
        ),
        Broker.Number(
            nameof(BrokerOptions.JournalWriters),
            "Threads that write journals.",
            o => o.JournalWriters,
            (o, v) => o with { JournalWriters = v }
        ),
        Broker.Number(
            nameof(BrokerOptions.ScrubBytesPerSecond),
            "Bytes of durable topics read again per second to find damage early; 0 for none.",
            o => o.ScrubBytesPerSecond,
            (o, v) => o with { ScrubBytesPerSecond = v }
        ),
        Broker.Time(
            nameof(BrokerOptions.ScrubInterval),
            "From the beginning of one such pass over everything to that of the next.",
            o => o.ScrubInterval,
            (o, v) => o with { ScrubInterval = v }
        ),
        Broker
            .Number(
                nameof(BrokerOptions.MaxDelayedBatches),
                "Most delayed batches that wait in one partition.",
                o => o.MaxDelayedBatches,
                (o, v) => o with { MaxDelayedBatches = v }
            )
            .Limit(LimitScope.PartitionSharedByUsers)
            .Live(),
        Broker
            .Number(
                nameof(BrokerOptions.MaxTopics),
                "Most topics.",
                o => o.MaxTopics,
                (o, v) => o with { MaxTopics = v }
            )
            .Limit(LimitScope.SharedByUsers)
            .Live(),
        Broker
            .Number(
                nameof(BrokerOptions.MaxPartitions),
                "Most partitions of all topics together.",
                o => o.MaxPartitions,
                (o, v) => o with { MaxPartitions = v }
            )
            .Limit(LimitScope.SharedByUsers)
            .Live(),
        Broker
            .Number(
                nameof(BrokerOptions.MaxGroupsPerTopic),
                "Most groups of one topic.",
                o => o.MaxGroupsPerTopic,
                (o, v) => o with { MaxGroupsPerTopic = v }
            )
            .Limit(LimitScope.TopicSharedByUsers)
            .Live(),
        Broker
            .Number(
                nameof(BrokerOptions.MaxNamedProducersPerTopic),
                "Most named producers of one topic.",
                o => o.MaxNamedProducersPerTopic,
                (o, v) => o with { MaxNamedProducersPerTopic = v }
            )
            .Limit(LimitScope.TopicSharedByUsers)
            .Live(),
        Broker
            .Bytes(
                nameof(BrokerOptions.MaxPendingBytes),
                "Most bytes of batches that wait in memory because their topics are full, of all producers together.",
                o => o.MaxPendingBytes,
                (o, v) => o with { MaxPendingBytes = v }
            )
            .Limit(LimitScope.SharedByUsers)
            .Live(),
        Broker
            .Number(nameof(BrokerOptions.MaxUsers), "Most users.", o => o.MaxUsers, (o, v) => o with { MaxUsers = v })
            .Limit(LimitScope.Administrators)
            .Live(),
        Broker
            .Number(
                nameof(BrokerOptions.MaxSharePercent),
                "Percent of a limit that all count in together which one address or user may have alone.",
                o => o.MaxSharePercent,
                (o, v) => o with { MaxSharePercent = v }
            )
            .Limit(LimitScope.Source)
            .Live(),
        Broker
            .Number(
                nameof(BrokerOptions.MaxGrantsPerUser),
                "Most rights of one user.",
                o => o.MaxGrantsPerUser,
                (o, v) => o with { MaxGrantsPerUser = v }
            )
            .Limit(LimitScope.User)
            .Live(),
        Broker
            .Number(
                nameof(BrokerOptions.MaxTokensPerUser),
                "Most tokens that last, of one user.",
                o => o.MaxTokensPerUser,
                (o, v) => o with { MaxTokensPerUser = v }
            )
            .Limit(LimitScope.User)
            .Live(),
    ];

    /// <summary>Finds a setting; keys are compared without case.</summary>
    internal static ServerSetting? Find(string key) =>
        All.FirstOrDefault(s => s.Key.Equals(key, StringComparison.OrdinalIgnoreCase));
}
