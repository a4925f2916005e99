using LightQ.Client;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Monitoring;

/// <summary>A real Prometheus with a real broker: rules and dashboard are understood, and what they name is there.</summary>
public sealed class PrometheusTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    /// <summary>What a broker without TLS, tokens and a cluster does not report.</summary>
    private static readonly string[] Conditional =
    [
        "lightq_tls_certificate_end_seconds",
        "lightq_user_token_end_seconds",
        "lightq_cluster_nodes",
        "lightq_cluster_led_partitions",
        "lightq_partition_leader",
        "lightq_partition_epoch",
    ];

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Prometheus_evaluates_every_alert_and_every_panel_of_a_real_broker()
    {
        FaultRun.RequireTier("It starts a Prometheus, and asks it a hundred things.");
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await WorkAsync(client);
        await using PrometheusServer prometheus = await PrometheusServer.StartAsync($"127.0.0.1:{server.WebPort}");

        Assert.All(
            MonitoringFiles.Alerts,
            alert => Assert.True(MonitoringFiles.MetricsOf(alert.Expression).Any() || alert.Name == "LightQBrokerDown")
        );
        foreach (
            string metric in MonitoringFiles
                .Alerts.Select(a => a.Expression)
                .Concat(MonitoringFiles.Queries)
                .SelectMany(MonitoringFiles.MetricsOf)
                .Distinct()
                .Except(Conditional)
        )
        {
            await Eventually.TrueAsync(
                async () => (await prometheus.QueryAsync(metric)).Length > 0,
                Patience,
                () => $"there is no series {metric}"
            );
        }
        foreach ((_, string expression, _) in MonitoringFiles.Alerts)
            await prometheus.QueryAsync(expression);
        foreach (string query in MonitoringFiles.Queries)
            await prometheus.QueryAsync(MonitoringFiles.Filled(query));

        // Something happened, and the panels show it.
        double[] letters = await prometheus.QueryAsync("sum(lightq_topic_dead_letters{topic=\"orders\"})"),
            received = await prometheus.QueryAsync("sum(lightq_topic_messages_received_total{topic=\"orders\"})");
        Assert.Equal((1, 20), (Assert.Single(letters), Assert.Single(received)));
        Assert.True(Assert.Single(await prometheus.QueryAsync("lightq_syncs_total")) > 0);
        Assert.True(Assert.Single(await prometheus.QueryAsync("lightq_sync_time_seconds_total")) > 0);

        await Eventually.TrueAsync(
            async () =>
                (await prometheus.RulesAsync()).Any(r => r is { Name: "LightQGroupHasNoMembers", State: "pending" }),
            Patience,
            () => "the alert of a group without members is not pending"
        );
        (string Name, string State, string Error)[] rules = await prometheus.RulesAsync();
        Assert.Equal(
            MonitoringFiles.Alerts.Select(a => a.Name).Order(StringComparer.Ordinal),
            rules.Select(r => r.Name).Order(StringComparer.Ordinal)
        );
        Assert.All(rules, rule => Assert.Empty(rule.Error));
        Assert.Equal("inactive", rules.Single(r => r.Name == "LightQBrokerDown").State);
    }

    /// <summary>20 messages, one of them dead-lettered, and a group that nobody is a member of any more.</summary>
    private static async Task WorkAsync(LightQClient client)
    {
        await client.Topics.CreateAsync(new TopicSpec("orders") { Kind = TopicKind.Durable }, Cancelled);
        await using Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Cancelled);
        for (int i = 0; i < 20; i++)
            await producer.PublishAsync(BitConverter.GetBytes(i), cancellationToken: Cancelled);
        await using (
            IAsyncEnumerator<Message> orders = client
                .ConsumeAsync(
                    "orders",
                    new ConsumeOptions { Group = "billing", SettleMode = SettleMode.Explicit },
                    Cancelled
                )
                .GetAsyncEnumerator(Cancelled)
        )
        {
            Assert.True(await orders.MoveNextAsync());
            Assert.Equal(SettleOutcome.Done, await orders.Current.DeadLetterAsync("no", Cancelled));
        }
        await Eventually.TrueAsync(
            async () =>
                await client.Groups.GetAsync("orders", "billing", Cancelled) is { DeadLettered: 1, ClientsCount: 0 },
            Patience,
            () => "the message is not dead-lettered"
        );
    }
}
