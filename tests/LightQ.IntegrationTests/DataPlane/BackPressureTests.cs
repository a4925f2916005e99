using System.Diagnostics;
using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.Protocol.Frames;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.DataPlane;

/// <summary>Whoever stands still holds back only what depends on it, and costs a bounded amount of memory.</summary>
[CollectionDefinition(nameof(BackPressureTests), DisableParallelization = true)]
[Collection(nameof(BackPressureTests))]
public sealed class BackPressureTests
{
    private const int BodyBytes = 32 * 1024;

    /// <summary>What a hundred clients would leak if each left 5 KiB.</summary>
    private const int LeakBytes = 512 * 1024;

    [Fact]
    public async Task A_consumer_that_stops_reading_holds_back_its_topic_alone()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("stuck");
        await server.CreateTopicAsync("free");
        await using RawClient idle = await RawClient.ConnectAsync(server.DataPort);
        await idle.SubscribeAsync("stuck", 1, credit: uint.MaxValue);
        await using var client = new LightQClient(server.ConnectionString);
        await using Producer stuck = await client.CreateProducerAsync(
            "stuck",
            cancellationToken: TestContext.Current.CancellationToken
        );
        await using Producer free = await client.CreateProducerAsync(
            "free",
            cancellationToken: TestContext.Current.CancellationToken
        );

        await FillAsync(stuck);

        // On the same connection: the full topic must not stand in the way of publishing and consuming another.
        await using IAsyncEnumerator<Message> messages = client
            .ConsumeAsync(
                "free",
                new ConsumeOptions { Start = StartPosition.Earliest },
                TestContext.Current.CancellationToken
            )
            .GetAsyncEnumerator(TestContext.Current.CancellationToken);
        for (int i = 0; i < 100; i++)
        {
            await free.PublishAsync(BitConverter.GetBytes(i), cancellationToken: TestContext.Current.CancellationToken);
            Assert.True(await messages.MoveNextAsync());
            Assert.Equal(i, BitConverter.ToInt32(messages.Current.Body.Span));
        }
        Assert.False(stuck.TryPublish(new byte[BodyBytes]));
        idle.Reset();
        await stuck.FlushAsync(TestContext.Current.CancellationToken);
    }

    [Theory]
    [InlineData(256 * 1024, true)] // The default.
    [InlineData(64 * 1024 * 1024, false)]
    public async Task What_a_consumer_leaves_unread_stays_with_the_broker(int limit, bool stays)
    {
        Assert.SkipUnless(
            LargestSendBuffer() >= 4 * 1024 * 1024,
            "The system keeps little of a connection anyway, or does not say how much."
        );
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                DataPlane = o.DataPlane with { MaxUnsentBytes = limit },
            }
        );
        await server.CreateTopicAsync("t");
        await using RawClient idle = await RawClient.ConnectAsync(server.DataPort, receiveBuffer: 64 * 1024);
        await idle.SubscribeAsync("t", 1, credit: uint.MaxValue);
        await using var client = new LightQClient(server.ConnectionString);
        await using Producer producer = await client.CreateProducerAsync(
            "t",
            cancellationToken: TestContext.Current.CancellationToken
        );

        await FillAsync(producer);

        // The limit twice, since a send is begun below it, and what the other end takes unread; without it some 2.6 MB.
        long sent = server.Broker.GetTopic("t").Partitions[0].Counters.BytesRead;
        Assert.True(stays == sent <= 768 * 1024, $"{sent} bytes were sent");
        idle.Reset();
        await producer.FlushAsync(TestContext.Current.CancellationToken);
    }

    [Fact]
    public async Task A_subscription_without_credit_holds_back_its_topic_until_it_leaves()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("t");
        await using RawClient idle = await RawClient.ConnectAsync(server.DataPort);
        await idle.SubscribeAsync("t", 1, credit: 0);
        await using var client = new LightQClient(server.ConnectionString);
        await using Producer producer = await client.CreateProducerAsync(
            "t",
            cancellationToken: TestContext.Current.CancellationToken
        );
        long published = await FillAsync(producer);

        await idle.SendAsync(new CloseFrame(default, ""), 1);
        await producer.FlushAsync(TestContext.Current.CancellationToken);

        Assert.Equal(published, server.Broker.GetTopic("t").Partitions[0].Log.EndOffset);
    }

    [Fact]
    public async Task A_slow_consumer_is_told_so_when_others_wait_for_it()
    {
        var time = new ManualTime();
        await using TestServer server = await TestServer.StartAsync(time: time);
        await server.CreateTopicAsync("t");
        await using RawClient idle = await RawClient.ConnectAsync(server.DataPort);
        await idle.SubscribeAsync("t", 1, credit: 0);
        await using var client = new LightQClient(server.ConnectionString);
        await using Producer producer = await client.CreateProducerAsync(
            "t",
            cancellationToken: TestContext.Current.CancellationToken
        );
        await FillAsync(producer);

        Task<byte[]> closed = idle.ReadAsync(FrameType.Closed);
        await Eventually.TrueAsync(
            () =>
            {
                time.Advance(TimeSpan.FromSeconds(1)); // By how much is the same: nothing can move.
                return closed.IsCompleted;
            },
            TimeSpan.FromSeconds(30),
            () => "the subscription was not ended"
        );
        byte[] body = await closed;

        Assert.Equal(LightQ.Client.ErrorCode.SlowConsumer, FrameCodec.Read<ClosedFrame>(body).Code);
        await producer.FlushAsync(TestContext.Current.CancellationToken);
    }

    [Fact]
    public async Task A_producer_that_never_reads_its_acks_is_stopped_by_its_window()
    {
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                DataPlane = new() { Heartbeat = TimeSpan.FromMinutes(5), StalledReaderTimeout = TimeSpan.FromHours(1) },
            }
        );
        await server.CreateTopicAsync("t");
        await using RawClient deaf = await RawClient.ConnectAsync(server.DataPort);
        await deaf.OpenProducerAsync("t", 1);
        byte[] frame = RawClient.PublishFrame(1, RawClient.Batch(0, 64));
        bool cut = false;
        // One ack may stand for many frames, so how many it takes depends on who is faster.
        for (var sending = Stopwatch.StartNew(); !cut && sending.Elapsed < TimeSpan.FromSeconds(60); )
        {
            try
            {
                await deaf.SendAsync(frame);
            }
            catch (IOException)
            {
                cut = true;
            }
        }
        // Its acks fill the sockets, so no credit comes out: a client that goes on regardless breaks the protocol.
        Assert.True(cut);
        Assert.Equal(1, server.Server.Limits.Refusals["Broker:PublishWindowBytes"]);
        await server.ConnectionsAsync(0);
    }

    [Fact]
    public async Task A_hundred_clients_that_vanish_leave_no_stream_and_no_memory_behind()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("t");
        Partition partition = server.Broker.GetTopic("t").Partitions[0];
        // The pools of buffers first grow to what so many clients use at once. Then a round must leave nothing at all
        // behind.
        const int Rounds = 20;
        long grown = long.MaxValue,
            before = 0;
        for (int round = 0; round < Rounds && grown >= LeakBytes; round++)
        {
            await VanishAsync(server, 100);
            long now = GC.GetTotalMemory(forceFullCollection: true);
            (grown, before) = (now - before, now);
        }
        Assert.Empty(partition.Producers);
        Assert.Empty(partition.Subscriptions);
        Assert.True(grown < LeakBytes, $"{grown} bytes more after the last 100 of {Rounds * 100} clients");
    }

    private static async Task VanishAsync(TestServer server, int count)
    {
        var clients = new List<RawClient>();
        for (int i = 0; i < count; i++)
        {
            RawClient client = await RawClient.ConnectAsync(server.DataPort);
            clients.Add(client);
            await client.OpenProducerAsync("t", 1);
            await client.SubscribeAsync("t", 2, credit: 1 << 20, StartKind.Latest);
            await client.SendAsync(RawClient.PublishFrame(1, RawClient.Batch(0, 1000)));
        }
        foreach (RawClient client in clients)
            client.Reset();
        await server.ConnectionsAsync(0);
    }

    /// <summary>What the system lets a connection's buffer grow to; 0 where it cannot be told.</summary>
    private static long LargestSendBuffer()
    {
        const string Sizes = "/proc/sys/net/ipv4/tcp_wmem";
        return File.Exists(Sizes)
            ? long.Parse(
                File.ReadAllText(Sizes).Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries)[^1],
                System.Globalization.CultureInfo.InvariantCulture
            )
            : 0;
    }

    /// <summary>Publishes until the topic is full and nothing moves any more.</summary>
    private static async Task<long> FillAsync(Producer producer)
    {
        byte[] body = new byte[BodyBytes];
        long count = 0;
        while (true)
        {
            if (producer.TryPublish(body))
            {
                count++;
                continue;
            }
            using var patience = new CancellationTokenSource(TimeSpan.FromMilliseconds(500));
            try
            {
                await producer.WaitForRoomAsync(patience.Token);
            }
            catch (OperationCanceledException)
            {
                return count;
            }
        }
    }
}
