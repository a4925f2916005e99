using LightQ.Broker.Replication;
using LightQ.Replication.Nats;
using NATS.Client.JetStream.Models;
using Xunit;

namespace LightQ.ClusterTests.Engine;

/// <summary>What is wrong with the servers, by what they, the streams and the account say.</summary>
public sealed class InspectionTests
{
    private enum Peer
    {
        Current,
        Behind,
        Offline,
    }

    [Fact]
    public void Nothing_is_wrong_with_servers_that_store_and_streams_that_are_whole() =>
        Assert.Empty(
            EngineInspection.Find([Server("n1"), Server("n2"), Server("n3")], [Stream()], Account(10, limit: 100))
        );

    [Fact]
    public void A_server_that_has_switched_JetStream_off_is_told_once_and_that_it_must_be_restarted()
    {
        EngineProblem found = Assert.Single(
            EngineInspection.Find(
                [Server("n1"), Server("n2"), Server("n3") with { HasJetStream = false }],
                [Stream(("n2", Peer.Current), ("n3", Peer.Offline))],
                account: null
            )
        );
        Assert.Equal((EngineProblemKind.NodeOff, "n3"), (found.Kind, found.Subject));
        Assert.Contains("JetStream switched off", found.Detail, StringComparison.Ordinal);
        Assert.Contains("restart that nats-server", found.Remedy, StringComparison.Ordinal);
    }

    [Fact]
    public void Without_monitoring_the_leaders_of_streams_tell_who_is_offline_and_who_lags()
    {
        List<EngineProblem> found = EngineInspection.Find(
            [],
            [
                Stream(("n2", Peer.Current), ("n3", Peer.Offline)),
                Stream(("n2", Peer.Behind), ("n3", Peer.Offline)),
                Stream(("n2", Peer.Current), ("n3", Peer.Current)),
            ],
            account: null
        );
        Assert.Equal(
            [(EngineProblemKind.ReplicaLags, "n2"), (EngineProblemKind.NodeOffline, "n3")],
            found.Select(p => (p.Kind, p.Subject))
        );
        Assert.Contains("2 of 3 streams", found[1].Detail, StringComparison.Ordinal);
    }

    [Fact]
    public void A_server_whose_monitoring_port_does_not_answer_is_told()
    {
        EngineProblem found = Assert.Single(
            EngineInspection.Find([Server("n1"), Server("n2") with { Failure = "Connection refused." }], [], null)
        );
        Assert.Equal((EngineProblemKind.NodeOffline, "n2:8222"), (found.Kind, found.Subject));
        Assert.EndsWith("does not answer there: Connection refused", found.Detail, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(899, null)]
    [InlineData(900, EngineProblemKind.LimitNear)]
    [InlineData(1000, EngineProblemKind.LimitReached)]
    public void Limits_are_told_when_they_are_near_with_the_figures(long used, EngineProblemKind? kind)
    {
        EngineProblemKind?[] kinds =
        [
            Kind(EngineInspection.Find([Server("n1") with { Storage = used, MaxStorage = 1000 }], [], null)),
            Kind(EngineInspection.Find([Server("n1") with { Memory = used, MaxMemory = 1000 }], [], null)),
            Kind(EngineInspection.Find([], [], Account(used, limit: 1000))),
        ];
        Assert.All(kinds, found => Assert.Equal(kind, found));

        static EngineProblemKind? Kind(List<EngineProblem> found) => found is [var one] ? one.Kind : null;
    }

    [Fact]
    public void A_stream_without_a_leader_is_told() =>
        Assert.Equal(
            EngineProblemKind.NoLeader,
            Assert.Single(EngineInspection.Find([], [new StreamInfo { Cluster = new ClusterInfo() }], null)).Kind
        );

    [Theory]
    [InlineData(10002, "account resource limits exceeded", true)]
    [InlineData(10023, "insufficient resources", true)]
    [InlineData(10028, "insufficient memory resources available", true)]
    [InlineData(10047, "insufficient storage resources available", true)]
    [InlineData(10077, "write /data/1.blk: no space left on device", true)]
    [InlineData(10077, "something else", false)]
    [InlineData(10008, "JetStream system temporarily unavailable", false)]
    public void An_append_that_a_limit_stops_is_full_and_not_lost(int code, string description, bool isFull)
    {
        EntryAppend append = JetStreamStream.Judge(
            "s",
            new LightQ.Replication.Nats.PublishAck("s", 0, Duplicate: false, new(503, code, description)),
            expectedLast: 3
        );
        Assert.Equal(isFull ? AppendOutcome.Full : AppendOutcome.Unknown, append.Outcome);
        Assert.Contains(description, append.Reason, StringComparison.Ordinal);
    }

    private static MonitoredServer Server(string name) =>
        new()
        {
            Address = new Uri($"http://{name}:8222"),
            Id = name,
            Name = name,
            Version = "2.12.3",
            HasJetStream = true,
            ClusterSize = 3,
        };

    private static StreamInfo Stream(params (string Name, Peer State)[] replicas) =>
        new()
        {
            Cluster = new ClusterInfo
            {
                Leader = "n1",
                Replicas =
                [
                    .. replicas.Select(r => new PeerInfo
                    {
                        Name = r.Name,
                        Current = r.State == Peer.Current,
                        Offline = r.State == Peer.Offline,
                        Lag = r.State == Peer.Behind ? 5ul : 0,
                    }),
                ],
            },
        };

    private static AccountInfoResponse Account(long used, long limit) =>
        new()
        {
            Storage = (ulong)used,
            Limits = new AccountLimits { MaxStorage = limit },
        };
}
