using System.Globalization;
using LightQ.Broker.Replication;
using LightQ.ClusterTests.Nats;
using LightQ.Replication.Nats;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.ClusterTests.Engine;

/// <summary>Servers that stand still or are killed: what is stored stays, and no outcome is made up.</summary>
public sealed class FaultTests(NatsFixture nats) : EngineTest(nats)
{
    private static readonly TimeSpan Short = TimeSpan.FromMilliseconds(200);

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task The_chain_goes_on_when_the_streams_leader_stands_still(bool wakes)
    {
        FaultRun.RequireTier("The servers elect a leader, which takes them some ten seconds.");
        // A leader of before that wakes with an append still to do overwrites what was confirmed meanwhile, on one
        // replica or on all: seen in one of four runs with 2.9.10.
        Assert.SkipWhen(
            wakes && ServerVersion < new Version(2, 11),
            $"nats-server {ServerVersion} takes entries from leaders of the past (nats-server#5661)."
        );
        IReplicatedStream stream = await CreateAsync();
        List<string> maybe = ["unknown"];
        Stored first = await AppendAsync(stream, 0, "first");
        stream = (await ConnectAsync(TimeSpan.FromSeconds(1), TimeSpan.FromSeconds(0.5))).GetStream(stream.Name);
        int leader = await LeaderOfAsync(stream);
        try
        {
            await Cluster.StopAsync(leader);
            EntryAppend append = await stream.AppendAsync(EntryKind.Data, Payload("unknown"), 1, Cancellation);
            Assert.Equal(AppendOutcome.Unknown, append.Outcome);

            // The other two elect a leader.
            maybe.AddRange(await AppendAtLastAsync(stream, "meanwhile"));
            string meanwhile = maybe[^1];
            if (wakes)
                await Cluster.ContinueAsync(leader);
            else
                await Cluster.KillAsync(leader);
            maybe.AddRange(await AppendAtLastAsync(stream, "afterwards"));
            string afterwards = maybe[^1];

            await Cluster.HealAsync();
            List<Stored> read = await ReadAsync(Engine.GetStream(stream.Name));
            Assert.Equal(first, read[0]);
            Assert.Equal(Enumerable.Range(1, read.Count), read.Select(entry => (int)entry.Sequence));
            string[] texts = [.. read.Skip(1).Select(entry => entry.Text)];
            Assert.Equal(texts.Distinct(), texts);
            Assert.Empty(texts.Except(maybe));
            Assert.Contains(meanwhile, texts);
            Assert.Equal(afterwards, texts[^1]);
        }
        finally
        {
            await Cluster.HealAsync();
        }
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task What_is_stored_is_there_when_all_servers_were_killed()
    {
        FaultRun.RequireTier("The servers start again, which takes them some ten seconds.");
        IReplicatedStream stream = await CreateAsync();
        List<Stored> entries = [];
        for (ulong last = 0; last < 100; last++)
            entries.Add(await AppendAsync(stream, last, $"{last}"));
        stream = (await ConnectAsync(TimeSpan.FromSeconds(1), TimeSpan.FromSeconds(0.5))).GetStream(stream.Name);
        try
        {
            for (int server = 0; server < NatsCluster.Servers; server++)
                await Cluster.KillAsync(server);
            EntryAppend append = await stream.AppendAsync(EntryKind.Data, Payload("unknown"), 100, Cancellation);
            Assert.Equal(AppendOutcome.Unknown, append.Outcome);
            await Assert.ThrowsAsync<ReplicationException>(async () => await stream.GetBoundsAsync(Cancellation));
            await Assert.ThrowsAsync<ReplicationException>(() => ReadAsync(stream));
        }
        finally
        {
            await Cluster.HealAsync();
        }

        stream = Engine.GetStream(stream.Name);
        List<string> tried = await AppendAtLastAsync(stream, "again");
        List<Stored> read = await ReadAsync(stream);
        Assert.Equal(entries, read.Take(100));
        Assert.Equal(tried[^1], read[^1].Text);
        Assert.Empty(read.Skip(100).Select(entry => entry.Text).Except([.. tried, "unknown"]));
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_purge_takes_nothing_else_when_a_server_starts_again()
    {
        FaultRun.RequireTier("A server starts again, which takes it some seconds.");
        (IReplicatedStream stream, List<Stored> entries) = await FillAsync();
        await stream.PurgeAsync(EntryKind.Positions, 11, Cancellation);
        await AppendMoreAsync(stream, entries);
        if (ServerVersion >= new Version(2, 9, 18))
            entries.RemoveAll(entry => entry.Kind == EntryKind.Positions && entry.Sequence < 11);
        await Cluster.RestartAsync((await LeaderOfAsync(stream) + 1) % NatsCluster.Servers);
        Assert.Equal(entries, await ReadAsync(stream));
        foreach (ReplicaState replica in await Cluster.ReadReplicasAsync(stream.Name))
            Assert.Equal((1ul, (ulong)entries.Count), (replica.First, replica.Messages));
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_replica_that_has_lost_its_front_is_not_taken_for_the_stream()
    {
        FaultRun.RequireTier("A server starts again, which takes it some seconds.");
        Assert.SkipWhen(
            ServerVersion >= new Version(2, 9, 18),
            $"nats-server {ServerVersion} cannot be made to lose it (nats-server#4196)."
        );
        (IReplicatedStream stream, List<Stored> entries) = await FillAsync();
        await PurgeAsync(stream, EntryKind.Positions, 11);
        await AppendMoreAsync(stream, entries);
        entries.RemoveAll(entry => entry.Kind == EntryKind.Positions && entry.Sequence < 11);
        await Cluster.RestartAsync((await LeaderOfAsync(stream) + 1) % NatsCluster.Servers);
        List<ReplicaState> replicas = await Cluster.ReadReplicasAsync(stream.Name);
        Assert.Contains(replicas, replica => replica.First > 1);
        // Each read is of the replica that some server chooses.
        for (int i = 0; i < 10; i++)
            Assert.Equal(entries, await ReadAsync(stream));
    }

    [Fact]
    public async Task A_late_answer_is_not_taken_for_another_appends()
    {
        IReplicatedStream hasty = await CreateAsync(await ConnectAsync(Short, Short));
        IReplicatedStream stream = Engine.GetStream(hasty.Name);
        List<Stored> stored = [];
        // A round counts if it was the leader that stood still: a busy machine may just have elected another.
        for (int round = 0, counting = 0; counting < 5; round++)
        {
            Assert.True(round < 20, $"Only {counting} of {round} rounds had a leader that stood still.");
            bool counts = true;
            ulong last = (await stream.GetBoundsAsync(Cancellation)).Last;
            int leader = await LeaderOfAsync(stream);
            try
            {
                // Shorter than the others wait before they elect another.
                await Cluster.StopAsync(leader);
                for (int i = 0; i < 2; i++)
                {
                    EntryAppend late = await hasty.AppendAsync(
                        EntryKind.Data,
                        Payload($"late {round} {i}"),
                        last,
                        Cancellation
                    );
                    if (late.Outcome == AppendOutcome.Stored)
                        stored.Add(new(late.Sequence, EntryKind.Data, $"late {round} {i}"));
                    counts &= late.Outcome != AppendOutcome.Stored;
                }
                counting += counts ? 1 : 0;
            }
            finally
            {
                await Cluster.ContinueAsync(leader);
            }

            // The answers to those arrive while these wait for theirs.
            for (int i = 0; i < 3; i++)
            {
                string text = $"prompt {round} {i}";
                EntryAppend append = await hasty.AppendAsync(EntryKind.Data, Payload(text), last, Cancellation);
                if (append.Outcome == AppendOutcome.Stored)
                    stored.Add(new(append.Sequence, EntryKind.Data, text));
            }
        }

        await Cluster.HealAsync();
        List<Stored> read = await ReadAsync(stream);
        Assert.Equal(stored, read.Where(stored.Contains));
        Assert.Equal(read.Select(entry => entry.Text).Distinct(), read.Select(entry => entry.Text));
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_read_that_a_server_is_lost_to_has_no_hole()
    {
        FaultRun.RequireTier("The engine elects another leader in some seconds.");
        const int Count = 60;
        IReplicatedStream stream = await CreateAsync();
        List<Stored> entries = [];
        for (int i = 0; i < Count; i++)
        {
            string text = i.ToString(CultureInfo.InvariantCulture) + new string('x', 1000 * i);
            entries.Add(await AppendAsync(stream, (ulong)i, text));
        }

        IReplicatedStream hasty = (await ConnectAsync(Short, Short)).GetStream(stream.Name);
        for (int server = 0; server < NatsCluster.Servers; server++)
        {
            List<Stored> read = [];
            try
            {
                await foreach (StreamEntry entry in hasty.ReadAsync(1, Count, Cancellation))
                {
                    read.Add(Of(entry));
                    if (read.Count == 4)
                        await Cluster.StopAsync(server);
                }
                Assert.Equal(Count, read.Count);
            }
            catch (ReplicationException)
            {
                // It was the leader, or the server that the client is connected to.
            }
            finally
            {
                await Cluster.HealAsync();
            }
            Assert.Equal(entries.Take(read.Count), read);
            Assert.Equal(entries, await ReadAsync(stream));
        }
    }

    [Fact]
    public async Task Nobody_connects_to_where_no_server_is()
    {
        int port = LightQ.IntegrationTests.FreePorts.Find(1);
        var options = new NatsEngineOptions { Servers = [$"nats://127.0.0.1:{port}"], ChangeTimeout = Short };
        ReplicationException failure = await Assert.ThrowsAsync<ReplicationException>(async () =>
            await JetStreamEngine.ConnectAsync(options, Cancellation)
        );
        Assert.Contains($"127.0.0.1:{port}", failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Servers_that_are_slow_to_answer_are_asked_again()
    {
        await using var proxy = new Faults.HoldingProxy(Cluster.Ports[0]);
        proxy.Cut();
        var options = new NatsEngineOptions
        {
            Servers = [$"nats://127.0.0.1:{proxy.Port}"],
            ChangeTimeout = TimeSpan.FromSeconds(30),
        };
        Task<JetStreamEngine> connecting = JetStreamEngine.ConnectAsync(options, Cancellation).AsTask();
        await Task.Delay(TimeSpan.FromSeconds(1.5), Cancellation); // Longer than an attempt.
        Assert.False(connecting.IsCompleted);
        proxy.Heal();
        await (await connecting).DisposeAsync();
    }

    /// <summary>A stream of 20 entries, every second of them positions.</summary>
    private async Task<(IReplicatedStream Stream, List<Stored> Entries)> FillAsync()
    {
        IReplicatedStream stream = await CreateAsync();
        List<Stored> entries = [];
        await AppendMoreAsync(stream, entries);
        return (stream, entries);
    }

    /// <summary>Appends 20 entries: a server that starts again does anew what lies in front of others.</summary>
    private static async Task AppendMoreAsync(IReplicatedStream stream, List<Stored> entries)
    {
        for (int i = 0; i < 20; i++)
        {
            EntryKind kind = i % 2 == 0 ? EntryKind.Data : EntryKind.Positions;
            ulong last = entries.Count == 0 ? 0 : entries[^1].Sequence;
            entries.Add(await AppendAsync(stream, last, $"{last}", kind));
        }
    }
}
