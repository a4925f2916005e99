using System.Globalization;
using System.Text;
using LightQ.Client;
using LightQ.IntegrationTests.Cli;
using LightQ.IntegrationTests.Faults;
using LightQ.Server;
using Microsoft.AspNetCore.Http;
using Xunit;

namespace LightQ.IntegrationTests.Telemetry;

/// <summary>What a collector gets of a broker that is told to export.</summary>
[Collection(TelemetryCollection.Name)]
public sealed class OtlpExportTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(OtlpProtocol.Grpc)]
    [InlineData(OtlpProtocol.HttpProtobuf)]
    public async Task A_collector_gets_the_figures_and_a_span_for_each_call(OtlpProtocol protocol)
    {
        await using OtlpReceiver receiver = await OtlpReceiver.StartAsync();
        await using TestServer other = await TestServer.StartAsync(); // Its figures and spans are nobody's.
        int port;
        await using (
            TestServer server = await StartAsync(
                protocol == OtlpProtocol.Grpc ? receiver.Grpc : receiver.Http,
                protocol
            )
        )
        {
            port = server.DataPort;
            await using var client = new LightQClient(server.ConnectionString);
            await client.Topics.CreateAsync(new TopicSpec("orders"), Cancelled);
            await using (Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Cancelled))
            {
                for (int i = 0; i < 3; i++)
                    await producer.PublishAsync("one"u8, cancellationToken: Cancelled);
            }
            await Assert.ThrowsAsync<LightQException>(() => client.Topics.GetAsync("none", Cancelled));
            await using var elsewhere = new LightQClient(other.ConnectionString);
            await elsewhere.Topics.CreateAsync(new TopicSpec("elsewhere"), Cancelled);
        } // A stop sends what is left.

        OtlpPoint received = Assert.Single(receiver.Points, p => p.Name == "lightq.topic.messages.received");
        Assert.Equal(
            (3, true, true, "{message}"),
            (received.Value, received.IsSum, received.IsMonotonic, received.Unit)
        );
        Assert.Equal(new Dictionary<string, object> { ["topic"] = "orders" }, received.Tags);
        Assert.Equal("Messages appended.", received.Description);
        Assert.Equal(("LightQ.Server", (long)port), (received.Scope.Name, received.Scope.Attributes["server.port"]));
        Assert.Equal(
            ("lightq", received.Scope.Version),
            (received.Resource["service.name"], received.Resource["service.version"])
        );
        Assert.Equal(
            $"{Environment.MachineName}:{port.ToString(CultureInfo.InvariantCulture)}",
            received.Resource["service.instance.id"]
        );
        OtlpPoint topics = Assert.Single(receiver.Points, p => p.Name == "lightq.topics");
        Assert.Equal((1, true, false), (topics.Value, topics.IsSum, topics.IsMonotonic));
        Assert.False(Assert.Single(receiver.Points, p => p.Name == "lightq.ready").IsSum);
        Assert.Contains(
            receiver.Points,
            p => p.Scope.Name == "System.Runtime" && p.Name == "dotnet.process.memory.working_set"
        );

        Assert.All(receiver.Spans, span => Assert.Equal(("LightQ.Server", 2ul), (span.Scope.Name, span.Kind)));
        OtlpSpan create = Assert.Single(receiver.Spans, s => s.Name == "lightq.control.v1.Topics/CreateTopic");
        Assert.Equal(
            ("grpc", "lightq.control.v1.Topics", "CreateTopic", 0L),
            (
                create.Attributes["rpc.system"],
                create.Attributes["rpc.service"],
                create.Attributes["rpc.method"],
                create.Attributes["rpc.grpc.status_code"]
            )
        );
        Assert.Equal(received.Resource, create.Resource);
        OtlpSpan missing = Assert.Single(receiver.Spans, s => s.Name == "lightq.control.v1.Topics/GetTopic");
        // A mistake of the caller is no fault.
        Assert.Equal(
            (5L, nameof(ErrorCode.UnknownTopic), 0ul),
            (missing.Attributes["rpc.grpc.status_code"], missing.Attributes["error.type"], missing.Status)
        );
        Assert.All(receiver.Keys, key => Assert.Equal("hush", key));
    }

    [Fact]
    public async Task A_collector_that_refuses_is_told_of_once_and_hurts_nobody()
    {
        await using OtlpReceiver receiver = await OtlpReceiver.StartAsync();
        receiver.Status = StatusCodes.Status401Unauthorized;
        TestServer server = await StartAsync(receiver.Http, OtlpProtocol.HttpProtobuf);
        await using (server)
        {
            await using var client = new LightQClient(server.ConnectionString);
            await client.Topics.CreateAsync(new TopicSpec("orders"), Cancelled);
        }
        Assert.NotEmpty(receiver.Keys);
        string[] lines =
        [
            .. server.Log.Lines.Select(l => l.Message).Where(m => m.StartsWith("OTLP", StringComparison.Ordinal)),
        ];
        Assert.Single(
            lines,
            l => l.StartsWith($"OTLP: metrics cannot be sent to {receiver.Http}", StringComparison.Ordinal)
        );
        Assert.Single(
            lines,
            l => l.StartsWith($"OTLP: spans cannot be sent to {receiver.Http}", StringComparison.Ordinal)
        );
        Assert.Empty(server.Log.Errors);
        Assert.DoesNotContain(server.Log.Lines, l => l.Message.Contains("hush", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData(OtlpProtocol.Grpc)]
    [InlineData(OtlpProtocol.HttpProtobuf)]
    public async Task A_collector_that_never_answers_does_not_keep_a_broker_from_stopping(OtlpProtocol protocol)
    {
        await using OtlpReceiver receiver = await OtlpReceiver.StartAsync();
        receiver.Status = null;
        TestServer server = await StartAsync(protocol == OtlpProtocol.Grpc ? receiver.Grpc : receiver.Http, protocol);
        await server.DisposeAsync().AsTask().WaitAsync(Patience, Cancelled);
        Assert.Contains(server.Log.Lines, l => l.Message.StartsWith("Stopped", StringComparison.Ordinal));
        Assert.Contains(
            server.Log.Lines,
            l => l.Message.StartsWith("OTLP: metrics cannot be sent", StringComparison.Ordinal)
        );
    }

    [Fact]
    public async Task A_server_process_goes_by_OpenTelemetrys_variables()
    {
        using var directory = new TemporaryDirectory();
        await using OtlpReceiver receiver = await OtlpReceiver.StartAsync();
        await using var broker = new FaultBroker(directory.Path)
        {
            Variables =
            [
                ("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.Http.ToString()),
                ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
                ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=hush"),
                ("OTEL_SERVICE_NAME", "shop-queue"),
                ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test"),
                ("OTEL_METRIC_EXPORT_INTERVAL", "200"),
                ("OTEL_BSP_SCHEDULE_DELAY", "200"),
            ],
        };
        await broker.StartAsync();
        await using LightQClient client = broker.Connect();
        await client.Topics.CreateAsync(new TopicSpec("orders"), Cancelled);
        await Eventually.TrueAsync(
            () =>
                receiver.Points.Any(p => p is { Name: "lightq.topics", Value: 1 })
                && receiver.Spans.Any(s => s.Name.EndsWith("/CreateTopic", StringComparison.Ordinal)),
            Patience,
            () => broker.Log
        );
        Assert.All(
            receiver.Points,
            p =>
                Assert.Equal(
                    ("shop-queue", "test"),
                    (p.Resource["service.name"], p.Resource["deployment.environment.name"])
                )
        );
        Assert.All(receiver.Keys, key => Assert.Equal("hush", key));
        if (OperatingSystem.IsLinux() && !LightQTool.IsNative)
            Assert.Contains("OpenTelemetry.dll", Maps(broker), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Without_an_endpoint_and_a_cluster_nothing_of_their_packages_is_loaded()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Only Linux tells what a process has mapped.");
        Assert.SkipWhen(LightQTool.IsNative, "A native program loads no assemblies.");
        using var directory = new TemporaryDirectory();
        await using var broker = new FaultBroker(directory.Path);
        await broker.StartAsync();
        await using LightQClient client = broker.Connect();
        await client.Topics.CreateAsync(new TopicSpec("orders"), Cancelled);
        Assert.Contains("LightQ.Server.dll", Maps(broker), StringComparison.Ordinal);
        Assert.DoesNotContain("OpenTelemetry", Maps(broker), StringComparison.Ordinal);
        Assert.DoesNotContain("NATS.Client", Maps(broker), StringComparison.Ordinal);
    }

    private static string Maps(FaultBroker broker) =>
        File.ReadAllText(string.Create(CultureInfo.InvariantCulture, $"/proc/{broker.ProcessId}/maps"), Encoding.UTF8);

    private static Task<TestServer> StartAsync(Uri endpoint, OtlpProtocol protocol) =>
        TestServer.StartAsync(o =>
            o with
            {
                Otlp = new OtlpOptions
                {
                    Endpoint = endpoint,
                    Protocol = protocol,
                    Headers = "api-key=hush",
                },
            }
        );
}
