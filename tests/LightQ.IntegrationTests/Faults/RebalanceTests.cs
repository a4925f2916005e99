using System.Buffers.Binary;
using LightQ.Client;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>G2: members join and leave all the time, under load.</summary>
[Collection(FaultCollection.Name)]
[Trait("Fault", "G2")]
[Trait("Tier", "C")]
public sealed class RebalanceTests
{
    private const int Partitions = 8,
        MembersAtOnce = 4,
        Keys = 64;
    private const string Topic = "clicks";
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(4);
    private static readonly ConsumeOptions Membership = new()
    {
        Group = "counters",
        SettleMode = SettleMode.Explicit,
        MaxInFlight = 32,
    };

    [Fact]
    public async Task Nothing_is_lost_order_by_key_is_kept_and_no_partition_has_two_members()
    {
        var run = new FaultRun("G2", "members of a group over 8 partitions join and leave under load");
        int joins = FaultRun.Times(plain: 16, c: 1_000, n: 20_000);
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(
            new TopicSpec(Topic)
            {
                Kind = TopicKind.Durable,
                Partitions = Partitions,
                LockDuration = TimeSpan.FromMinutes(30),
            },
            TestContext.Current.CancellationToken
        );
        using var publishing = CancellationTokenSource.CreateLinkedTokenSource(TestContext.Current.CancellationToken);
        Task<long[]> published = PublishAsync(client, publishing.Token);
        var account = new Account();

        await Task.WhenAll(
                Enumerable
                    .Range(0, MembersAtOnce)
                    .Select(slot => JoinAndLeaveAsync(server, run.RandomFor(slot), joins / MembersAtOnce, account))
            )
            .WaitAsync(Patience, TestContext.Current.CancellationToken);
        await publishing.CancelAsync();
        long[] counts = await published;
        using var drained = CancellationTokenSource.CreateLinkedTokenSource(TestContext.Current.CancellationToken);
        Task last = ConsumeAsync(client, account, int.MaxValue, drained.Token);
        await Eventually.TrueAsync(
            () => account.Processed >= counts.Sum(),
            Patience,
            () => $"{account.Processed} of {counts.Sum()} processed; seed {run.Seed}"
        );
        await drained.CancelAsync();
        await last;

        run.Figure("joins", joins);
        run.Figure("published", counts.Sum());
        run.Figure("lost", counts.Sum() - account.Processed);
        run.Figure("delivered again", account.Again);
        run.Figure("out of order", account.OutOfOrder);
        run.Figure("at two members", account.Shared);
        run.Report();
        Assert.True(
            account.OutOfOrder == 0,
            $"{account.OutOfOrder} messages overtook others of their key; seed {run.Seed}"
        );
        Assert.True(account.Shared == 0, $"{account.Shared} times a partition was in two hands; seed {run.Seed}");
        Assert.Equal(counts, account.NextByKey);
    }

    private static async Task JoinAndLeaveAsync(TestServer server, Random random, int times, Account account)
    {
        var client = new LightQClient(server.ConnectionString);
        for (int i = 0; i < times; i++)
        {
            using var leaving = CancellationTokenSource.CreateLinkedTokenSource(TestContext.Current.CancellationToken);
            switch (random.Next(8))
            {
                case 0: // In the middle of a delivery, or of joining.
                    leaving.CancelAfter(random.Next(1, 20));
                    await ConsumeAsync(client, account, int.MaxValue, leaving.Token);
                    break;
                case 1: // With the whole connection.
                    leaving.CancelAfter(random.Next(1, 20));
                    await ConsumeAsync(client, account, int.MaxValue, leaving.Token);
                    await client.DisposeAsync();
                    client = new LightQClient(server.ConnectionString);
                    break;
                default:
                    leaving.CancelAfter(200); // There may be more members than partitions with news.
                    await ConsumeAsync(client, account, random.Next(1, 200), leaving.Token);
                    break;
            }
        }
        await client.DisposeAsync();
    }

    private static async Task ConsumeAsync(LightQClient client, Account account, int messages, CancellationToken until)
    {
        object member = new();
        try
        {
            await foreach (Message message in client.ConsumeAsync(Topic, Membership, until))
            {
                account.Process(member, message);
                message.QueueCompletion();
                if (--messages == 0)
                    return;
            }
        }
        catch (OperationCanceledException) when (until.IsCancellationRequested) { }
    }

    private static async Task<long[]> PublishAsync(LightQClient client, CancellationToken until)
    {
        await using Producer producer = await client.CreateProducerAsync(
            Topic,
            cancellationToken: CancellationToken.None
        );
        long[] counts = new long[Keys];
        byte[] body = new byte[12];
        for (int i = 0; !until.IsCancellationRequested; i++)
        {
            int key = i % Keys;
            BinaryPrimitives.WriteInt32LittleEndian(body, key);
            BinaryPrimitives.WriteInt64LittleEndian(body.AsSpan(4), counts[key]++);
            while (!producer.TryPublish(body, key: (ReadOnlyMemory<byte>)body.AsMemory(0, 4)))
                await producer.WaitForRoomAsync(CancellationToken.None);
            if (i % 100 == 0)
                await Task.Delay(1, CancellationToken.None);
        }
        await producer.FlushAsync(CancellationToken.None);
        return counts;
    }

    /// <summary>Everything that was processed, against what the order by key allows.</summary>
    private sealed class Account
    {
        private readonly Lock _lock = new();
        private readonly object?[] _holders = new object?[Partitions];

        /// <summary>By key, how many were processed.</summary>
        public long[] NextByKey { get; } = new long[Keys];

        public long Processed { get; private set; }

        public long Again { get; private set; }

        public long OutOfOrder { get; private set; }

        public long Shared { get; private set; }

        public void Process(object member, in Message message)
        {
            int key = BinaryPrimitives.ReadInt32LittleEndian(message.BodySpan);
            long number = BinaryPrimitives.ReadInt64LittleEndian(message.BodySpan[4..]);
            lock (_lock)
            {
                if (_holders[message.Partition] is not null)
                    Shared++;
                _holders[message.Partition] = member;
            }
            Thread.Yield(); // Whoever else holds the partition gets a chance to show it.
            lock (_lock)
            {
                if (_holders[message.Partition] != member)
                    Shared++;
                _holders[message.Partition] = null;
                if (number == NextByKey[key])
                {
                    NextByKey[key]++;
                    Processed++;
                }
                else if (number < NextByKey[key])
                {
                    Again++;
                }
                else
                {
                    OutOfOrder++;
                }
            }
        }
    }
}
