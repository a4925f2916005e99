using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Tests.Shared;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Xunit;
using Order = LightQ.IntegrationTests.Docs.Order;
using ShopJson = LightQ.IntegrationTests.Docs.ShopJson;

namespace LightQ.IntegrationTests.Delivery;

/// <summary>
/// A producer from dependency injection: when it opens, what it does when it is fenced, what its health is, and when it
/// ends.
/// </summary>
public sealed class HostedProducerTests
{
    private const string Name = "checkout-1";
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);
    private static readonly JsonMessageSerializer<Order> Json = new(ShopJson.Default.Order);
    private static readonly Order Any = new("42", 9.99m);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task It_is_open_when_the_services_of_the_host_start_and_until_they_have_stopped()
    {
        await using TestServer server = await StartServerAsync();
        var eager = new Eager();
        using IHost host = Build(
            server.ConnectionString,
            services => services.AddHostedService(eager.With).AddLightQProducer("orders", Json)
        );
        await host.StartAsync(Cancel);
        await host.StopAsync(Cancel);

        Assert.Equal([0, 1], eager.Offsets);
        IProducer<Order> orders = host.Services.GetRequiredService<IProducer<Order>>();
        Assert.Equal(
            ErrorCode.Closed,
            (
                await Assert.ThrowsAsync<LightQException>(async () =>
                    await orders.PublishAsync(Any, cancellationToken: Cancel)
                )
            ).Code
        );
    }

    [Fact]
    public async Task A_host_whose_producer_is_refused_does_not_start()
    {
        await using TestServer server = await StartServerAsync();
        using IHost host = Build(server.ConnectionString, services => services.AddLightQProducer("order", Json));
        Assert.Equal(
            ErrorCode.UnknownTopic,
            (await Assert.ThrowsAsync<LightQException>(() => host.StartAsync(Cancel))).Code
        );
    }

    [Fact]
    public async Task One_that_is_fenced_fails_and_is_unhealthy()
    {
        await using TestServer server = await StartServerAsync();
        using IHost host = Build(
            server.ConnectionString,
            services => services.AddLightQProducer("orders", Json, new() { Name = Name })
        );
        await host.StartAsync(Cancel);
        IProducer<Order> orders = host.Services.GetRequiredService<IProducer<Order>>();
        await orders.PublishAsync(Any, cancellationToken: Cancel);
        Assert.Equal(HealthStatus.Healthy, (await CheckAsync(host)).Status);

        await FenceAsync(server);

        for (int i = 0; i < 2; i++)
            Assert.Equal(ErrorCode.Fenced, await FailureAsync(orders));
        HealthReportEntry health = await CheckAsync(host);
        Assert.Equal(HealthStatus.Unhealthy, health.Status);
        Assert.StartsWith("The producer of orders has failed (Fenced): ", health.Description, StringComparison.Ordinal);
        await host.StopAsync(Cancel);
    }

    [Fact]
    public async Task One_that_is_to_take_over_does_so_and_no_more_often_than_allowed()
    {
        var time = new ManualTime();
        await using TestServer server = await StartServerAsync();
        using IHost host = Build(
            server.ConnectionString,
            services =>
                services.AddLightQProducer(
                    "orders",
                    Json,
                    new() { Name = Name, DisposeTimeout = TimeSpan.Zero },
                    FencedAction.TakeOver
                ),
            options => options with { TimeProvider = time }
        );
        await host.StartAsync(Cancel);
        IProducer<Order> orders = host.Services.GetRequiredService<IProducer<Order>>();

        await FenceAsync(server);
        Assert.Equal(ErrorCode.Fenced, await FailureAsync(orders));
        Assert.Equal(1, (await orders.PublishAsync(Any, cancellationToken: Cancel)).Offset);

        await FenceAsync(server);
        Assert.Equal(ErrorCode.Fenced, await FailureAsync(orders));
        Assert.Equal(ErrorCode.Fenced, await FailureAsync(orders));
        time.Advance(host.Services.GetRequiredService<LightQClient>().Options.MaxReconnectDelay);
        // The look at its health is enough: where nothing comes to an unhealthy host, nothing is published there.
        await Eventually.TrueAsync(
            async () => (await CheckAsync(host)).Status == HealthStatus.Healthy,
            Patience,
            () => "nothing took over"
        );
        Assert.Equal(3, (await orders.PublishAsync(Any, cancellationToken: Cancel)).Offset);
        await host.StopAsync(Cancel);
    }

    [Fact]
    public async Task One_whose_topic_is_deleted_is_unhealthy()
    {
        await using TestServer server = await StartServerAsync();
        using IHost host = Build(server.ConnectionString, services => services.AddLightQProducer("orders", Json));
        await host.StartAsync(Cancel);
        await using (var admin = new LightQClient(server.ConnectionString))
            await admin.Topics.DeleteAsync("orders", cancellationToken: Cancel);
        await Eventually.TrueAsync(
            async () => (await CheckAsync(host)).Status == HealthStatus.Unhealthy,
            Patience,
            () => "it counts as healthy"
        );
        Assert.StartsWith(
            "The producer of orders has failed (TopicDeleted): ",
            (await CheckAsync(host)).Description,
            StringComparison.Ordinal
        );
        await host.StopAsync(Cancel);
    }

    [Fact]
    public async Task One_whose_topic_is_made_anew_opens_itself_again()
    {
        await using TestServer server = await StartServerAsync();
        using IHost host = Build(
            server.ConnectionString,
            services => services.AddLightQProducer("orders", Json),
            options => options with { MaxReconnectDelay = TimeSpan.FromMilliseconds(20) }
        );
        await host.StartAsync(Cancel);
        LightQClient client = host.Services.GetRequiredService<LightQClient>();
        int ended = 0;
        client.ProducerEnded += (_, args) =>
        {
            Assert.Equal(("orders", ErrorCode.TopicDeleted), (args.Topic, args.Reason.Code));
            Interlocked.Increment(ref ended);
        };
        IProducer<Order> orders = host.Services.GetRequiredService<IProducer<Order>>();
        for (int round = 1; round <= 3; round++)
        {
            Assert.Equal(0, (await orders.PublishAsync(Any, cancellationToken: Cancel)).Offset);
            await client.Topics.DeleteAsync("orders", cancellationToken: Cancel);
            await HealthAsync(host, HealthStatus.Unhealthy);
            for (int i = 0; i < 3; i++)
                Assert.Equal(ErrorCode.TopicDeleted, await FailureAsync(orders));
            Assert.Equal(HealthStatus.Unhealthy, (await CheckAsync(host)).Status);
            await server.CreateTopicAsync("orders", LightQ.Broker.Topics.TopicKind.Durable);
            await HealthAsync(host, HealthStatus.Healthy);
            await Eventually.TrueAsync(() => Volatile.Read(ref ended) == round, Patience, () => $"{ended} ends");
        }
        Assert.Equal(0, (await orders.PublishAsync(Any, cancellationToken: Cancel)).Offset);
        await host.StopAsync(Cancel);
    }

    [Fact]
    public async Task One_whose_right_was_taken_away_opens_itself_again_when_it_is_given_back()
    {
        await using TestServer server = await TestServer.StartAsync(o => o with { RequireAuth = true });
        await server.CreateTopicAsync("orders", LightQ.Broker.Topics.TopicKind.Durable);
        await using var admin = new LightQClient(
            LightQClientOptions.Parse(server.ConnectionString) with
            {
                User = "admin",
                Password = server.AdminPassword,
            }
        );
        await admin.Users.CreateAsync("alice", "a long password", Cancel);
        await admin.Users.GrantAsync("alice", UserRight.Publish, "orders", Cancel);
        using IHost host = Build(
            server.ConnectionString,
            services => services.AddLightQProducer("orders", Json, new() { Name = Name }),
            options =>
                options with
                {
                    User = "alice",
                    Password = "a long password",
                    MaxReconnectDelay = TimeSpan.FromMilliseconds(20),
                }
        );
        await host.StartAsync(Cancel);
        IProducer<Order> orders = host.Services.GetRequiredService<IProducer<Order>>();
        Assert.Equal(0, (await orders.PublishAsync(Any, cancellationToken: Cancel)).Offset);
        await admin.Users.RevokeAsync("alice", UserRight.Publish, "orders", Cancel);
        await HealthAsync(host, HealthStatus.Unhealthy);
        Assert.Equal(ErrorCode.PermissionDenied, await FailureAsync(orders));
        await admin.Users.GrantAsync("alice", UserRight.Publish, "orders", Cancel);
        await HealthAsync(host, HealthStatus.Healthy);
        Assert.Equal(1, (await orders.PublishAsync(Any, cancellationToken: Cancel)).Offset);
        await host.StopAsync(Cancel);
    }

    [Fact]
    public async Task A_host_stops_while_its_producer_cannot_be_opened_again()
    {
        await using TestServer server = await StartServerAsync();
        using IHost host = Build(server.ConnectionString, services => services.AddLightQProducer("orders", Json));
        await host.StartAsync(Cancel);
        await using (var other = new LightQClient(server.ConnectionString))
            await other.Topics.DeleteAsync("orders", cancellationToken: Cancel);
        await HealthAsync(host, HealthStatus.Unhealthy);
        await host.StopAsync(Cancel).WaitAsync(Patience, Cancel);
        IProducer<Order> orders = host.Services.GetRequiredService<IProducer<Order>>();
        await Eventually.TrueAsync(
            async () => await FailureAsync(orders) == ErrorCode.Closed,
            Patience,
            () => "it is not closed"
        );
    }

    [Fact]
    public async Task A_delay_that_its_topic_does_not_take_ends_nothing()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders");
        using IHost host = Build(server.ConnectionString, services => services.AddLightQProducer("orders", Json));
        await host.StartAsync(Cancel);
        IProducer<Order> orders = host.Services.GetRequiredService<IProducer<Order>>();
        var later = new PublishOptions { Delay = TimeSpan.FromSeconds(1) };
        LightQException refused = await Assert.ThrowsAsync<LightQException>(async () =>
            await orders.PublishAsync(Any, options: later, cancellationToken: Cancel)
        );
        Assert.Equal(ErrorCode.NotSupported, refused.Code);
        Assert.Equal(0, (await orders.PublishAsync(Any, cancellationToken: Cancel)).Offset);
        Assert.Equal(HealthStatus.Healthy, (await CheckAsync(host)).Status);
        await host.StopAsync(Cancel);
    }

    [Fact]
    public async Task What_is_published_before_the_broker_is_there_waits_for_it_or_for_its_token()
    {
        int port = FreePorts.Find(3);
        using IHost host = Build(
            $"lightq://127.0.0.1:{port}?control={port + 1}",
            services =>
                services
                    .AddLightQTopic(new TopicSpec("orders") { Kind = TopicKind.Durable })
                    .AddLightQProducer("orders", Json),
            options => options with { WaitForBroker = true, MaxReconnectDelay = TimeSpan.FromMilliseconds(100) }
        );
        await host.StartAsync(Cancel);
        IProducer<Order> orders = host.Services.GetRequiredService<IProducer<Order>>();
        using var aborted = new CancellationTokenSource();
        ValueTask<PublishAck> cancelled = orders.PublishAsync(Any, cancellationToken: aborted.Token);
        ValueTask<PublishAck> waiting = orders.PublishAsync(Any, cancellationToken: Cancel);
        await aborted.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(async () => await cancelled);
        Assert.False(waiting.IsCompleted);

        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                DataPort = port,
                ControlPort = port + 1,
                WebPort = port + 2,
            }
        );

        Assert.Equal(0, (await waiting.AsTask().WaitAsync(Patience, Cancel)).Offset);
        await host.StopAsync(Cancel);
    }

    [Fact]
    public async Task What_is_published_as_it_opens_overtakes_nothing()
    {
        await using TestServer server = await StartServerAsync();
        for (int round = 0; round < 5; round++)
        {
            using IHost host = Build(server.ConnectionString, services => services.AddLightQProducer("orders", Json));
            IProducer<Order> orders = host.Services.GetRequiredService<IProducer<Order>>();
            Task<long[]> publishing = Task.Run(
                () =>
                    UnawaitedPublishes.OffsetsAsync(i => orders.PublishAsync(Any, cancellationToken: Cancel), Patience),
                Cancel
            );
            await host.StartAsync(Cancel);
            long[] offsets = await publishing;
            Assert.Equal(offsets.Order(), offsets);
            await host.StopAsync(Cancel);
        }
    }

    [Fact]
    public async Task What_waits_for_the_broker_when_the_host_stops_fails_at_once()
    {
        int port = FreePorts.Find(2);
        using IHost host = Build(
            $"lightq://127.0.0.1:{port}?control={port + 1}",
            services => services.AddLightQProducer("orders", Json),
            options => options with { WaitForBroker = true }
        );
        await host.StartAsync(Cancel);
        Task<ErrorCode> waiting = FailureAsync(host.Services.GetRequiredService<IProducer<Order>>());
        await host.StopAsync(Cancel);
        Assert.Equal(ErrorCode.Closed, await waiting.WaitAsync(Patience, Cancel));
    }

    [Fact]
    public void What_cannot_work_is_said_at_the_registration()
    {
        IServiceCollection services = new ServiceCollection()
            .AddLightQ("lightq://queue")
            .AddLightQProducer("orders", Json)
            .AddKeyedLightQProducer("a", "orders", Json);
        Assert.Contains(
            "AddKeyedLightQProducer",
            Assert.Throws<InvalidOperationException>(() => services.AddLightQProducer("returns", Json)).Message,
            StringComparison.Ordinal
        );
        Assert.Contains(
            "'a'",
            Assert
                .Throws<InvalidOperationException>(() => services.AddKeyedLightQProducer("a", "returns", Json))
                .Message,
            StringComparison.Ordinal
        );
        Assert.Contains(
            "name",
            Assert
                .Throws<ArgumentException>(() =>
                    services.AddKeyedLightQProducer("b", "orders", Json, whenFenced: FencedAction.TakeOver)
                )
                .Message,
            StringComparison.Ordinal
        );
        Assert.Throws<ArgumentException>(() => services.AddKeyedLightQProducer("c", "no topic", Json));
        using ServiceProvider provider = new ServiceCollection()
            .AddLightQ("lightq://queue")
            .AddLightQProducer<Order>("orders")
            .BuildServiceProvider();
        Assert.NotNull(provider.GetRequiredService<IProducer<Order>>()); // With the client's default.
    }

    private static async Task<TestServer> StartServerAsync()
    {
        TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders", LightQ.Broker.Topics.TopicKind.Durable);
        return server;
    }

    private static IHost Build(
        string connectionString,
        Action<IServiceCollection> register,
        Func<LightQClientOptions, LightQClientOptions>? configure = null
    )
    {
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(null);
        builder.Logging.ClearProviders();
        builder.Services.AddLightQ(connectionString, configure).AddHealthChecks().AddCheck<LightQHealthCheck>("lightq");
        register(builder.Services);
        return builder.Build();
    }

    private static async Task<HealthReportEntry> CheckAsync(IHost host) =>
        (await host.Services.GetRequiredService<HealthCheckService>().CheckHealthAsync(Cancel)).Entries["lightq"];

    private static Task HealthAsync(IHost host, HealthStatus wanted) =>
        Eventually.TrueAsync(
            async () => (await CheckAsync(host)).Status == wanted,
            Patience,
            () => $"it does not become {wanted}"
        );

    /// <summary>Another producer of the name, which publishes one message.</summary>
    private static async Task FenceAsync(TestServer server)
    {
        await using var other = new LightQClient(server.ConnectionString);
        await using Producer<Order> producer = await other.CreateProducerAsync(
            "orders",
            Json,
            new() { Name = Name },
            Cancel
        );
        await producer.PublishAsync(Any, cancellationToken: Cancel);
    }

    private static async Task<ErrorCode> FailureAsync(IProducer<Order> orders) =>
        (
            await Assert.ThrowsAsync<LightQException>(async () =>
                await orders.PublishAsync(Any, cancellationToken: Cancel)
            )
        ).Code;

    /// <summary>Publishes when it starts and when it stops.</summary>
    private sealed class Eager : IHostedService
    {
        private IProducer<Order> _orders = null!;

        public List<long> Offsets { get; } = [];

        public Eager With(IServiceProvider services)
        {
            _orders = services.GetRequiredService<IProducer<Order>>();
            return this;
        }

        public Task StartAsync(CancellationToken cancellationToken) => PublishAsync();

        public Task StopAsync(CancellationToken cancellationToken) => PublishAsync();

        private async Task PublishAsync() =>
            Offsets.Add((await _orders.PublishAsync(Any, cancellationToken: Cancel)).Offset);
    }
}
