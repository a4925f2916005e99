using System.Collections.Concurrent;
using LightQ.Client;
using LightQ.Testing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Xunit;

namespace LightQ.IntegrationTests.Hosting;

/// <summary>What goes wrong with the messages of a worker is said by its log, its health and its broker.</summary>
public sealed class SilentFailureTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_handler_that_begins_beside_one_that_was_said_to_run_long_is_said_in_its_turn()
    {
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Cancel);
        using var log = new RecordedLog();
        var handler = new Work(static args => Task.Delay(Timeout.Infinite, CancellationToken.None));
        var options = new ProcessorOptions { MaxConcurrency = 2, DrainTimeout = TimeSpan.Zero };
        using IHost host = Build(broker, log, handler, new TopicSpec("orders"), options);
        await host.StartAsync(Cancel);
        await PublishAsync(broker, "first");
        await handler.HasBegunAsync(1);
        broker.Time.Advance(TimeSpan.FromSeconds(31));
        await log.HasAsync("longer than a lock", 1);

        await PublishAsync(broker, "second");
        await handler.HasBegunAsync(2);
        broker.Time.Advance(TimeSpan.FromSeconds(61));

        Assert.Contains(
            await log.HasAsync("longer than a lock", 2),
            line => line.Contains("key k-second", StringComparison.Ordinal)
        );
        await host.StopAsync(Cancel);
    }

    [Fact]
    public async Task Handlers_that_never_return_are_said_before_and_after_their_locks_are_lost()
    {
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Cancel);
        using var log = new RecordedLog();
        var handler = new Work(static args => Task.Delay(Timeout.Infinite, CancellationToken.None));
        var options = new ProcessorOptions { MaxConcurrency = 2, DrainTimeout = TimeSpan.Zero };
        using IHost host = Build(broker, log, handler, new TopicSpec("orders"), options);
        await host.StartAsync(Cancel);
        await PublishAsync(broker, "first", "second", "third");
        await handler.HasBegunAsync(2);

        broker.Time.Advance(TimeSpan.FromSeconds(30));

        string[] slow = await log.HasAsync("has run for 30 s, longer than a lock", 2);
        Assert.Contains(
            slow,
            line =>
                line.Contains(
                    "(partition 0, offset 0, key k-first, message id first, delivery 1 of 10)",
                    StringComparison.Ordinal
                )
        );
        Assert.Equal(HealthStatus.Healthy, (await HealthOf(host)).Status); // MaxLockRenewal gives it more time.

        broker.Time.Advance(TimeSpan.FromMinutes(5));

        string[] stuck = await log.HasAsync("is renewed for billing no longer", 2);
        Assert.Contains(stuck, line => line.Contains("of 2 stays taken", StringComparison.Ordinal));
        string full = Assert.Single(await log.HasAsync("The processor of orders for billing handles nothing: ", 1));
        Assert.Contains("none of the 2 handlers has ended in time", full, StringComparison.Ordinal);
        HealthReportEntry health = await HealthOf(host);
        Assert.Equal(HealthStatus.Unhealthy, health.Status);
        Assert.Contains("none of the 2 handlers has ended in time", health.Description, StringComparison.Ordinal);

        await using LightQClient client = broker.CreateClient();
        await Eventually.TrueAsync(
            async () =>
                (await client.Groups.ExplainAsync("orders", "billing", Cancel)).Any(static reason =>
                    reason.Text.StartsWith(
                        "the group has completed nothing for 5.5 min; the lowest message that is " + "held is offset ",
                        StringComparison.Ordinal
                    )
                ),
            Patience,
            () => "explain says nothing of the standstill"
        );

        await host.StopAsync(Cancel);
        Assert.Single(await log.HasAsync("2 handlers have not ended in time", 1));
        Assert.Single(await log.HasAsync("has stopped, and 2 handlers still run", 1));
    }

    [Fact]
    public async Task Each_failure_says_when_its_message_comes_again_and_the_last_is_an_error_of_its_own()
    {
        using var brokersLog = new RecordedLog();
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(
            loggers: brokersLog,
            cancellationToken: Cancel
        );
        using var log = new RecordedLog();
        var handler = new Work(static args =>
            args.Message.DeliveryCount < 3 ? throw new FormatException("no price") : throw new TimeoutException("late")
        );
        var topic = new TopicSpec("orders")
        {
            MaxDeliveries = 3,
            RetryDelay = TimeSpan.FromMilliseconds(1),
            MaxRetryDelay = TimeSpan.FromMilliseconds(2),
        };
        using IHost host = Build(broker, log, handler, topic, new ProcessorOptions());
        await host.StartAsync(Cancel);
        await PublishAsync(broker, "first");

        string last = Assert.Single(await log.HasAsync("has failed for the last time", 1));
        Assert.Equal(
            "A message of orders has failed for the last time and becomes a dead letter of billing (partition 0, "
                + "offset 0, key k-first, message id first, delivery 3 of 3): TimeoutException: late",
            last
        );
        const string Place = "(Handler, partition 0, offset 0, key k-first, message id first, delivery ";
        Assert.Single(await log.HasAsync($"failed {Place}1 of 3). It is redelivered in 0.001 s.", 1));
        Assert.Single(
            await log.HasAsync($"failed again {Place}2 of 3): FormatException: no price It is redelivered", 1)
        );
        Assert.Single(await log.HasAsync($"failed {Place}3 of 3). That was its last delivery.", 1));
        string told = Assert.Single(await brokersLog.HasAsync("have become dead letters of billing", 1));
        Assert.Equal(
            "1 messages of orders, partition 0, from offset 0 on, have become dead letters of billing, in orders.dead, "
                + "after 3 deliveries: delivered 3 times without being completed: TimeoutException: late (0 others "
                + "since the last line)",
            told
        );
        await host.StopAsync(Cancel);
    }

    [Fact]
    public async Task A_normal_stop_is_no_warning_on_either_side()
    {
        using var brokersLog = new RecordedLog();
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(
            loggers: brokersLog,
            cancellationToken: Cancel
        );
        using var log = new RecordedLog();
        var handler = new Work(static _ => Task.CompletedTask);
        using (IHost host = Build(broker, log, handler, new TopicSpec("orders"), new() { MaxConcurrency = 2 }))
        {
            await host.StartAsync(Cancel);
            await PublishAsync(broker, "first");
            await handler.HasBegunAsync(1);
            await host.StopAsync(Cancel);
        }

        Assert.DoesNotContain(log.Lines, line => line.Level >= LogLevel.Warning);
        Assert.DoesNotContain(brokersLog.Lines, line => line.Level >= LogLevel.Warning);
    }

    private static async Task<HealthReportEntry> HealthOf(IHost host) =>
        (await host.Services.GetRequiredService<HealthCheckService>().CheckHealthAsync(Cancel)).Entries["lightq"];

    private static async Task PublishAsync(LightQTestBroker broker, params string[] orders)
    {
        await using LightQClient client = broker.CreateClient();
        foreach (string order in orders)
        {
            await client.PublishAsync(
                "orders",
                order,
                MessageSerializer.Text,
                key: $"k-{order}",
                options: new() { MessageId = order },
                cancellationToken: Cancel
            );
        }
    }

    private static IHost Build(
        LightQTestBroker broker,
        RecordedLog log,
        Work handler,
        TopicSpec topic,
        ProcessorOptions options
    )
    {
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(null);
        builder.Services.AddSingleton<ILoggerFactory>(log).AddSingleton(handler);
        builder.Services.AddLightQ("lightq://localhost").UseLightQ(broker);
        builder.Services.AddLightQTopic(topic).AddLightQProcessor<Work>("orders", "billing", options);
        builder.Services.AddHealthChecks().AddLightQ();
        // For handlers that never return.
        builder.Services.Configure<HostOptions>(o => o.ShutdownTimeout = TimeSpan.FromMilliseconds(200));
        return builder.Build();
    }

    private sealed class Work(Func<ProcessMessageEventArgs, Task> handle) : IMessageHandler
    {
        private readonly ConcurrentQueue<long> _begun = new();

        public Task HandleAsync(ProcessMessageEventArgs args)
        {
            _begun.Enqueue(args.Message.Offset);
            return handle(args);
        }

        public Task HasBegunAsync(int count) =>
            Eventually.TrueAsync(() => _begun.Count >= count, Patience, () => $"{_begun.Count} handlers have begun");
    }
}
