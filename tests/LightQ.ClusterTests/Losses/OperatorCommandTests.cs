using System.Globalization;
using System.Net;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.ClusterTests.Backups;
using LightQ.ClusterTests.Faults;
using LightQ.ClusterTests.Nats;
using LightQ.IntegrationTests;
using LightQ.IntegrationTests.Cli;
using LightQ.Replication.Nats;
using LightQ.Tests.Shared;
using NATS.Client.JetStream.Models;
using Xunit;

namespace LightQ.ClusterTests.Losses;

/// <summary>
/// What operators do behind the brokers' back to the streams of real nats-servers, and the commands that bring it back.
/// </summary>
[Collection(NatsTests.Name)]
public sealed class OperatorCommandTests(NatsFixture nats, OperatorClusterFixture shared)
    : IClassFixture<OperatorClusterFixture>
{
    private const int Messages = 80,
        Warnings = 4,
        Unconfirmed = 3,
        Unavailable = 69,
        WrongConfiguration = 78;

    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(2);

    private OperatorClusterFixture _on = shared;

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    private string ClusterName => _on.Name;

    private BrokerCluster Cluster => _on.Cluster;

    private JetStreamEngine Engine => _on.Engine;

    private LightQClient Users => _on.Client;

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Streams_that_were_purged_or_deleted_are_written_anew_by_repair()
    {
        FaultRun.RequireTier("Three brokers start, twice.");
        await _on.StartAsync();
        TopicInfo topic = await CreateAsync("orders");
        await TopicContents.PublishAsync(Users, "orders", 0, Messages);
        SortedDictionary<(int, long), string> before = await TopicContents.ReadAsync(Users, "orders", Messages);

        await PurgeAsync(StreamOf(topic, 0));
        await StatusAsync("stream-damaged", "orders/0");
        LightQException refused = await Assert.ThrowsAsync<LightQException>(() =>
            TopicContents.PublishAsync(Users, "orders", Messages, 1, partition: 0)
        );
        Assert.Equal(ErrorCode.TopicFailed, refused.Code);
        Assert.Equal(before, await TopicContents.ReadAsync(Users, "orders", Messages));
        Assert.Equal(Unconfirmed, (await ToolAsync("cluster", "repair", "orders")).ExitCode);
        Assert.Contains("written", (await ToolAsync("cluster", "repair", "orders", "--yes")).Succeeded().Text);
        await StatusAsync();
        await TopicContents.PublishAsync(Users, "orders", Messages, 1, partition: 0);
        before = await TopicContents.ReadAsync(Users, "orders", Messages + 1);

        // One is gone and the other empty, and no broker runs that has seen it whole.
        ClusterBroker?[] leaders = await Cluster.LeadersAsync("orders");
        ClusterBroker empty = Cluster.Brokers.First(broker => !leaders.Contains(broker));
        foreach (ClusterBroker broker in Cluster.Brokers)
            await broker.KillAsync();
        await Engine.DeleteStreamAsync(StreamOf(topic, 0), Cancelled);
        await Engine.DeleteStreamAsync(StreamOf(topic, 1), Cancelled);
        await Engine.CreateStreamAsync(StreamOf(topic, 1), 3, Cancelled);
        // The first to come back has no copy, and takes neither for a partition without messages.
        Directory.Delete(empty.Directory, recursive: true);
        await empty.StartAsync();
        await StatusAsync("stream-damaged", "orders/0");
        await StatusAsync("stream-damaged", "orders/1");
        await Task.WhenAll(Cluster.Brokers.Where(b => b != empty).Select(broker => broker.StartAsync()));
        await HearAllAsync();
        (await ToolAsync("cluster", "repair", "orders", "--yes")).Succeeded();
        await StatusAsync();
        Assert.Equal(before, await TopicContents.ReadAsync(Users, "orders", Messages + 1));
        Assert.Contains("nothing was changed", (await ToolAsync("cluster", "repair", "orders")).Succeeded().Text);

        await MoveAllAsync("b1");
        Assert.Contains("orders", (await ToolAsync("cluster", "balance", "--plan")).Text);
        Assert.Equal(before, await TopicContents.ReadAsync(Users, "orders", Messages + 1));
        (await ToolAsync("cluster", "balance")).Succeeded();
        await Cluster.SettleAsync(Users, "orders");
        Assert.Contains("evenly", (await ToolAsync("cluster", "balance", "--plan")).Succeeded().Text);
        Assert.Equal(before, await TopicContents.ReadAsync(Users, "orders", Messages + 1));
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_catalog_that_was_deleted_is_written_anew_by_repair()
    {
        FaultRun.RequireTier("Three brokers start.");
        await _on.StartAsync();
        await CreateAsync("stock");
        await TopicContents.PublishAsync(Users, "stock", 0, Messages);
        ClusterBroker absent = Cluster.Brokers[2];
        await absent.KillAsync();
        await Engine.DeleteStreamAsync($"LQ_{ClusterName}_catalog", Cancelled);
        foreach (ClusterBroker broker in Cluster.Brokers.Where(b => b != absent))
            await ReadyAsync(broker, HttpStatusCode.ServiceUnavailable);
        await StatusAsync("catalog-lost", "catalog");
        (await ToolAsync("topic", "create", "bills")).FailedLastWith(Unavailable);
        (await ToolAsync("cluster", "repair", "--catalog")).FailedLastWith(Unconfirmed);
        (await ToolAsync("cluster", "repair", "--catalog", "--yes")).Succeeded();
        // Another broker may know more, as what was stored just before; where none does, this changes nothing.
        foreach (ClusterBroker broker in Cluster.Brokers.Where(b => b != absent))
        {
            (await LightQTool.RunAsync(AddressOf(broker), "cluster", "repair", "--catalog", "--yes")).Succeeded();
        }

        await absent.StartAsync();
        foreach (ClusterBroker broker in Cluster.Brokers)
            await ReadyAsync(broker, HttpStatusCode.OK);
        await StatusAsync();
        await CreateAsync("bills");
        await TopicContents.PublishAsync(Users, "stock", Messages, 1);
        Assert.Equal(Messages + 1, (await TopicContents.ReadAsync(Users, "stock", Messages + 1)).Count);
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "N")]
    public async Task When_catalog_and_directories_are_lost_a_new_cluster_begins_and_the_streams_are_removed()
    {
        FaultRun.RequireLongRun("Streams of no topic are named after half a minute.");
        // Of its own: everything is lost.
        await using OperatorClusterFixture own = new(nats);
        _on = own;
        await _on.StartAsync();
        TopicInfo topic = await CreateAsync("orders");
        string[] streams = [StreamOf(topic, 0), StreamOf(topic, 1)];
        foreach (ClusterBroker broker in Cluster.Brokers)
        {
            await broker.KillAsync();
            Directory.Delete(broker.Directory, recursive: true);
        }
        await Engine.DeleteStreamAsync($"LQ_{ClusterName}_catalog", Cancelled);
        (string, string)[] settings =
        [
            ("LIGHTQ__Cluster__Engine", string.Join(',', nats.Cluster.Addresses)),
            ("LIGHTQ__Cluster__Name", ClusterName),
            ("LIGHTQ__Cluster__RequireSync", "false"),
        ];
        ToolResult refused = await LightQTool.RunWithAsync(
            [.. settings, ("LIGHTQ__DataDirectory", Cluster.Brokers[0].Directory)],
            "server"
        );
        Assert.Equal(WrongConfiguration, refused.ExitCode);
        Assert.Contains(streams[0], refused.Errors, StringComparison.Ordinal);
        Assert.Contains("lightq cluster init", refused.Errors, StringComparison.Ordinal);

        (await LightQTool.RunWithAsync(settings, "cluster", "init")).FailedLastWith(Unconfirmed);
        (await LightQTool.RunWithAsync(settings, "cluster", "init", "--yes")).Succeeded();
        await Task.WhenAll(Cluster.Brokers.Select(broker => broker.StartAsync()));
        await StatusAsync("unknown-streams", streams[1]);
        (await ToolAsync("cluster", "remove-stream", streams[0])).FailedLastWith(Unconfirmed);
        (await ToolAsync("cluster", "remove-stream", streams[0], streams[1], "--yes")).Succeeded();
        await StatusAsync();
        Assert.All(
            streams,
            async name => Assert.False((await Engine.GetStream(name).ExamineAsync(Cancelled)).IsThere, name)
        );
        await CreateAsync("orders");
        await TopicContents.PublishAsync(Users, "orders", 0, 1);
    }

    private string StreamOf(TopicInfo topic, int partition) =>
        string.Create(CultureInfo.InvariantCulture, $"LQ_{ClusterName}_{topic.Id}_{partition}");

    private static string AddressOf(ClusterBroker broker) =>
        FormattableString.Invariant($"lightq://{broker.DataAddress}?control={broker.ControlPort}");

    private Task<ToolResult> ToolAsync(params string[] arguments) =>
        LightQTool.RunAsync(Cluster.ConnectionString, arguments);

    private async Task<TopicInfo> CreateAsync(string name)
    {
        (
            await ToolAsync("topic", "create", name, "--kind", "durable", "--replicas", "3", "--partitions", "2")
        ).Succeeded();
        await Cluster.SettleAsync(Users, name);
        return await Users.Topics.GetAsync(name, Cancelled);
    }

    private async Task PurgeAsync(string stream) =>
        await Engine.Api.PurgeStreamAsync(stream, new StreamPurgeRequest(), Cancelled);

    private async Task MoveAllAsync(string node)
    {
        foreach (string partition in new[] { "orders/0", "orders/1" })
            (await ToolAsync("cluster", "move", partition, node)).Succeeded();
    }

    private async Task HearAllAsync()
    {
        int live = 0;
        await Eventually.TrueAsync(
            async () =>
            {
                Client.Administration.ClusterInfo cluster = await Users.Cluster.GetAsync(cancellationToken: Cancelled);
                live = cluster.Nodes.Count(node => node.State == NodeState.Alive);
                return live == Cluster.Brokers.Count;
            },
            Patience,
            () => $"{live} nodes are heard of.\n{Cluster.Logs()}"
        );
    }

    /// <summary>Waits until the status says that something is wrong, or that nothing is.</summary>
    /// <remarks>The client looks first: tools, one after the other, would leave the brokers no processor.</remarks>
    private async Task StatusAsync(params string[] says)
    {
        ToolResult? status = null;
        string known = "";
        await Eventually.TrueAsync(
            async () =>
            {
                known = await ConditionsAsync();
                bool isSo =
                    says.Length == 0
                        ? known.Length == 0
                        : says.All(word => known.Contains(word, StringComparison.Ordinal));
                if (!isSo)
                    return false;
                status = await ToolAsync("cluster", "status");
                return says.Length == 0
                    ? status.ExitCode == 0
                    : status.ExitCode == Warnings
                        && says.All(word => status.Text.Contains(word, StringComparison.Ordinal));
            },
            Patience,
            () => $"{known}; {status?.ExitCode}: {status?.Text}{status?.Errors}\n{Cluster.Logs()}"
        );
    }

    private async Task<string> ConditionsAsync()
    {
        try
        {
            Client.Administration.ClusterInfo cluster = await Users.Cluster.GetAsync(cancellationToken: Cancelled);
            return string.Join(", ", cluster.Conditions.Select(c => $"{c.Kind} {c.Subject} {c.Detail}"));
        }
        catch (LightQException e)
        {
            return e.Message;
        }
    }

    private static async Task ReadyAsync(ClusterBroker broker, HttpStatusCode code)
    {
        using var http = new HttpClient();
        string body = "";
        await Eventually.TrueAsync(
            async () =>
            {
                using HttpResponseMessage answer = await http.GetAsync(
                    new Uri($"http://127.0.0.1:{broker.WebPort}/healthz/ready"),
                    Cancelled
                );
                body = await answer.Content.ReadAsStringAsync(Cancelled);
                return answer.StatusCode == code;
            },
            Patience,
            () => $"{broker.Name}: {body}\n{broker.Log}"
        );
    }
}
