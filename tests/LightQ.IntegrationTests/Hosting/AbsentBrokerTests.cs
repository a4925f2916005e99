using System.Net;
using System.Net.Sockets;
using LightQ.Client;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Xunit;

namespace LightQ.IntegrationTests.Hosting;

/// <summary>
/// A host whose client waits for its broker, started before the broker: it says so, answers, and goes on when the
/// broker comes.
/// </summary>
public sealed class AbsentBrokerTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);
    private readonly int _port = FreePorts.Find(3);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    private string Address => $"lightq://127.0.0.1:{_port}?control={_port + 1}";

    [Fact]
    public async Task It_answers_for_its_health_says_what_it_waits_for_and_begins_when_the_broker_comes()
    {
        using var log = new RecordedLog();
        var handler = new Handler();
        await using WebApplication app = Build(log, handler, new TopicSpec("orders") { Kind = TopicKind.Durable });
        app.MapHealthChecks(
            "/healthz",
            new()
            {
                ResponseWriter = (context, report) =>
                    context
                        .Response.Body.WriteAsync(
                            System.Text.Encoding.UTF8.GetBytes(report.Entries["lightq"].Description!)
                        )
                        .AsTask(),
            }
        );

        await app.StartAsync(Cancel);

        (LogLevel level, string line, _) = log.Lines.First(l =>
            l.Message.StartsWith("Waiting", StringComparison.Ordinal)
        );
        Assert.Equal(LogLevel.Warning, level);
        Assert.StartsWith($"Waiting for the broker at {Address} (Unavailable: ", line, StringComparison.Ordinal);
        using var http = new HttpClient
        {
            BaseAddress = new Uri(
                app.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses.Single()
            ),
        };
        using (HttpResponseMessage health = await http.GetAsync("/healthz", Cancel))
        {
            Assert.Equal(HttpStatusCode.ServiceUnavailable, health.StatusCode);
            Assert.StartsWith(
                $"Waiting for the broker at {Address}: ",
                await health.Content.ReadAsStringAsync(Cancel),
                StringComparison.Ordinal
            );
        }

        await using TestServer server = await StartBrokerAsync();
        await Eventually.TrueAsync(
            () => server.Broker.TryGetTopic("orders", out _),
            Patience,
            () => string.Join('\n', log.Lines)
        );
        await using var client = new LightQClient(server.ConnectionString);
        await using Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Cancel);
        await producer.PublishAsync("first"u8, cancellationToken: Cancel);
        Assert.Equal("first", await handler.Handled.WaitAsync(Patience, Cancel));
        await Eventually.TrueAsync(
            async () => (await http.GetAsync("/healthz", Cancel)).IsSuccessStatusCode,
            Patience,
            () => "the host is not healthy"
        );
        Assert.Contains(
            log.Lines,
            l => l.Message.StartsWith($"The broker at {Address} is there, after ", StringComparison.Ordinal)
        );
        await app.StopAsync(Cancel);
    }

    [Fact]
    public async Task A_stop_ends_the_wait()
    {
        using var log = new RecordedLog();
        await using WebApplication app = Build(
            log,
            new Handler(),
            new TopicSpec("orders") { Kind = TopicKind.Durable }
        );
        await app.StartAsync(Cancel);

        // The host's own time for it is longer.
        await app.StopAsync(CancellationToken.None).WaitAsync(TimeSpan.FromSeconds(20), Cancel);

        Assert.Empty(log.Errors);
    }

    [Fact]
    public async Task What_the_broker_refuses_when_it_comes_stops_the_host()
    {
        using var log = new RecordedLog();
        await using WebApplication app = Build(
            log,
            new Handler(),
            new TopicSpec("orders") { Kind = TopicKind.Transient }
        );
        await app.StartAsync(Cancel);
        var stopped = new TaskCompletionSource();
        app.Lifetime.ApplicationStopping.Register(stopped.SetResult);

        await using TestServer server = await StartBrokerAsync();

        await stopped.Task.WaitAsync(Patience, Cancel);
        // A processor needs a durable topic.
        Assert.Contains(log.Errors, e => e.Contains("durable", StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_host_that_does_not_wait_does_not_start()
    {
        using var log = new RecordedLog();
        await using WebApplication app = Build(
            log,
            new Handler(),
            new TopicSpec("orders") { Kind = TopicKind.Durable },
            waits: false
        );
        LightQException refused = await Assert.ThrowsAsync<LightQException>(() => app.StartAsync(Cancel));
        Assert.Equal(LightQ.Client.ErrorCode.Unavailable, refused.Code);
    }

    [Fact]
    public async Task The_clients_own_lines_become_fewer()
    {
        const int Attempts = 100;
        using var log = new RecordedLog();
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        await using var client = new LightQClient(
            new LightQClientOptions
            {
                DataPort = ((IPEndPoint)listener.LocalEndpoint).Port,
                WaitForBroker = true,
                LoggerFactory = log,
                ReconnectDelay = TimeSpan.FromMilliseconds(1),
                MaxReconnectDelay = TimeSpan.FromMilliseconds(1),
            }
        );
        Task connecting = client.ConnectAsync(Cancel);
        for (int i = 0; i < Attempts; i++)
            (await listener.AcceptTcpClientAsync(Cancel)).Dispose();
        await client.DisposeAsync();
        await Assert.ThrowsAsync<LightQException>(() => connecting);

        // The 1st, 2nd, 4th, 8th … attempt, and where the reason was another one.
        Assert.InRange(log.Lines.Count, 7, Attempts / 2);
    }

    [Fact]
    public async Task Services_that_are_started_one_by_one_begin_as_well()
    {
        await using TestServer server = await StartBrokerAsync();
        using var log = new RecordedLog();
        var handler = new Handler();
        await using WebApplication app = Build(log, handler, new TopicSpec("orders") { Kind = TopicKind.Durable });
        IHostedService[] services =
        [
            .. app.Services.GetServices<IHostedService>().Where(s => s.GetType().Namespace == "LightQ.Client.Hosting"),
        ];
        Assert.Equal(2, services.Length);
        foreach (IHostedService service in services)
            await service.StartAsync(Cancel);

        await using var client = new LightQClient(server.ConnectionString);
        await using Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Cancel);
        await producer.PublishAsync("first"u8, cancellationToken: Cancel);
        Assert.Equal("first", await handler.Handled.WaitAsync(Patience, Cancel));
        foreach (IHostedService service in Enumerable.Reverse(services))
            await service.StopAsync(Cancel);
    }

    private WebApplication Build(RecordedLog log, Handler handler, TopicSpec topic, bool waits = true)
    {
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        builder.Logging.ClearProviders();
        builder.Services.AddSingleton<ILoggerFactory>(log);
        builder.Services.AddLightQ(
            Address,
            options => options with { WaitForBroker = waits, MaxReconnectDelay = TimeSpan.FromMilliseconds(200) }
        );
        builder.Services.AddLightQTopic(topic);
        builder.Services.AddSingleton(handler).AddLightQProcessor<Handler>("orders", "billing");
        builder.Services.AddHealthChecks().AddCheck<LightQHealthCheck>("lightq");
        return builder.Build();
    }

    private Task<TestServer> StartBrokerAsync() =>
        TestServer.StartAsync(o => o with { DataPort = _port, ControlPort = _port + 1, WebPort = _port + 2 });

    private sealed class Handler : IMessageHandler
    {
        private readonly TaskCompletionSource<string> _handled = new(
            TaskCreationOptions.RunContinuationsAsynchronously
        );

        public Task<string> Handled => _handled.Task;

        public Task HandleAsync(ProcessMessageEventArgs args)
        {
            _handled.TrySetResult(args.Message.GetText());
            return Task.CompletedTask;
        }
    }
}
