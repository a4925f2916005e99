using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Testing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Xunit;

namespace LightQ.IntegrationTests.Hosting;

/// <summary>What does nothing, or undoes what another has done, is said.</summary>
public sealed class SharedTopicTests
{
    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Services_that_want_a_topic_otherwise_say_what_they_change_what_they_leave_and_what_they_refuse()
    {
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Cancel);
        TopicSpec mine = new("orders") { MaxDeliveries = 5 },
            theirs = new("orders") { MaxDeliveries = 7, LockDuration = TimeSpan.FromMinutes(1) };

        using RecordedLog created = await StartAsync(broker, mine, EnsureMode.Create);
        Assert.Single(await created.HasAsync("The topic orders was created.", 1));

        using RecordedLog changed = await StartAsync(broker, theirs, EnsureMode.Change);
        string line = Assert.Single(await changed.HasAsync("The topic orders had other settings", 1));
        Assert.Contains("max_deliveries from 5 to 7", line, StringComparison.Ordinal);
        Assert.Contains("lock_duration from ", line, StringComparison.Ordinal);

        using RecordedLog left = await StartAsync(broker, mine, EnsureMode.Create);
        line = Assert.Single(await left.HasAsync("was left as it is", 1));
        Assert.Contains("max_deliveries from 7 to 5", line, StringComparison.Ordinal);

        LightQException refused = await Assert.ThrowsAsync<LightQException>(() =>
            StartAsync(broker, mine, EnsureMode.Check)
        );
        Assert.Equal(ErrorCode.TopicExists, refused.Code);
        Assert.Equal(
            "The topic 'orders' has other settings, and is not to be changed: max_deliveries is 7, not 5.",
            refused.Message
        );
        LightQException missing = await Assert.ThrowsAsync<LightQException>(() =>
            StartAsync(broker, new TopicSpec("returns"), EnsureMode.Check)
        );
        Assert.Equal(ErrorCode.UnknownTopic, missing.Code);

        using RecordedLog same = await StartAsync(broker, theirs, EnsureMode.Check);
        Assert.DoesNotContain(same.Lines, l => l.Level >= LogLevel.Warning);
        await using LightQClient client = broker.CreateClient();
        Assert.Equal(7, (await client.Topics.GetAsync("orders", Cancel)).Spec.MaxDeliveries);
    }

    [Fact]
    public async Task An_id_that_the_topic_does_not_look_at_is_said_by_the_ack_and_once_by_the_log()
    {
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Cancel);
        using var log = new RecordedLog();
        await using LightQClient client = broker.CreateClient(o => o with { LoggerFactory = log });
        await client.Topics.CreateAsync(new TopicSpec("orders") { Partitions = 2 }, Cancel);
        await client.Topics.CreateAsync(new TopicSpec("once") { DedupWindow = TimeSpan.FromMinutes(1) }, Cancel);
        await using (Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Cancel))
        {
            for (int i = 0; i < 8; i++)
            {
                PublishAck stored = await producer.PublishAsync(
                    "paid"u8.ToArray(),
                    new PublishOptions { MessageId = "payment-1" },
                    key: $"{i}",
                    cancellationToken: Cancel
                );
                Assert.True(stored.IsIdUnchecked);
            }
            PublishAck plain = await producer.PublishAsync("paid"u8.ToArray(), cancellationToken: Cancel);
            Assert.False(plain.IsIdUnchecked);
        }
        Assert.Single(await log.HasAsync("Messages of orders are published with ids, and the topic looks at none", 1));

        for (int i = 0; i < 2; i++)
        {
            PublishAck ack = await client.PublishAsync(
                "once",
                "paid"u8.ToArray(),
                options: new() { MessageId = "payment-1" },
                cancellationToken: Cancel
            );
            Assert.Equal((i != 0, false), (ack.IsDuplicate, ack.IsIdUnchecked));
        }
        Assert.DoesNotContain(log.Lines, l => l.Message.Contains("Messages of once", StringComparison.Ordinal));
    }

    private static async Task<RecordedLog> StartAsync(LightQTestBroker broker, TopicSpec topic, EnsureMode mode)
    {
        var log = new RecordedLog();
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(null);
        builder.Services.AddSingleton<ILoggerFactory>(log).AddLightQ("lightq://localhost").UseLightQ(broker);
        builder.Services.AddLightQTopic(topic, mode: mode);
        using IHost host = builder.Build();
        await host.StartAsync(Cancel);
        await host.StopAsync(Cancel);
        return log;
    }
}
