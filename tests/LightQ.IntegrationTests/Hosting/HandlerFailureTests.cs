using System.Buffers;
using System.Collections.Concurrent;
using System.Text;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using LightQ.Client;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Xunit;

namespace LightQ.IntegrationTests.Hosting;

/// <summary>Handlers that cannot be made: the host fails or waits, and no message is blamed.</summary>
public sealed class HandlerFailureTests
{
    private const int Jobs = 20;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public static TheoryData<string, string> NotMade =>
        new()
        {
            { "handler", "Unable to resolve service for type 'System.Version' while attempting to activate" },
            { "values", "Unable to resolve service for type 'System.Version' while attempting to activate" },
            { "keyed", "Unable to resolve service for type 'System.Version' while attempting to activate" },
            { "singleton", "from singleton" },
            { "contract", "JsonTypeInfo metadata for type" },
            { "abstract", "abstract types is not supported" },
            { "constructor", "no file" },
            { "factory", "no file" },
            { "scope", "no file" },
        };

    public static TheoryData<string> Breaks => ["constructor", "factory", "scope", "serializer"];

    [Theory]
    [MemberData(nameof(NotMade))]
    public async Task A_handler_that_cannot_be_made_fails_the_start_with_the_reason(string what, string reason)
    {
        await using TestServer server = await TestServer.StartAsync();
        await PublishAsync(server);
        var broken = new Switch { IsBroken = true };
        HostApplicationBuilder builder = BuilderOf(server, broken);
        IServiceCollection services = builder.Services;
        _ = what switch
        {
            "handler" => services.AddLightQProcessor<Needy>("jobs", "workers"),
            "values" => services.AddLightQProcessor<Needy, string>("jobs", "workers", MessageSerializer.Text),
            "keyed" => services.AddLightQProcessor<Keyed>("jobs", "workers"),
            "singleton" => services
                .AddScoped<Scoped>()
                .AddSingleton<Captor>()
                .AddLightQProcessor<Captor>("jobs", "workers"),
            "contract" => services.AddLightQProcessor<Orders, Order>(
                "jobs",
                "workers",
                new JsonMessageSerializer<Order>(
                    (JsonTypeInfo<Order>)
                        new JsonSerializerOptions { TypeInfoResolver = new Without(typeof(Item)) }.GetTypeInfo(
                            typeof(Order)
                        )
                )
            ),
            "abstract" => services.AddLightQProcessor<Shapes, Shape>(
                "jobs",
                "workers",
                new JsonMessageSerializer<Shape>(JsonSerializerOptions.Default)
            ),
            "constructor" => services.AddLightQProcessor<Fragile>("jobs", "workers"),
            "factory" => services
                .AddScoped<Fragile>(_ => throw new IOException("no file"))
                .AddLightQProcessor<Fragile>("jobs", "workers"),
            _ => services.AddScoped<BadEnd>().AddLightQProcessor<Ending>("jobs", "workers"),
        };
        using IHost host = builder.Build();

        InvalidOperationException error = await Assert.ThrowsAsync<InvalidOperationException>(() =>
            host.StartAsync(Cancel)
        );

        Assert.Contains(" of jobs for workers ", error.Message, StringComparison.Ordinal);
        Assert.Contains(reason, error.Message, StringComparison.Ordinal);
        await using var client = new LightQClient(server.ConnectionString);
        Assert.Empty(server.Broker.GetTopic("jobs").Partitions[0].Groups());
    }

    [Theory]
    [MemberData(nameof(Breaks))]
    public async Task A_handler_that_cannot_be_made_later_turns_health_red_and_costs_no_delivery(string what)
    {
        await using TestServer server = await TestServer.StartAsync();
        await PublishAsync(server, maxDeliveries: 1, jobs: 0);
        var state = new Switch();
        HostApplicationBuilder builder = BuilderOf(server, state);
        _ = what switch
        {
            "constructor" => builder.Services.AddLightQProcessor<Fragile>(
                "jobs",
                "workers",
                new() { MaxConcurrency = 3 }
            ),
            "factory" => builder
                .Services.AddScoped(_ => state.IsBroken ? throw new IOException("no file") : new Version())
                .AddLightQProcessor<Needy>("jobs", "workers"),
            "scope" => builder.Services.AddScoped<BadEnd>().AddLightQProcessor<Ending>("jobs", "workers"),
            _ => builder.Services.AddLightQProcessor<Needless, string>("jobs", "workers", new Registry(state)),
        };
        using IHost host = builder.Build();
        await host.StartAsync(Cancel);
        Assert.Equal(HealthStatus.Healthy, (await HealthAsync(host)).Status);
        state.IsBroken = true;

        await PublishAsync(server, maxDeliveries: 1);

        HealthReportEntry health = default;
        await Eventually.TrueAsync(
            async () => (health = await HealthAsync(host)).Status == HealthStatus.Unhealthy,
            Patience,
            () => "green"
        );
        Assert.StartsWith("The processor of jobs for workers handles nothing: ", health.Description);
        Assert.Contains("no file", health.Description, StringComparison.Ordinal);
        state.IsBroken = false;
        await Eventually.TrueAsync(
            () => state.Handled.Select(h => h.Offset).Distinct().Count() == Jobs,
            Patience,
            () => $"{state.Handled.Count} handled"
        );
        await Eventually.TrueAsync(
            async () => (health = await HealthAsync(host)).Status == HealthStatus.Healthy,
            Patience,
            () => health.Description ?? ""
        );
        Assert.All(state.Handled, h => Assert.Equal(1, h.Count));
        await using var client = new LightQClient(server.ConnectionString);
        Assert.Equal(0, (await client.Groups.GetAsync("jobs", "workers", Cancel)).DeadLettered);
        await host.StopAsync(Cancel);
    }

    [Fact]
    public async Task A_body_that_is_no_value_is_blamed_and_holds_up_nothing()
    {
        await using TestServer server = await TestServer.StartAsync();
        await PublishAsync(server, maxDeliveries: 1);
        var state = new Switch();
        HostApplicationBuilder builder = BuilderOf(server, state);
        var json = new JsonMessageSerializer<Order>(JsonSerializerOptions.Default);
        builder.Services.AddLightQProcessor<Orders, Order>("jobs", "workers", json);
        using IHost host = builder.Build();
        await host.StartAsync(Cancel);

        await using var client = new LightQClient(server.ConnectionString);
        await Eventually.TrueAsync(
            async () => (await client.Groups.GetAsync("jobs", "workers", Cancel)).DeadLettered == Jobs,
            Patience,
            () => "they are not dead-lettered"
        );
        Assert.Equal(HealthStatus.Healthy, (await HealthAsync(host)).Status);
        await host.StopAsync(Cancel);
    }

    [Fact]
    public async Task A_loop_of_values_ends_where_its_serializer_cannot_read_anything()
    {
        await using TestServer server = await TestServer.StartAsync();
        await PublishAsync(server, maxDeliveries: 1);
        await using var client = new LightQClient(server.ConnectionString);
        var options = new ConsumeOptions { Group = "workers", SettleMode = SettleMode.Explicit };

        await Assert.ThrowsAsync<UnusableSerializerException>(async () =>
        {
            var registry = new Registry(new Switch { IsBroken = true });
            await foreach (Message<string> message in client.ConsumeAsync("jobs", registry, options, Cancel))
                await message.Raw.DeadLetterAsync(message.Error!.Message, Cancel);
        });

        await foreach (Message<string> message in client.ConsumeAsync("jobs", MessageSerializer.Text, options, Cancel))
        {
            Assert.Equal(1, message.Raw.DeliveryCount);
            await message.Raw.CompleteAsync(Cancel);
            if (message.Raw.Offset == Jobs - 1)
                break;
        }
    }

    [Fact]
    public async Task Several_processors_may_have_one_handler_and_one_that_is_open()
    {
        await using TestServer server = await TestServer.StartAsync();
        await PublishAsync(server);
        var state = new Switch();
        HostApplicationBuilder builder = BuilderOf(server, state);
        builder
            .Services.AddSingleton(typeof(Open<>))
            .AddLightQProcessor<Open<int>>("jobs", "first")
            .AddLightQProcessor<Open<int>>("jobs", "second")
            .AddLightQProcessor<Fragile>("jobs", "third");
        using IHost host = builder.Build();
        await host.StartAsync(Cancel);

        await Eventually.TrueAsync(() => state.Handled.Count == 3 * Jobs, Patience, () => $"{state.Handled.Count}");
        Assert.Equal(1, Open<int>.Made);
        await host.StopAsync(Cancel);
    }

    private static HostApplicationBuilder BuilderOf(TestServer server, Switch state)
    {
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(null);
        builder.ConfigureContainer(
            new DefaultServiceProviderFactory(new ServiceProviderOptions { ValidateScopes = true })
        );
        builder.Services.AddSingleton(state).AddLightQ(server.ConnectionString);
        builder.Services.AddHealthChecks().AddLightQ();
        return builder;
    }

    private static async Task<HealthReportEntry> HealthAsync(IHost host) =>
        (await host.Services.GetRequiredService<HealthCheckService>().CheckHealthAsync(Cancel)).Entries["lightq"];

    private static async Task PublishAsync(TestServer server, int maxDeliveries = 1, int jobs = Jobs)
    {
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.EnsureAsync(
            new TopicSpec("jobs") { Kind = TopicKind.Durable, MaxDeliveries = maxDeliveries },
            Cancel
        );
        await using Producer producer = await client.CreateProducerAsync("jobs", cancellationToken: Cancel);
        for (int i = 0; i < jobs; i++)
            Assert.True(producer.TryPublish(Encoding.UTF8.GetBytes($"job {i}")));
        await producer.FlushAsync(Cancel);
    }

    private abstract class Shape;

    private sealed class Switch
    {
        private volatile bool _isBroken;

        public bool IsBroken
        {
            get => _isBroken;
            set => _isBroken = value;
        }

        public ConcurrentQueue<(long Offset, int Count)> Handled { get; } = new();

        public Task Handle(ProcessMessageEventArgs args)
        {
            Handled.Enqueue((args.Message.Offset, args.Message.DeliveryCount));
            return Task.CompletedTask;
        }
    }

    private sealed class Needy(Version version, Switch state) : IMessageHandler, IMessageHandler<string>
    {
        public Version Version => version;

        public Task HandleAsync(ProcessMessageEventArgs args) => state.Handle(args);

        public Task HandleAsync(string value, ProcessMessageEventArgs args) => state.Handle(args);
    }

    private sealed class Keyed([FromKeyedServices("old")] Version version) : IMessageHandler
    {
        public Version Version => version;

        public Task HandleAsync(ProcessMessageEventArgs args) => Task.CompletedTask;
    }

    private sealed class Scoped;

    private sealed class Captor(Scoped scoped) : IMessageHandler
    {
        public Scoped Scoped => scoped;

        public Task HandleAsync(ProcessMessageEventArgs args) => Task.CompletedTask;
    }

    private sealed class Needless(Switch state) : IMessageHandler<string>
    {
        public Task HandleAsync(string value, ProcessMessageEventArgs args) => state.Handle(args);
    }

    private sealed record Item(string Name);

    private sealed record Order(Item Item);

    private sealed class Orders : IMessageHandler<Order>
    {
        public Task HandleAsync(Order value, ProcessMessageEventArgs args) => Task.CompletedTask;
    }

    private sealed class Shapes : IMessageHandler<Shape>
    {
        public Task HandleAsync(Shape value, ProcessMessageEventArgs args) => Task.CompletedTask;
    }

    private sealed class Fragile : IMessageHandler
    {
        private readonly Switch _state;

        public Fragile(Switch state) => _state = state.IsBroken ? throw new IOException("no file") : state;

        public Task HandleAsync(ProcessMessageEventArgs args) => _state.Handle(args);
    }

    private sealed class BadEnd(Switch state) : IDisposable
    {
        public Switch State => state;

        public void Dispose()
        {
            if (state.IsBroken)
                throw new IOException("no file");
        }
    }

    private sealed class Ending(BadEnd end) : IMessageHandler
    {
        public Task HandleAsync(ProcessMessageEventArgs args) => end.State.Handle(args);
    }

    private sealed class Open<T> : IMessageHandler
    {
        private readonly Switch _state;

        public Open(Switch state)
        {
            _state = state;
            Made++;
        }

        public static int Made { get; private set; }

        public Task HandleAsync(ProcessMessageEventArgs args) => _state.Handle(args);
    }

    /// <summary>Text by a schema that has to be fetched first.</summary>
    private sealed class Registry(Switch state) : IMessageSerializer<string>
    {
        public string ContentType => "text/plain";

        public void EnsureCanRead()
        {
            if (state.IsBroken)
                throw new IOException("no file");
        }

        public void Serialize(string value, IBufferWriter<byte> body) => MessageSerializer.Text.Serialize(value, body);

        public string Deserialize(ReadOnlySpan<byte> body)
        {
            EnsureCanRead();
            return MessageSerializer.Text.Deserialize(body);
        }
    }

    /// <summary>Contracts by reflection, without that of one type.</summary>
    private sealed class Without(Type type) : IJsonTypeInfoResolver
    {
        private readonly DefaultJsonTypeInfoResolver _all = new();

        public JsonTypeInfo? GetTypeInfo(Type wanted, JsonSerializerOptions options) =>
            wanted == type ? null : _all.GetTypeInfo(wanted, options);
    }
}
