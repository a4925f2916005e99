using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using LightQ.Tests.Architecture;
using Xunit;

namespace LightQ.Tests.Client;

/// <summary>What an error of a broker ends: a message, what is under way, a producer, or all that a client has.</summary>
public sealed class RefusedMessageTests
{
    private const string Again = "again",
        Ends = "ends";

    private static readonly byte[] Any = "any"u8.ToArray();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public static TheoryData<ErrorCode> Codes => [.. Enum.GetValues<ErrorCode>().Where(code => code != ErrorCode.None)];

    /// <summary>The rows of the table in the page, by code: what follows an ack, a Closed and an Error.</summary>
    private static IReadOnlyDictionary<string, (string Batch, string Producer, string Client)> Table { get; } =
        File.ReadLines(Path.Combine(SourceTree.Root, "docs", "design", "client.md"))
            .SkipWhile(line => !line.StartsWith("| error code |", StringComparison.Ordinal))
            .Skip(2)
            .TakeWhile(line => line.StartsWith('|'))
            .Select(line => Array.ConvertAll(line.Split('|'), cell => cell.Trim()))
            .ToDictionary(row => row[1].Trim('`'), row => (row[3], row[4], row[5]));

    [Fact]
    public void The_table_has_every_error_code_once_in_order() =>
        Assert.Equal(
            Enum.GetValues<ErrorCode>().Where(code => code != ErrorCode.None).Select(code => code.ToString()),
            Table.Keys
        );

    [Theory]
    [MemberData(nameof(Codes))]
    public async Task A_message_that_is_refused_alone_fails_alone(ErrorCode code)
    {
        foreach (string? name in (string?[])[null, "a"])
        {
            using var broker = new FakeBroker();
            await using var client = new LightQClient(broker.Options);
            (Producer producer, FakeConnection connection) = await OpenAsync(broker, client, name);
            using FakeConnection _ = connection;
            (Task<PublishAck>[] acks, FakeBatch[] batches) = await PublishAsync(producer, connection, 3);
            await connection.AckAsync(
                batches[0].Stream,
                batches[0].Ack(0),
                new AckRange(1, 1, code, -1, IsAlone: true),
                batches[2].Ack(1)
            );
            Assert.Equal(code, (await Assert.ThrowsAsync<LightQException>(() => acks[1])).Code);
            Assert.Equal((0, 1), ((await acks[0]).Offset, (await acks[2]).Offset));
            Assert.False(producer.IsBroken);
            (acks, batches) = await PublishAsync(producer, connection, 1);
            Assert.Equal(3ul, batches[0].BaseSequence);
            await connection.AckAsync(batches[0].Stream, batches[0].Ack(2));
            Assert.Equal(2, (await acks[0]).Offset);
        }
    }

    [Theory]
    [MemberData(nameof(Codes))]
    public async Task What_an_error_ends_is_what_the_table_says(ErrorCode code)
    {
        Assert.True(Table.TryGetValue(code.ToString(), out var expected), $"The table of errors has no {code}.");
        Assert.Equal(expected, (await AfterAckAsync(code), await AfterClosedAsync(code), await AfterErrorAsync(code)));
    }

    [Fact]
    public async Task Of_an_earlier_broker_a_named_producer_sends_again_what_was_behind_a_refused_message()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (Producer producer, FakeConnection connection) = await OpenAsync(broker, client, "a");
        using FakeConnection _ = connection;
        (Task<PublishAck>[] acks, FakeBatch[] batches) = await PublishAsync(producer, connection, 4);
        await connection.AckAsync(batches[0].Stream, batches[0].Ack(0), new AckRange(1, 1, ErrorCode.NotSupported, -1));
        Assert.Equal(ErrorCode.NotSupported, (await Assert.ThrowsAsync<LightQException>(() => acks[1])).Code);
        await connection.ReadAsync(FrameType.Close);
        FakeFrame reopened = await connection.OpenProducerAsync(producerId: 7, epoch: 2, next: 1);

        // In their order, numbered anew: nothing of them is stored.
        for (int i = 2; i < 4; i++)
        {
            FakeBatch again = await connection.ReadBatchAsync();
            Assert.Equal(
                (reopened.Header.Stream, (ulong)i - 1, batches[i].Bodies[0]),
                (again.Stream, again.BaseSequence, again.Bodies[0])
            );
            await connection.AckAsync(again.Stream, again.Ack(i));
            Assert.Equal(i, (await acks[i]).Offset);
        }
    }

    [Fact]
    public async Task A_delay_that_the_topic_does_not_take_is_refused_before_it_is_sent()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        Task<FakeConnection> accepting = broker.AcceptAsync();
        Task<Producer> creating = client.CreateProducerAsync("orders", cancellationToken: Cancel);
        using FakeConnection connection = await accepting;
        await connection.OpenProducerAsync(longestDelay: 0);
        Producer producer = await creating;
        var later = new PublishOptions { Delay = TimeSpan.FromSeconds(1) };

        Assert.Equal(
            ErrorCode.NotSupported,
            (
                await Assert.ThrowsAsync<LightQException>(async () =>
                    await producer.PublishAsync(Any, later, cancellationToken: Cancel)
                )
            ).Code
        );
        Assert.Equal(
            ErrorCode.NotSupported,
            Assert.Throws<LightQException>(() => producer.TryPublish(Any, later)).Code
        );
        using BatchBuilder builder = producer.CreateBatch(later);
        Assert.Equal(ErrorCode.NotSupported, Assert.Throws<LightQException>(() => builder.TryAdd(Any)).Code);
        await PublishAsync(producer, connection, 1);
    }

    [Fact]
    public async Task What_waits_for_a_topic_that_comes_back_smaller_and_transient_fails_only_where_it_must()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (Producer producer, FakeConnection connection) = await OpenAsync(broker, client, null);
        connection.Dispose();
        await Eventually(() => client.State != ConnectionState.Connected);
        var waiting = new List<Task<PublishAck>>();
        byte[] small = new byte[500];
        for (int i = 0; i < 20; i++)
            waiting.Add(producer.PublishAsync(small, cancellationToken: Cancel).AsTask());
        Task<PublishAck> delayed = producer
            .PublishAsync(Any, new PublishOptions { Delay = TimeSpan.FromHours(1) }, cancellationToken: Cancel)
            .AsTask();
        Task<PublishAck> large = producer.PublishAsync(new byte[5000], cancellationToken: Cancel).AsTask();
        waiting.Add(producer.PublishAsync(small, cancellationToken: Cancel).AsTask());
        using var builder = producer.CreateBatch();
        for (int i = 0; i < 20; i++)
            Assert.True(builder.TryAdd(small));
        Task<PublishAck> whole = producer.PublishAsync(builder, Cancel).AsTask();

        using FakeConnection again = await broker.AcceptAsync();
        await again.OpenProducerAsync(longestDelay: 0, maxBatch: 4096 + ProtocolLimits.BatchOverheadBytes);
        // A test's topic may be as small as this: batches and messages have one limit.
        int received = 0;
        while (received < waiting.Count + 20)
        {
            FakeBatch batch = await again.ReadBatchAsync();
            await again.AckAsync(batch.Stream, batch.Ack(received));
            received += batch.Bodies.Length;
        }
        Assert.Equal(
            Enumerable.Range(0, waiting.Count).Select(i => (long)i),
            (await Task.WhenAll(waiting)).Select(ack => ack.Offset)
        );
        Assert.Equal(ErrorCode.NotSupported, (await Assert.ThrowsAsync<LightQException>(() => delayed)).Code);
        Assert.Equal(ErrorCode.MessageTooLarge, (await Assert.ThrowsAsync<LightQException>(() => large)).Code);
        Assert.Equal(20, (await whole).Count);
    }

    [Fact]
    public async Task A_batch_that_has_become_too_long_is_parted()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (Producer producer, FakeConnection connection) = await OpenAsync(broker, client, null);
        connection.Dispose();
        await Eventually(() => client.State != ConnectionState.Connected);
        const int Messages = 60;
        var waiting = new List<Task<PublishAck>>();
        for (int i = 0; i < Messages; i++)
            waiting.Add(producer.PublishAsync(new byte[1000], cancellationToken: Cancel).AsTask());
        using var builder = producer.CreateBatch();
        while (builder.TryAdd(new byte[1000])) { }
        Task<PublishAck> whole = producer.PublishAsync(builder, Cancel).AsTask();

        using FakeConnection again = await broker.AcceptAsync(maxFrameBytes: 8192);
        await again.OpenProducerAsync();
        int received = 0;
        while (received < Messages)
        {
            FakeFrame frame = await again.ReadAsync(FrameType.Publish);
            Assert.InRange(frame.Body.Length, 1, 8192 - FrameHeader.Size);
            FakeBatch batch = FakeBatch.Read(frame);
            await again.AckAsync(batch.Stream, batch.Ack(received));
            received += batch.Bodies.Length;
        }
        Assert.Equal(
            Enumerable.Range(0, Messages).Select(i => (long)i),
            (await Task.WhenAll(waiting)).Select(ack => ack.Offset)
        );
        Assert.Equal(ErrorCode.MessageTooLarge, (await Assert.ThrowsAsync<LightQException>(() => whole)).Code);
        Assert.Equal(
            ErrorCode.MessageTooLarge,
            (
                await Assert.ThrowsAsync<LightQException>(async () =>
                    await producer.PublishAsync(new byte[9000], cancellationToken: Cancel)
                )
            ).Code
        );
    }

    [Fact]
    public async Task The_end_of_a_producer_is_raised_once_before_a_publish_learns_of_it()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        var ended = new List<ProducerEndedEventArgs>();
        var raised = new TaskCompletionSource();
        client.ProducerEnded += (_, args) =>
        {
            ended.Add(args);
            raised.TrySetResult();
        };
        (Producer producer, FakeConnection connection) = await OpenAsync(broker, client, "a");
        using FakeConnection _ = connection;
        (Task<PublishAck>[] acks, FakeBatch[] batches) = await PublishAsync(producer, connection, 2);
        await connection.AckAsync(batches[0].Stream, new AckRange(0, 1, ErrorCode.Fenced, -1));
        await Assert.ThrowsAsync<LightQException>(() => acks[0]);
        Assert.Equal(ErrorCode.Fenced, (await producer.Ended).Code);
        Assert.Equal(ErrorCode.StreamBroken, (await Assert.ThrowsAsync<LightQException>(() => acks[1])).Code);
        await raised.Task.WaitAsync(Cancel);
        await producer.DisposeAsync();
        ProducerEndedEventArgs only = Assert.Single(ended);
        Assert.Equal(("orders", "a", ErrorCode.Fenced), (only.Topic, only.Name, only.Reason.Code));
    }

    private static async Task<string> AfterAckAsync(ErrorCode code)
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (Producer producer, FakeConnection connection) = await OpenAsync(broker, client, null);
        using FakeConnection _ = connection;
        (Task<PublishAck>[] acks, FakeBatch[] batches) = await PublishAsync(producer, connection, 2);
        await connection.AckAsync(batches[0].Stream, new AckRange(0, 1, code, -1));
        Assert.Equal(code, (await Assert.ThrowsAsync<LightQException>(() => acks[0])).Code);
        Assert.Equal(ErrorCode.StreamBroken, (await Assert.ThrowsAsync<LightQException>(() => acks[1])).Code);
        await connection.ReadAsync(FrameType.Close);
        if (producer.IsBroken)
            return Ends;
        await connection.OpenProducerAsync();
        await PublishAsync(producer, connection, 1);
        return Again;
    }

    private static async Task<string> AfterClosedAsync(ErrorCode code)
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (Producer producer, FakeConnection connection) = await OpenAsync(broker, client, null);
        using FakeConnection _ = connection;
        (Task<PublishAck>[] acks, FakeBatch[] batches) = await PublishAsync(producer, connection, 1);
        await connection.WriteAsync(new ClosedFrame(code, "why"), batches[0].Stream);
        await Assert.ThrowsAsync<LightQException>(() => acks[0]);
        Task<FakeFrame> opening = connection.ReadAsync(FrameType.OpenProducer);
        return await Task.WhenAny(producer.Ended, opening) == opening ? Again : Ends;
    }

    private static async Task<string> AfterErrorAsync(ErrorCode code)
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (Producer producer, FakeConnection connection) = await OpenAsync(broker, client, null);
        using (connection)
            await connection.WriteAsync(new ErrorFrame(code, "why"));
        using (var refused = new FakeConnection(await broker.AcceptRawAsync()))
        {
            await refused.ReadAsync(FrameType.Hello);
            await refused.WriteAsync(new ErrorFrame(code, "why"));
        }
        Task<FakeConnection> connecting = broker.AcceptAsync();
        if (await Task.WhenAny(producer.Ended, connecting) != connecting)
            return Ends;
        using FakeConnection again = await connecting;
        await again.OpenProducerAsync();
        await PublishAsync(producer, again, 1);
        return Again;
    }

    private static async Task<(Producer Producer, FakeConnection Connection)> OpenAsync(
        FakeBroker broker,
        LightQClient client,
        string? name
    ) =>
        await ProducerTests.OpenAsync(
            broker,
            client,
            options: new ProducerOptions { Name = name, DisposeTimeout = TimeSpan.Zero },
            producerId: name is null ? 0ul : 7,
            epoch: name is null ? 0u : 1
        );

    /// <summary>Publishes messages in batches of their own.</summary>
    private static async Task<(Task<PublishAck>[] Acks, FakeBatch[] Batches)> PublishAsync(
        Producer producer,
        FakeConnection connection,
        int count
    )
    {
        var acks = new Task<PublishAck>[count];
        var batches = new FakeBatch[count];
        for (int i = 0; i < count; i++)
        {
            acks[i] = producer.PublishAsync(new[] { (byte)('a' + i) }, cancellationToken: Cancel).AsTask();
            batches[i] = await connection.ReadBatchAsync();
        }
        return (acks, batches);
    }

    private static async Task Eventually(Func<bool> condition)
    {
        while (!condition())
            await Task.Delay(1, Cancel);
    }
}
