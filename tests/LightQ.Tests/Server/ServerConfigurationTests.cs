using System.Net;
using System.Text.Json;
using LightQ.Server;
using LightQ.Server.Configuration;
using LightQ.Server.Hosting;
using Microsoft.Extensions.Logging;
using Xunit;

namespace LightQ.Tests.Server;

public sealed class ServerConfigurationTests : IDisposable
{
    private static readonly Dictionary<string, string> NoEnvironment = [];
    private readonly string _file = Path.Combine(
        Directory.CreateTempSubdirectory("lightq-test-").FullName,
        "lightq.json"
    );

    public void Dispose() => Directory.Delete(Path.GetDirectoryName(_file)!, recursive: true);

    [Fact]
    public void Without_any_source_every_value_is_the_default()
    {
        ServerConfiguration configuration = Load();
        Assert.Equal(new LightQServerOptions { DataDirectory = "lightq-data" }, configuration.Options);
        Assert.All(configuration.Values, v => Assert.Equal("default", v.Source));
        Assert.Equal(ServerSettings.All, configuration.Values.Select(v => v.Setting));
    }

    [Fact]
    public void Flags_win_over_the_environment_and_that_over_the_file()
    {
        Write(
            """{ "DataPort": 1, "ControlPort": 1, "WebPort": 1, "DataPlane": { "Heartbeat": "20s" } } // a comment"""
        );
        ServerConfiguration configuration = Load(
            new() { ["--web-port"] = "3" },
            new()
            {
                ["LIGHTQ__ControlPort"] = "2",
                ["LIGHTQ__WebPort"] = "2",
                ["LIGHTQ__Broker__SlowTimeout"] = "00:00:30",
                ["LIGHTQ_SERVER"] = "not ours",
            }
        );
        Assert.Equal(
            (1, 2, 3),
            (configuration.Options.DataPort, configuration.Options.ControlPort, configuration.Options.WebPort)
        );
        Assert.Equal(TimeSpan.FromSeconds(20), configuration.Options.DataPlane.Heartbeat);
        Assert.Equal(TimeSpan.FromSeconds(30), configuration.Options.Broker.SlowTimeout);
        Assert.Equal(_file, SourceOf(configuration, "DataPort"));
        Assert.Equal("environment LIGHTQ__ControlPort", SourceOf(configuration, "ControlPort"));
        Assert.Equal("--web-port", SourceOf(configuration, "WebPort"));
        Assert.Equal(_file, SourceOf(configuration, "DataPlane:Heartbeat"));
        Assert.Equal("environment LIGHTQ__Broker__SlowTimeout", SourceOf(configuration, "Broker:SlowTimeout"));
        Assert.Equal("default", SourceOf(configuration, "Broker:MaxTopics"));
    }

    [Fact]
    public void Every_setting_reads_back_what_it_wrote()
    {
        var odd = new LightQServerOptions
        {
            DataDirectory = "/data",
            Bind = IPAddress.IPv6Loopback,
            DataPort = 1,
            ControlPort = 2,
            WebPort = 3,
            RequireAuth = true,
            Audit = new AuditOptions
            {
                IsEnabled = false,
                FileBytes = 1_000_000,
                MaxFiles = 3,
            },
            Cluster = new()
            {
                Engine = "nats://n1:4222,nats://n2:4222",
                Name = "shop",
                Node = "n1",
                AdvertiseData = "lq1:5700",
                AdvertiseControl = "[::1]:5701",
                CredentialsFile = "/nats.creds",
                SeedFile = "/nats.nk",
                User = "lightq",
                PasswordFile = "/nats.password",
                CaFile = "/nats-ca.pem",
                CertificateFile = "/nats.pem",
                KeyFile = "/nats.key",
                NodeCaFile = "/nodes-ca.pem",
                TrustCatalogFor = TimeSpan.FromHours(20),
                RequireSync = false,
                Monitoring = "http://n1:8222,http://n2:8222",
            },
            Dashboard = new() { IsEnabled = false },
            Otlp = new()
            {
                Endpoint = new Uri("http://collector:4317"),
                Protocol = OtlpProtocol.HttpProtobuf,
                Headers = "key=a,other=b",
            },
            Insecure = true,
            MaxWaitingLogins = 77,
            MaxLoginsPerUser = 78,
            StopTimeout = TimeSpan.FromSeconds(1.5),
            DrainTimeout = TimeSpan.FromSeconds(2.5),
            Log = new LogOptions
            {
                Level = LogLevel.Debug,
                Levels = "LightQ=Error",
                Format = LogFormat.Json,
            },
            Tls = new()
            {
                CertificateFile = "/c",
                KeyFile = "/k",
                PasswordFile = "/p",
                ClientCaFile = "/a",
                ClientCertificates = ClientCertificates.Allowed,
                SelfSigned = true,
            },
            DataPlane = new()
            {
                MaxFrameBytes = 65536,
                Heartbeat = TimeSpan.FromSeconds(1),
                HandshakeTimeout = TimeSpan.FromSeconds(2),
                MaxConnections = 4,
                MaxStreams = 5,
                MaxConnectionsPerAddress = 6,
                MaxUnauthenticatedConnections = 7,
                MinFrameBytesPerSecond = 8,
                FrameGrace = TimeSpan.FromSeconds(9),
                MaxAssemblyBytes = 10,
                StalledReaderTimeout = TimeSpan.FromSeconds(11),
                MaxUnsentBytes = 65538,
                MaxUnreadAnswerBytes = 65537,
            },
            Http = new()
            {
                MaxControlConnections = 1,
                MaxWebConnections = 2,
                MaxConnectionsPerAddress = 3,
                MaxStreamsPerConnection = 4,
                MaxCalls = 5,
                MaxCallsPerSecond = 12,
                MaxMessageBytes = 65536,
                AllowedHosts = "lightq,*.example.com",
                MaxRequestBytes = 1024,
                MaxHeaderBytes = 8192,
                HeaderTimeout = TimeSpan.FromSeconds(9),
                IdleTimeout = TimeSpan.FromSeconds(10),
                MinBodyBytesPerSecond = 11,
                AllowedOrigins = "https://app.example.com",
                MaxFetchers = 13,
                MaxMetricsGroups = 12,
                MaxRequestElements = 1000,
                BodyTimeout = TimeSpan.FromSeconds(14),
            },
            Broker = new()
            {
                PublishWindowBytes = 65536,
                SlowTimeout = TimeSpan.FromSeconds(3),
                SpillBytesPerSubscription = 11,
                SpillBytes = 12,
                BacklogMemoryBytes = 13,
                RestAfter = TimeSpan.FromDays(4),
                ProducerExpiry = TimeSpan.FromHours(5),
                PositionInterval = TimeSpan.FromMilliseconds(6),
                CheckpointInterval = TimeSpan.FromMilliseconds(7),
                JournalWriters = 7,
                ScrubBytesPerSecond = 9,
                ScrubInterval = TimeSpan.FromHours(10),
                MaxDelayedBatches = 11,
                MaxTopics = 8,
                MaxPartitions = 12,
                MaxGroupsPerTopic = 13,
                GroupExpiry = TimeSpan.FromDays(31),
                MaxNamedProducersPerTopic = 14,
                MaxPendingBytes = 15,
                MaxUsers = 16,
                MaxSharePercent = 19,
                MaxGrantsPerUser = 17,
                MaxTokensPerUser = 18,
            },
        };
        Write(JsonSerializer.Serialize(ServerSettings.All.ToDictionary(s => s.Key, s => s.Read(odd))));
        ServerConfiguration configuration = Load();
        Assert.Equal(odd, configuration.Options);
        Assert.All(configuration.Values, v => Assert.Equal(_file, v.Source));
        Assert.All(
            ServerSettings.All,
            s => Assert.NotEqual(s.Read(odd), s.Read(new LightQServerOptions { DataDirectory = "lightq-data" }))
        );
    }

    [Theory]
    [InlineData("--data-port", "70000", "DataPort is '70000' (--data-port); allowed: 0 (a free port) to 65535.")]
    [InlineData("--data-port", "many", "DataPort is 'many' (--data-port); allowed: a whole number.")]
    [InlineData("--bind", "1", "Bind is '1' (--bind); allowed: localhost, an IPv4 or an IPv6 address.")]
    [InlineData("--require-auth", "maybe", "RequireAuth is 'maybe' (--require-auth); allowed: true or false.")]
    [InlineData(
        "--stop-timeout",
        "10",
        "StopTimeout is '10' (--stop-timeout); allowed: a time with its unit, such as 500ms, 10s, 5m, 24h, 7d or "
            + "00:00:10."
    )]
    [InlineData("--stop-timeout", "11m", "StopTimeout is '11m' (--stop-timeout); allowed: 00:00:00 to 00:10:00.")]
    [InlineData("--tls-cert", " ", "Tls:CertificateFile is ' ' (--tls-cert); allowed: a path.")]
    [InlineData("--data", " ", "DataDirectory is ' ' (--data); allowed: a path.")]
    [InlineData("--none", "1", "There is no flag --none.")]
    public void A_bad_value_names_the_key_the_value_its_source_and_what_is_allowed(
        string flag,
        string value,
        string message
    ) => Assert.Equal(message, Refused(() => Load(new() { [flag] = value })).Message);

    [Theory]
    [InlineData(
        "LIGHTQ__Otlp__Endpoint",
        "collector",
        "Otlp:Endpoint is 'collector' (environment LIGHTQ__Otlp__Endpoint); allowed: http://HOST:PORT or "
            + "https://HOST:PORT, without a user."
    )]
    [InlineData(
        "LIGHTQ__Otlp__Endpoint",
        "ftp://collector",
        "Otlp:Endpoint is 'ftp://collector' (environment LIGHTQ__Otlp__Endpoint); allowed: http://HOST:PORT or "
            + "https://HOST:PORT, without a user."
    )]
    [InlineData(
        "LIGHTQ__Otlp__Endpoint",
        "http://me:hush@collector",
        "Otlp:Endpoint is '(an address with a user)' (environment LIGHTQ__Otlp__Endpoint); allowed: http://HOST:PORT "
            + "or https://HOST:PORT, without a user."
    )]
    [InlineData(
        "OTEL_EXPORTER_OTLP_PROTOCOL",
        "http/json",
        "Otlp:Protocol is 'http/json' (environment OTEL_EXPORTER_OTLP_PROTOCOL); allowed: grpc or http/protobuf."
    )]
    [InlineData(
        "LIGHTQ__Otlp__Headers",
        "hush",
        "Otlp:Headers is '(secret)' (environment LIGHTQ__Otlp__Headers); allowed: NAME=VALUE,NAME=VALUE."
    )]
    [InlineData(
        "OTEL_EXPORTER_OTLP_HEADERS",
        "k=v,=hush",
        "Otlp:Headers is '(secret)' (environment OTEL_EXPORTER_OTLP_HEADERS); allowed: NAME=VALUE,NAME=VALUE."
    )]
    public void A_bad_collector_refuses_the_start_and_a_secret_is_not_repeated(
        string variable,
        string value,
        string message
    ) => Assert.Equal(message, Refused(() => Load(null, new() { [variable] = value })).Message);

    [Fact]
    public void OpenTelemetrys_variables_are_settings_over_the_file_and_under_ours()
    {
        Write("""{ "Otlp": { "Endpoint": "http://file:1", "Protocol": "grpc", "Headers": "from=file" } }""");
        ServerConfiguration configuration = Load(
            null,
            new()
            {
                ["LIGHTQ__Otlp__Endpoint"] = "http://ours:1",
                ["OTEL_EXPORTER_OTLP_ENDPOINT"] = "http://standard:1",
                ["OTEL_EXPORTER_OTLP_PROTOCOL"] = "http/protobuf",
                ["OTEL_EXPORTER_OTLP_HEADERS"] = "",
            }
        );
        Assert.Equal(
            new OtlpOptions
            {
                Endpoint = new Uri("http://ours:1"),
                Protocol = OtlpProtocol.HttpProtobuf,
                Headers = "from=file",
            },
            configuration.Options.Otlp
        );
        Assert.Equal("environment OTEL_EXPORTER_OTLP_PROTOCOL", SourceOf(configuration, "Otlp:Protocol"));
    }

    [Fact]
    public void A_secret_is_in_nothing_that_is_printed()
    {
        ServerConfiguration configuration = Load(null, new() { ["OTEL_EXPORTER_OTLP_HEADERS"] = "api-key=hush" });
        Assert.Equal("api-key=hush", configuration.Options.Otlp.Headers);
        Assert.Equal("(secret)", configuration.Values.Single(v => v.Setting.Key == "Otlp:Headers").Value);
        Assert.Equal("(none)", Load().Values.Single(v => v.Setting.Key == "Otlp:Headers").Value);
        (LightQServerOptions _, IReadOnlyList<SettingReload> changes) = ConfigurationReload.Merge(
            Load().Options,
            configuration.Options,
            DateTimeOffset.UnixEpoch
        );
        SettingReload change = Assert.Single(changes);
        Assert.Equal(
            ("Otlp:Headers", "(none)", "(secret)", false),
            (change.Setting.Key, change.From, change.To, change.IsApplied)
        );
        string[] texts =
        [
            ConfigurationPrinter.ToText(configuration),
            ConfigurationPrinter.ToJson(configuration),
            configuration.Options.ToString(),
            change.ToString(),
        ];
        Assert.All(texts, text => Assert.DoesNotContain("hush", text, StringComparison.Ordinal));
    }

    [Fact]
    public void An_unknown_key_is_named_with_its_source_but_not_its_value()
    {
        Write("""{ "DataPrt": "secret" }""");
        Assert.Equal($"There is no setting DataPrt ({_file}); did you mean DataPort?", Refused(() => Load()).Message);
        Write("{}");
        Assert.Equal(
            "There is no setting Heartbeat (environment LIGHTQ__Heartbeat); did you mean DataPlane:Heartbeat?",
            Refused(() => Load(null, new() { ["LIGHTQ__Heartbeat"] = "1s" })).Message
        );
        Assert.Equal(
            "There is no setting Password (environment LIGHTQ__Password); 'lightq server --print-config' shows every "
                + "key.",
            Refused(() => Load(null, new() { ["LIGHTQ__Password"] = "secret" })).Message
        );
    }

    [Theory]
    [InlineData("{ \"DataPort\": ", "is not JSON, line 1")]
    [InlineData("[1]", "cannot be used")]
    [InlineData("{ \"DataPort\": [1, 2] }", "There is no setting DataPort:")]
    public void A_file_that_is_no_configuration_is_named(string text, string reason)
    {
        Write(text);
        string message = Refused(() => Load()).Message;
        Assert.Contains(_file, message, StringComparison.Ordinal);
        Assert.Contains(reason, message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_named_file_must_exist() =>
        Assert.Contains(
            _file,
            Refused(() => ServerConfiguration.Load(null, _file, NoEnvironment)).Message,
            StringComparison.Ordinal
        );

    [Fact]
    public void Keys_are_compared_without_case()
    {
        Write("""{ "dataPort": 7, "requireauth": true }""");
        Assert.Equal((7, true), (Load().Options.DataPort, Load().Options.RequireAuth));
    }

    [Fact]
    public void Printed_text_has_a_line_for_every_setting()
    {
        string[] lines = ConfigurationPrinter.ToText(Load(new() { ["--data-port"] = "7" })).TrimEnd('\n').Split('\n');
        Assert.Equal(ServerSettings.All.Count, lines.Length);
        Assert.Matches(@"^DataPort +7 +--data-port$", lines[2]);
    }

    [Fact]
    public void Printed_JSON_tells_key_value_and_source()
    {
        using JsonDocument json = JsonDocument.Parse(
            ConfigurationPrinter.ToJson(Load(new() { ["--data-port"] = "7" }))
        );
        Assert.Equal(ServerSettings.All.Count, json.RootElement.GetArrayLength());
        JsonElement port = json.RootElement[2];
        Assert.Equal(
            ("DataPort", "7", "--data-port"),
            (
                port.GetProperty("key").GetString(),
                port.GetProperty("value").GetString(),
                port.GetProperty("source").GetString()
            )
        );
    }

    private static string SourceOf(ServerConfiguration configuration, string key) =>
        configuration.Values.Single(v => v.Setting.Key == key).Source;

    private static ServerStartException Refused(Action load)
    {
        ServerStartException error = Assert.Throws<ServerStartException>(load);
        Assert.Equal((ServerStartFailure.Configuration, 78), (error.Failure, error.ExitCode));
        return error;
    }

    private void Write(string json) => File.WriteAllText(_file, json);

    private ServerConfiguration Load(
        Dictionary<string, string>? flags = null,
        Dictionary<string, string>? environment = null
    )
    {
        if (!File.Exists(_file))
            Write("{}");
        return ServerConfiguration.Load(flags, _file, environment ?? NoEnvironment);
    }
}
