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
