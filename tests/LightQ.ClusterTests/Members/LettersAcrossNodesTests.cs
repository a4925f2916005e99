using Google.Protobuf;
using Google.Protobuf.WellKnownTypes;
using Grpc.Core;
using Grpc.Net.Client;
using LightQ.Broker.Groups;
using LightQ.IntegrationTests;
using LightQ.IntegrationTests.Control;
using LightQ.Protocol.Control;
using LightQ.Server;
using Xunit;
using Group = LightQ.Protocol.Control.Group;
using Partition = LightQ.Broker.Topics.Partition;
using Retention = LightQ.Client.Retention;
using SettleKind = LightQ.Protocol.Control.SettleKind;
using SettleOutcome = LightQ.Protocol.Control.SettleOutcome;

namespace LightQ.ClusterTests.Members;

/// <summary>Dead letters, and retention of what is settled, where other nodes lead the rest.</summary>
public sealed class LettersAcrossNodesTests : IAsyncLifetime
{
    private ForwardingCluster _cluster = null!;

    public async ValueTask InitializeAsync() => _cluster = await ForwardingCluster.StartAsync();

    public ValueTask DisposeAsync() => _cluster.DisposeAsync();

    [Fact]
    public async Task Letters_reach_their_topic_wherever_it_is_led_and_are_redriven_from_there()
    {
        await _cluster.SpreadAsync("orders", Retention.Settled);
        await PublishAsync();
        await SettleAsync(4, SettleKind.DeadLetter);
        await StoredAsync(4);
        await HeldAsync(hold => hold is { IsDeadLetter: true, Offset: 0 });
        // Both nodes have to send letters to the other one.
        foreach (string leader in new[] { "a", "b" })
        {
            await _cluster.LeadAsync("orders.dead", 0, leader);
            await RedriveAsync(leader == "a" ? _cluster.AtA : _cluster.AtB, 4);
            await RedriveAsync(_cluster.AtA, 0);
            await SettleAsync(4, SettleKind.DeadLetter);
            await StoredAsync(leader == "a" ? 8 : 12);
        }
        await RedriveAsync(_cluster.AtB, 4);
        await SettleAsync(4, SettleKind.Complete);
        // Each leader finds by itself that everything of its partitions is settled.
        await PublishAsync();
        await SettleAsync(4, SettleKind.Complete);
        await HeldAsync(hold => hold is { IsPassing: false, Group: "till" });
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_letter_whose_answer_is_lost_is_stored_once(bool isLate)
    {
        var carrier = new LosingCarrier(_cluster.A.Broker.LetterCarrier!, isLate);
        _cluster.A.Broker.LetterCarrier = carrier;
        await _cluster.SpreadAsync("orders");
        await PublishAsync();
        await SettleAsync(4, SettleKind.DeadLetter);
        await StoredAsync(4);
        await _cluster.LeadAsync("orders.dead", 0, "b");
        carrier.Begin();
        await PublishAsync();
        await SettleAsync(4, SettleKind.DeadLetter);
        await StoredAsync(8);
        Assert.Equal(1, carrier.Lost);
        await RedriveAsync(_cluster.AtB, 8);
    }

    [Fact]
    public async Task Any_node_browses_all_partitions_and_handles_single_letters()
    {
        await _cluster.SpreadAsync("orders");
        await PublishAsync();
        foreach (GrpcChannel channel in new[] { _cluster.AtA, _cluster.AtB })
        {
            BrowseResponse page = await channel.CallAsync<BrowseRequest, BrowseResponse>(
                "Browse",
                new() { Topic = "orders", MaxMessages = 3 }
            );
            Assert.Equal((3, false), (page.Messages.Count, page.AtEnd));
            BrowseResponse rest = await channel.CallAsync<BrowseRequest, BrowseResponse>(
                "Browse",
                new()
                {
                    Topic = "orders",
                    MaxMessages = 3,
                    Next = page.Next,
                }
            );
            Assert.True(rest.AtEnd);
            Assert.Equal(
                Enumerable.Range(0, 4).Select(i => ((uint)i, $"body {i}")),
                page.Messages.Concat(rest.Messages).Select(m => (m.Partition, m.Body.ToStringUtf8()))
            );
        }
        RepublishResponse copy = await _cluster.AtA.CallAsync<RepublishRequest, RepublishResponse>(
            "Republish",
            new()
            {
                Topic = "orders",
                Partition = 1,
                TargetPartition = 3,
            }
        );
        Assert.Equal((3u, 1L), (copy.Position.Partition, copy.Position.Offset));

        await SettleAsync(5, SettleKind.DeadLetter);
        await StoredAsync(5);
        DeadLetter[] letters = await ListAsync(_cluster.AtA, 2);
        Assert.Equal([0L, 1, 2, 3, 4], letters.Select(l => l.Offset));
        Assert.Equal([0u, 1u, 2u, 3u, 3u], letters.Select(l => l.Partition).OrderBy(p => p).AsEnumerable());
        Assert.Equal(letters.Select(l => l.Body), (await ListAsync(_cluster.AtB, 100)).Select(l => l.Body));
        foreach (GrpcChannel channel in new[] { _cluster.AtA, _cluster.AtB })
        {
            long[] chosen = [(await ListAsync(channel, 100))[0].Offset, 99];
            RedriveLettersResponse redriven = await channel.CallAsync<RedriveLettersRequest, RedriveLettersResponse>(
                "RedriveLetters",
                new()
                {
                    Topic = "orders",
                    Group = "till",
                    Offsets = { chosen },
                }
            );
            Assert.Equal([LetterOutcome.Done, LetterOutcome.NotFound], redriven.Results.Select(r => r.Outcome));
        }
        RepublishLetterResponse republished = await _cluster.AtB.CallAsync<
            RepublishLetterRequest,
            RepublishLetterResponse
        >(
            "RepublishLetter",
            new()
            {
                Topic = "orders",
                Group = "till",
                Offset = 2,
                TargetPartition = letters[2].Partition % 2 == 0 ? 1u : 0u,
                Settle = true,
            }
        );
        Assert.Equal((LetterOutcome.Done, ""), (republished.Outcome, republished.Problem));
        Assert.Equal([3L, 4], (await ListAsync(_cluster.AtA, 1)).Select(l => l.Offset));
        // Which letters are settled moves with the partitions.
        for (uint i = 0; i < 4; i++)
            await _cluster.LeadAsync("orders", i, i % 2 == 0 ? "b" : "a");
        Assert.Equal([3L, 4], (await ListAsync(_cluster.AtB, 1)).Select(l => l.Offset));
        await RedriveAsync(_cluster.AtA, 2);
        Assert.Empty(await ListAsync(_cluster.AtA, 100));
    }

    [Fact]
    public async Task Letters_between_nodes_are_no_clients_business()
    {
        await _cluster.SpreadAsync("orders");
        await ControlCalls.FailsAsync(
            () => _cluster.AtA.CallAsync<ReadLettersRequest, ReadLettersResponse>("ReadLetters", new()),
            StatusCode.PermissionDenied,
            "PermissionDenied"
        );
        await ControlCalls.FailsAsync(
            () => _cluster.AtA.CallAsync<AppendLettersRequest, AppendLettersResponse>("AppendLetters", new()),
            StatusCode.PermissionDenied,
            "PermissionDenied"
        );
    }

    private static async Task<DeadLetter[]> ListAsync(GrpcChannel channel, uint pageSize)
    {
        var letters = new List<DeadLetter>();
        ListLettersResponse page = new();
        do
        {
            page = await channel.CallAsync<ListLettersRequest, ListLettersResponse>(
                "ListLetters",
                new()
                {
                    Topic = "orders",
                    Group = "till",
                    StartOffset = page.NextOffset,
                    MaxLetters = pageSize,
                }
            );
            letters.AddRange(page.Letters);
        } while (!page.AtEnd);
        return [.. letters];
    }

    private async Task PublishAsync()
    {
        for (uint i = 0; i < 4; i++)
        {
            await _cluster.AtA.CallAsync<PublishRequest, PublishResponse>(
                "Publish",
                new()
                {
                    Topic = "orders",
                    Partition = i,
                    Messages = { new PublishedMessage { Body = ByteString.CopyFromUtf8($"body {i}") } },
                }
            );
        }
    }

    private async Task SettleAsync(int count, SettleKind kind)
    {
        GrpcChannel channel = _cluster.AtB;
        for (int settled = 0; settled < count; )
        {
            FetchResponse fetched = await channel.CallAsync<FetchRequest, FetchResponse>(
                "Fetch",
                new()
                {
                    Topic = "orders",
                    Group = "till",
                    MaxMessages = (uint)(count - settled),
                    Wait = TimeSpan.FromSeconds(30).ToDuration(),
                }
            );
            Assert.NotEmpty(fetched.Messages);
            SettleResponse done = await channel.CallAsync<SettleRequest, SettleResponse>(
                "Settle",
                new()
                {
                    Topic = "orders",
                    Settlements =
                    {
                        fetched.Messages.Select(m => new FetchedSettlement { Token = m.SettleToken, Kind = kind }),
                    },
                }
            );
            Assert.All(done.Outcomes, outcome => Assert.Equal(SettleOutcome.Done, outcome));
            settled += fetched.Messages.Count;
        }
    }

    /// <summary>Waits until the letters are there, and their originals settled.</summary>
    private async Task StoredAsync(long letters)
    {
        long found = 0;
        Group? group = null;
        await Eventually.TrueAsync(
            async () =>
            {
                if (!_cluster.A.Broker.TryGetTopic("orders.dead", out _))
                    return false;
                found = (
                    await _cluster.AtA.CallAsync<GetTopicRequest, GetTopicResponse>(
                        "GetTopic",
                        new() { Name = "orders.dead" }
                    )
                )
                    .Topic
                    .EndOffsets[0];
                group = (
                    await _cluster.AtB.CallAsync<DescribeGroupRequest, DescribeGroupResponse>(
                        "DescribeGroup",
                        new() { Topic = "orders", Group = "till" }
                    )
                ).Group;
                return found == letters && group.Lag == 0;
            },
            ForwardingCluster.Patience,
            () => $"{found} letters; {group}"
        );
    }

    private static async Task RedriveAsync(GrpcChannel channel, ulong count)
    {
        RedriveGroupResponse redriven = await channel.CallAsync<RedriveGroupRequest, RedriveGroupResponse>(
            "RedriveGroup",
            new() { Topic = "orders", Group = "till" }
        );
        Assert.Equal((count, 0ul), (redriven.Redriven, redriven.Skipped));
    }

    private async Task HeldAsync(Func<RetentionHold, bool> condition)
    {
        foreach (LightQServer server in new[] { _cluster.A, _cluster.B })
        {
            Partition[] led = [.. server.Broker.GetTopic("orders").Partitions.Where(p => p.Refusal is null)];
            Assert.Equal(2, led.Length);
            foreach (Partition partition in led)
            {
                RetentionHold hold = default;
                await Eventually.TrueAsync(
                    () => condition(hold = server.Broker.Groups.SettledRetention.Find(partition)),
                    ForwardingCluster.Patience,
                    () => $"Partition {partition.Index}: {hold}"
                );
            }
        }
    }
}
