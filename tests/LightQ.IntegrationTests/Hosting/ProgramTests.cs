using System.Text;
using System.Text.Json;
using Grpc.Core;
using Grpc.Health.V1;
using Grpc.Net.Client;
using Grpc.Reflection.V1;
using LightQ.Client;
using LightQ.IntegrationTests.Control;
using LightQ.IntegrationTests.Faults;
using LightQ.IntegrationTests.Json;
using LightQ.IntegrationTests.Tls;
using Xunit;

namespace LightQ.IntegrationTests.Hosting;

/// <summary>
/// The broker as the program that users run, the one that LIGHTQ_TOOL names included: what it shows of itself by type
/// and by name is what a native program may have lost.
/// </summary>
public sealed class ProgramTests
{
    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task It_serves_grpc_json_metrics_and_its_own_description()
    {
        using var directory = new TemporaryDirectory();
        await using var broker = new FaultBroker(directory.Path);
        await broker.StartAsync();
        using var web = new HttpClient { BaseAddress = new Uri($"http://127.0.0.1:{broker.WebPort}") };

        await SendAsync(web, "POST", "/v1/topics", """{"name":"jobs","settings":{"kind":"TOPIC_KIND_DURABLE"}}""");
        await SendAsync(web, "POST", "/v1/topics/jobs:publish", """{"messages":[{"body":"aGVsbG8="}]}""");
        JsonAnswer fetched = await SendAsync(
            web,
            "POST",
            "/v1/topics/jobs:fetch",
            """{"group":"workers","wait":"20s"}"""
        );
        JsonElement message = Assert.Single(fetched["messages"].EnumerateArray());
        Assert.Equal("hello", Encoding.UTF8.GetString(message.GetProperty("body").GetBytesFromBase64()));
        string token = message.GetProperty("settleToken").GetString()!;
        JsonAnswer settled = await SendAsync(
            web,
            "POST",
            "/v1/topics/jobs:settle",
            $$"""{"settlements":[{"token":"{{token}}","kind":"SETTLE_KIND_COMPLETE"}]}"""
        );
        Assert.Contains("SETTLE_OUTCOME_DONE", settled.Body.GetRawText());
        JsonAnswer stats = await SendAsync(web, "GET", "/v1/topics/jobs/stats", body: null);
        Assert.Contains("\"endOffset\":\"1\"", stats.Body.GetRawText().Replace(" ", "", StringComparison.Ordinal));
        JsonAnswer description = await SendAsync(web, "GET", "/openapi/v1.json", body: null);
        Assert.True(description["paths"].TryGetProperty("/v1/topics/{topic}:publish", out _));
        Assert.Contains("lightq_topic_messages_received_total", await web.GetStringAsync("/metrics", Cancel));

        using GrpcChannel control = GrpcChannel.ForAddress($"http://127.0.0.1:{broker.ControlPort}");
        HealthCheckResponse health = await control.CallAsync<HealthCheckRequest, HealthCheckResponse>("Check", new());
        Assert.Equal(HealthCheckResponse.Types.ServingStatus.Serving, health.Status);
        using AsyncDuplexStreamingCall<ServerReflectionRequest, ServerReflectionResponse> reflection = control.Duplex<
            ServerReflectionRequest,
            ServerReflectionResponse
        >("ServerReflectionInfo");
        await reflection.RequestStream.WriteAsync(new() { ListServices = "" }, Cancel);
        ServerReflectionResponse? listed = await reflection.ReadAsync();
        Assert.Contains("lightq.control.v1.Topics", listed!.ListServicesResponse.Service.Select(s => s.Name));
        await reflection.RequestStream.WriteAsync(
            new() { FileContainingSymbol = "lightq.control.v1.Messages" },
            Cancel
        );
        Assert.NotEmpty((await reflection.ReadAsync())!.FileDescriptorResponse.FileDescriptorProto);
        await reflection.RequestStream.CompleteAsync();
        Assert.Equal(0, (await broker.TerminateAsync()).ExitCode);
    }

    [Fact]
    public async Task Killed_with_TLS_and_users_it_has_what_it_acknowledged()
    {
        const int Messages = 2_000;
        using var directory = new TemporaryDirectory();
        using var files = new TlsFiles();
        await using var broker = new FaultBroker(
            directory.Path,
            ("Tls:CertificateFile", files.CertificateFile),
            ("Tls:KeyFile", files.KeyFile),
            ("RequireAuth", "true")
        );
        await broker.StartAsync();
        LightQClientOptions options = new()
        {
            DataPort = broker.DataPort,
            ControlPort = broker.ControlPort,
            Tls = true,
            CertificateAuthorityFile = files.CaFile,
            User = "admin",
            Password = broker.AdminPassword,
        };
        await using (var client = new LightQClient(options))
        {
            await client.Topics.CreateAsync(new TopicSpec("orders") { Kind = TopicKind.Durable }, Cancel);
            await using Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Cancel);
            await Task.WhenAll(
                Enumerable
                    .Range(0, Messages)
                    .Select(i => producer.PublishAsync(BitConverter.GetBytes(i), cancellationToken: Cancel).AsTask())
            );
            await broker.KillAsync();
        }
        await broker.StartAsync();
        await using var again = new LightQClient(options);
        int next = 0;
        await foreach (
            Message message in again.ConsumeAsync("orders", new() { Start = StartPosition.Earliest }, Cancel)
        )
        {
            Assert.Equal(next, BitConverter.ToInt32(message.Body.Span));
            if (++next == Messages)
                break;
        }
        Assert.Equal(Messages, next);
    }

    private static async Task<JsonAnswer> SendAsync(HttpClient web, string verb, string path, string? body)
    {
        using HttpRequestMessage request = JsonCalls.Request(verb, path, body);
        using HttpResponseMessage response = await web.SendAsync(request, Cancel);
        JsonAnswer answer = await JsonAnswer.ReadAsync(response);
        Assert.True(response.IsSuccessStatusCode, answer.Body.GetRawText());
        return answer;
    }
}
