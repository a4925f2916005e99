using System.Text;
using LightQ.Client;
using LightQ.Client.Connections;
using LightQ.Protocol.Frames;
using Xunit;

namespace LightQ.Tests.Client;

public sealed class ReconnectTests
{
    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task An_anonymous_producer_reports_OutcomeUnknown_for_what_was_sent_and_sends_what_was_not()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (Producer producer, FakeConnection connection) = await ProducerTests.OpenAsync(
            broker,
            client,
            window: 1024,
            new ProducerOptions { BatchBytes = 1024 }
        );
        Task<PublishAck> sent = producer.PublishAsync(new byte[900], cancellationToken: Cancel).AsTask();
        FakeBatch first = await connection.ReadBatchAsync();
        Task<PublishAck> unsent = producer
            .PublishAsync(Encoding.UTF8.GetBytes("unsent").AsSpan(), cancellationToken: Cancel)
            .AsTask();
        connection.Dispose();

        Assert.Equal(ErrorCode.OutcomeUnknown, (await Assert.ThrowsAsync<LightQException>(() => sent)).Code);
        using FakeConnection second = await broker.AcceptAsync();
        FakeFrame reopened = await second.OpenProducerAsync(window: 1024);
        FakeBatch batch = await second.ReadBatchAsync();
        Assert.Equal((reopened.Header.Stream, 0ul), (batch.Stream, batch.BaseSequence));
        Assert.Equal(["unsent"], batch.Bodies);
        Assert.Equal(1ul, (ulong)first.Bodies.Length);
        await second.AckAsync(batch.Stream, batch.Ack(3));
        Assert.Equal(3, (await unsent).Offset);
    }

    [Fact]
    public async Task A_named_producer_sends_again_with_the_old_sequences_and_the_new_epoch_before_anything_new()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (Producer producer, FakeConnection connection) = await ProducerTests.OpenAsync(
            broker,
            client,
            options: new ProducerOptions { Name = "p1" },
            producerId: 9,
            epoch: 1
        );
        Task<PublishAck> a = producer.PublishAsync("a"u8, cancellationToken: Cancel).AsTask();
        FakeBatch first = await connection.ReadBatchAsync();
        Task<PublishAck> b = producer.PublishAsync("b"u8, cancellationToken: Cancel).AsTask();
        FakeBatch second = await connection.ReadBatchAsync();
        Assert.Equal((9ul, 1u, 0ul), (first.ProducerId, first.Epoch, first.BaseSequence));
        connection.Dispose();

        using FakeConnection next = await broker.AcceptAsync();
        // The broker has stored the first of the two.
        FakeFrame reopened = await next.OpenProducerAsync(producerId: 9, epoch: 2, next: 1);
        Assert.Equal("p1", reopened.As<OpenProducerFrame>().ProducerName);
        FakeBatch again = await next.ReadBatchAsync();
        Assert.Equal((9ul, 2u, 0ul, "a"), (again.ProducerId, again.Epoch, again.BaseSequence, again.Bodies[0]));
        again = await next.ReadBatchAsync();
        Assert.Equal((2u, 1ul, "b"), (again.Epoch, again.BaseSequence, again.Bodies[0]));
        Task<PublishAck> c = producer.PublishAsync("c"u8, cancellationToken: Cancel).AsTask();
        FakeBatch third = await next.ReadBatchAsync();
        Assert.Equal((2ul, "c"), (third.BaseSequence, third.Bodies[0]));
        await next.AckAsync(
            third.Stream,
            new AckRange(0, 1, ErrorCode.None, 50),
            new AckRange(1, 2, ErrorCode.None, 51)
        );
        Assert.Equal([50L, 51L, 52L], (await Task.WhenAll(a, b, c)).Select(ack => ack.Offset));
        Assert.Equal((second.BaseSequence, second.Bodies[0]), (again.BaseSequence, again.Bodies[0]));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public async Task A_named_producer_whose_connection_goes_again_before_all_was_sent_again_still_sends_it(
        ulong stored
    )
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (Producer producer, Task<PublishAck>[] published, FakeConnection connection) = await PublishTwiceAsync(
            broker,
            client
        );
        connection.Dispose();

        FakeConnection next = await broker.AcceptAsync();
        await next.OpenProducerAsync(window: 1, producerId: 9, epoch: 2, next: stored);
        FakeBatch again = await next.ReadBatchAsync(); // The window holds the other back.
        await next.AckAsync(again.Stream, again.Ack(50));
        Assert.Equal(50, (await published[0]).Offset);
        next.Dispose();

        next = await broker.AcceptAsync();
        await next.OpenProducerAsync(producerId: 9, epoch: 3, next: stored);
        again = await next.ReadBatchAsync();
        Assert.Equal((9ul, 3u, 1ul, "b"), (again.ProducerId, again.Epoch, again.BaseSequence, again.Bodies[0]));
        await next.AckAsync(again.Stream, again.Ack(51));
        Assert.Equal(51, (await published[1]).Offset);
        next.Dispose();
    }

    [Fact]
    public async Task What_waits_to_be_sent_again_fails_too_when_the_broker_has_forgotten_a_named_producer()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (Producer producer, Task<PublishAck>[] published, FakeConnection connection) = await PublishTwiceAsync(
            broker,
            client
        );
        connection.Dispose();
        FakeConnection next = await broker.AcceptAsync();
        await next.OpenProducerAsync(window: 1, producerId: 9, epoch: 2, next: 1);
        await next.ReadBatchAsync();
        next.Dispose();

        next = await broker.AcceptAsync();
        await next.OpenProducerAsync(producerId: 10, epoch: 1, next: 0);
        foreach (Task<PublishAck> lost in published)
            Assert.Equal(ErrorCode.OutcomeUnknown, (await Assert.ThrowsAsync<LightQException>(() => lost)).Code);
        Task<PublishAck> c = producer.PublishAsync("c"u8, cancellationToken: Cancel).AsTask();
        FakeBatch batch = await next.ReadBatchAsync();
        Assert.Equal((10ul, 0ul, "c"), (batch.ProducerId, batch.BaseSequence, batch.Bodies[0]));
        await next.AckAsync(batch.Stream, batch.Ack(0));
        await c;
        next.Dispose();
    }

    [Fact]
    public async Task A_named_producer_that_the_broker_forgot_reports_OutcomeUnknown_and_goes_on()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (Producer producer, FakeConnection connection) = await ProducerTests.OpenAsync(
            broker,
            client,
            options: new ProducerOptions { Name = "p1" },
            producerId: 9,
            epoch: 1
        );
        Task<PublishAck> a = producer.PublishAsync("a"u8, cancellationToken: Cancel).AsTask();
        await connection.ReadBatchAsync();
        connection.Dispose();

        using FakeConnection next = await broker.AcceptAsync();
        await next.OpenProducerAsync(producerId: 10, epoch: 1, next: 0);
        Assert.Equal(ErrorCode.OutcomeUnknown, (await Assert.ThrowsAsync<LightQException>(() => a)).Code);
        Task<PublishAck> b = producer.PublishAsync("b"u8, cancellationToken: Cancel).AsTask();
        FakeBatch batch = await next.ReadBatchAsync();
        Assert.Equal((10ul, 0ul), (batch.ProducerId, batch.BaseSequence));
        await next.AckAsync(batch.Stream, batch.Ack(0));
        await b;
    }

    [Fact]
    public async Task A_subscription_resumes_behind_the_last_message_it_was_delivered()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        await using var messages = client.ConsumeAsync("orders", cancellationToken: Cancel).GetAsyncEnumerator(Cancel);
        ValueTask<bool> moved = messages.MoveNextAsync();
        FakeConnection connection = await broker.AcceptAsync();
        (FakeFrame subscribe, _) = await connection.SubscribeAsync(20);
        await connection.DeliverAsync(
            subscribe.Header.Stream,
            FakeConnection.Batch(20, "a"u8.ToArray(), "b"u8.ToArray())
        );
        Assert.True(await moved);
        connection.Dispose();

        using FakeConnection next = await broker.AcceptAsync();
        (FakeFrame resumed, _) = await next.SubscribeAsync(22);
        var frame = resumed.As<SubscribeFrame>();
        Assert.Equal(
            (StartKind.Offset, 22L, 21L, 3u, 5ul),
            (frame.Start, frame.StartValue, frame.LastOffset, frame.LastEpoch, frame.LastIncarnation)
        );
        await next.DeliverAsync(resumed.Header.Stream, FakeConnection.Batch(22, "c"u8.ToArray()));
        var seen = new List<string> { messages.Current.GetText() };
        for (int i = 0; i < 2; i++)
        {
            Assert.True(await messages.MoveNextAsync());
            seen.Add(messages.Current.GetText());
        }
        Assert.Equal(["a", "b", "c"], seen);
    }

    [Theory]
    [InlineData(5, 4, 10)]
    [InlineData(6, 1, 0)]
    public async Task What_was_seen_and_then_cut_is_a_gap_and_its_offsets_come_again(
        ulong incarnation,
        uint epoch,
        long parting
    )
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        var gaps = new List<MessageGap>();
        await using var messages = client
            .ConsumeAsync("orders", new ConsumeOptions { OnGap = gaps.Add }, Cancel)
            .GetAsyncEnumerator(Cancel);
        ValueTask<bool> moved = messages.MoveNextAsync();
        FakeConnection connection = await broker.AcceptAsync();
        (FakeFrame subscribe, _) = await connection.SubscribeAsync(20);
        await connection.DeliverAsync(
            subscribe.Header.Stream,
            FakeConnection.Batch(20, "a"u8.ToArray(), "b"u8.ToArray())
        );
        Assert.True(await moved);
        connection.Dispose();

        // The broker says where it goes on, and is gone again before it says what is lost.
        FakeConnection second = await broker.AcceptAsync();
        await second.SubscribeAsync(parting, incarnation, epoch);
        second.Dispose();

        FakeConnection third = await broker.AcceptAsync();
        (FakeFrame again, _) = await third.SubscribeAsync(parting, incarnation, epoch);
        var frame = again.As<SubscribeFrame>();
        Assert.Equal(
            (StartKind.Offset, 22L, 21L, 3u, 5ul),
            (frame.Start, frame.StartValue, frame.LastOffset, frame.LastEpoch, frame.LastIncarnation)
        );
        await third.WriteAsync(new GapFrame(parting, 21, GapReason.Truncated), again.Header.Stream);
        await third.DeliverAsync(again.Header.Stream, FakeConnection.Batch(parting, "new"u8.ToArray()));
        var seen = new List<string> { messages.Current.GetText() };
        for (int i = 0; i < 2; i++)
        {
            Assert.True(await messages.MoveNextAsync());
            seen.Add(messages.Current.GetText());
        }
        Assert.Equal(["a", "b", "new"], seen);
        Assert.Equal([new MessageGap("orders", parting, 21, GapReason.Truncated)], gaps);
        third.Dispose();

        using FakeConnection fourth = await broker.AcceptAsync();
        (FakeFrame resumed, _) = await fourth.SubscribeAsync(parting + 1, incarnation, epoch);
        Assert.Equal(
            (parting + 1, parting, incarnation),
            (
                resumed.As<SubscribeFrame>().StartValue,
                resumed.As<SubscribeFrame>().LastOffset,
                resumed.As<SubscribeFrame>().LastIncarnation
            )
        );
    }

    [Theory]
    [InlineData(2)] // The reader has seen all that is left.
    [InlineData(1)] // It has seen what is gone, and what is there instead has yet to come.
    public async Task A_reader_that_waits_has_caught_up_where_the_log_ends_earlier_after_a_reconnect(long next)
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        var caughtUp = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var messages = client
            .ConsumeAsync("orders", new ConsumeOptions { OnCaughtUp = caughtUp.SetResult }, Cancel)
            .GetAsyncEnumerator(Cancel);
        Task<bool> moved = messages.MoveNextAsync().AsTask();
        using (FakeConnection connection = await broker.AcceptAsync())
        {
            (FakeFrame subscribe, _) = await connection.SubscribeAsync(0, endOffset: 10);
            await connection.DeliverAsync(subscribe.Header.Stream, FakeConnection.Batch(0, [1], [2]));
            Assert.True(await moved);
            Assert.True(await messages.MoveNextAsync());
            moved = messages.MoveNextAsync().AsTask();
            Assert.False(moved.IsCompleted);
        }

        using FakeConnection again = await broker.AcceptAsync();
        (FakeFrame resumed, _) = await again.SubscribeAsync(next, incarnation: 6, endOffset: 2);
        if (next == 1)
        {
            await again.WriteAsync(new GapFrame(1, 1, GapReason.Truncated), resumed.Header.Stream);
            await again.DeliverAsync(resumed.Header.Stream, FakeConnection.Batch(1, [3]));
            Assert.True(await moved);
            Assert.False(caughtUp.Task.IsCompleted);
            moved = messages.MoveNextAsync().AsTask();
        }
        await caughtUp.Task.WaitAsync(TimeSpan.FromSeconds(30), Cancel);
        Assert.False(moved.IsCompleted);
        await again.DeliverAsync(resumed.Header.Stream, FakeConnection.Batch(2, [4]));
        Assert.True(await moved);
    }

    [Fact]
    public async Task A_subscription_that_got_nothing_yet_resumes_where_it_began()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        await using var messages = client.ConsumeAsync("orders", cancellationToken: Cancel).GetAsyncEnumerator(Cancel);
        ValueTask<bool> moved = messages.MoveNextAsync();
        FakeConnection connection = await broker.AcceptAsync();
        (FakeFrame subscribe, _) = await connection.SubscribeAsync(0);
        Assert.Equal(StartKind.Latest, subscribe.As<SubscribeFrame>().Start);
        connection.Dispose();

        using FakeConnection next = await broker.AcceptAsync();
        (FakeFrame resumed, _) = await next.SubscribeAsync(0);
        Assert.Equal(
            (StartKind.Offset, 0L),
            (resumed.As<SubscribeFrame>().Start, resumed.As<SubscribeFrame>().StartValue)
        );
        await next.DeliverAsync(resumed.Header.Stream, FakeConnection.Batch(0, "a"u8.ToArray()));
        Assert.True(await moved);
    }

    [Fact]
    public async Task A_start_at_an_offset_that_is_gone_gives_its_gap_on_the_next_connection_when_the_first_ends_before()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        var gaps = new List<MessageGap>();
        await using var messages = client
            .ConsumeAsync("orders", new ConsumeOptions { Start = StartPosition.Offset(7), OnGap = gaps.Add }, Cancel)
            .GetAsyncEnumerator(Cancel);
        ValueTask<bool> moved = messages.MoveNextAsync();
        FakeConnection connection = await broker.AcceptAsync();
        await connection.SubscribeAsync(20);
        connection.Dispose();

        using FakeConnection next = await broker.AcceptAsync();
        (FakeFrame resumed, _) = await next.SubscribeAsync(20);
        var frame = resumed.As<SubscribeFrame>();
        Assert.Equal((StartKind.Offset, 7L, 6L), (frame.Start, frame.StartValue, frame.LastOffset));
        await next.WriteAsync(new GapFrame(7, 19, GapReason.Retention), resumed.Header.Stream);
        await next.DeliverAsync(resumed.Header.Stream, FakeConnection.Batch(20, "a"u8.ToArray()));
        Assert.True(await moved);
        Assert.Equal(("a", 20L), (messages.Current.GetText(), messages.Current.Offset));
        Assert.Equal([new MessageGap("orders", 7, 19, GapReason.Retention)], gaps);
    }

    [Fact]
    public async Task A_group_resumes_at_its_committed_position()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        await using var messages = client
            .ConsumeAsync("orders", new ConsumeOptions { Group = "g", Start = StartPosition.Earliest }, Cancel)
            .GetAsyncEnumerator(Cancel);
        ValueTask<bool> moved = messages.MoveNextAsync();
        FakeConnection connection = await broker.AcceptAsync();
        (FakeFrame subscribe, _) = await connection.SubscribeAsync(0);
        Assert.Equal(
            ("g", StartKind.Earliest),
            (subscribe.As<SubscribeFrame>().Group, subscribe.As<SubscribeFrame>().Start)
        );
        await connection.DeliverAsync(subscribe.Header.Stream, FakeConnection.Batch(0, "a"u8.ToArray()));
        Assert.True(await moved);
        connection.Dispose();

        using FakeConnection next = await broker.AcceptAsync();
        (subscribe, _) = await next.SubscribeAsync(1);
        Assert.Equal(
            (StartKind.Committed, -1L),
            (subscribe.As<SubscribeFrame>().Start, subscribe.As<SubscribeFrame>().LastOffset)
        );
    }

    [Fact]
    public async Task A_first_connection_that_is_refused_fails_fast_with_Unavailable_and_may_be_tried_again()
    {
        using var nobody = new RefusingPort();
        await using var client = new LightQClient(new LightQClientOptions { DataPort = nobody.Port });
        for (int i = 0; i < 2; i++)
        {
            LightQException e = await Assert.ThrowsAsync<LightQException>(() => client.ConnectAsync(Cancel));
            Assert.Equal((ErrorCode.Unavailable, true), (e.Code, e.IsTransient));
        }
    }

    [Fact]
    public async Task A_refused_Hello_surfaces_with_its_code()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options with { User = "ann", Password = "wrong" });
        Task connecting = client.ConnectAsync(Cancel);
        using var connection = new FakeConnection(await broker.AcceptRawAsync());
        FakeFrame hello = await connection.ReadAsync(FrameType.Hello);
        Assert.Equal(
            (HelloFrame.Plain, "ann\0wrong"),
            (hello.As<HelloFrame>().Mechanism, hello.As<HelloFrame>().Credentials)
        );
        await connection.WriteAsync(new ErrorFrame(ErrorCode.Unauthenticated, "User or password is wrong."));
        Assert.Equal(ErrorCode.Unauthenticated, (await Assert.ThrowsAsync<LightQException>(() => connecting)).Code);
    }

    [Fact]
    public async Task A_token_that_counts_no_more_is_not_shown_again_and_ends_what_was_opened_with_it()
    {
        using var broker = new FakeBroker();
        var left = new TaskCompletionSource<ConnectionState>();
        await using var client = new LightQClient(broker.Options with { Token = "revoked later" });
        client.ConnectionStateChanged += (_, change) =>
        {
            if (change.Reason is not null)
                left.TrySetResult(change.State);
        };
        (Producer producer, FakeConnection connection) = await ProducerTests.OpenAsync(broker, client);
        using FakeConnection owned = connection;
        Task<PublishAck> sent = producer.PublishAsync("a"u8, cancellationToken: Cancel).AsTask();
        await connection.ReadBatchAsync();

        await connection.WriteAsync(new ErrorFrame(ErrorCode.Unauthenticated, "The login counts no more."));

        Assert.Equal(ErrorCode.OutcomeUnknown, (await Assert.ThrowsAsync<LightQException>(() => sent)).Code);
        Assert.Equal(ConnectionState.Disconnected, await left.Task);
        Assert.Equal(
            ErrorCode.Unauthenticated,
            (
                await Assert.ThrowsAsync<LightQException>(() =>
                    producer.PublishAsync("b"u8, cancellationToken: Cancel).AsTask()
                )
            ).Code
        );
    }

    [Fact]
    public async Task A_password_is_shown_once_more_since_its_user_may_have_been_made_anew()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options with { User = "ann", Password = "still right" });
        (Producer producer, FakeConnection connection) = await ProducerTests.OpenAsync(broker, client);
        await connection.WriteAsync(new ErrorFrame(ErrorCode.Unauthenticated, "The login counts no more."));

        using FakeConnection next = await broker.AcceptAsync();
        await next.OpenProducerAsync();
        Task<PublishAck> sent = producer.PublishAsync("a"u8, cancellationToken: Cancel).AsTask();
        FakeBatch batch = await next.ReadBatchAsync();
        await next.AckAsync(batch.Stream, batch.Ack(0));
        await sent;
        connection.Dispose();
    }

    [Fact]
    public async Task A_quiet_client_sends_Pings_answers_them_and_gives_up_a_silent_broker()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        Task connecting = client.ConnectAsync(Cancel);
        using FakeConnection connection = await broker.AcceptAsync(heartbeatMilliseconds: 40);
        await connecting;
        await connection.WriteAsync(new PingFrame(99));
        Assert.Equal(99ul, (await connection.ReadAsync(FrameType.Pong)).As<PongFrame>().Payload);
        await connection.ReadAsync(FrameType.Ping);
        // Never answered again: after three intervals the client closes and connects anew.
        FakeFrame? frame;
        do frame = await connection.ReadAnyAsync();
        while (frame is not null);
        using FakeConnection next = await broker.AcceptAsync();
    }

    [Fact]
    public async Task A_broker_that_goes_away_gets_its_acks_out_and_the_rest_waits_for_the_next_connection()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (Producer producer, FakeConnection connection) = await ProducerTests.OpenAsync(broker, client);
        Task<PublishAck> a = producer.PublishAsync("a"u8, cancellationToken: Cancel).AsTask();
        FakeBatch first = await connection.ReadBatchAsync();
        await connection.WriteAsync(new GoAwayFrame(ErrorCode.ShuttingDown, 60_000, "restart"));
        await connection.WriteAsync(new PingFrame(1));
        await connection.ReadAsync(FrameType.Pong);
        Task<PublishAck> b = producer.PublishAsync("b"u8, cancellationToken: Cancel).AsTask();
        await connection.AckAsync(first.Stream, first.Ack(0));
        Assert.Equal(0, (await a).Offset);
        Assert.Null(await connection.ReadAnyAsync());
        connection.Dispose();

        using FakeConnection next = await broker.AcceptAsync();
        await next.OpenProducerAsync();
        FakeBatch second = await next.ReadBatchAsync();
        Assert.Equal(["b"], second.Bodies);
        await next.AckAsync(second.Stream, second.Ack(1));
        Assert.Equal(1, (await b).Offset);
    }

    [Theory]
    [InlineData(ReceiveMode.Async)]
    [InlineData(ReceiveMode.Thread)]
    public async Task What_a_broker_that_goes_away_has_sent_to_a_group_arrives_although_the_client_has_said_goodbye(
        ReceiveMode mode
    )
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(
            new LightQClientOptions { DataPort = broker.Options.DataPort, ReceiveMode = mode }
        );
        await using var messages = client
            .ConsumeAsync("orders", new ConsumeOptions { Group = "g" }, Cancel)
            .GetAsyncEnumerator(Cancel);
        ValueTask<bool> moved = messages.MoveNextAsync();
        using FakeConnection connection = await broker.AcceptAsync();
        (FakeFrame subscribe, _) = await connection.SubscribeAsync();

        await connection.WriteAsync(new GoAwayFrame(ErrorCode.ShuttingDown, 60_000, "restart"));
        Assert.Null(await connection.ReadAnyAsync());
        await connection.DeliverAsync(subscribe.Header.Stream, FakeConnection.Batch(0, "a"u8.ToArray()));
        connection.Dispose();

        Assert.True(await moved.AsTask().WaitAsync(TimeSpan.FromSeconds(20), Cancel));
        Assert.Equal("a"u8, messages.Current.Body.Span);
        using FakeConnection next = await broker.AcceptAsync();
    }

    [Fact]
    public async Task Bytes_of_another_protocol_end_the_connection_with_a_typed_error()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        Task connecting = client.ConnectAsync(Cancel);
        using var connection = new FakeConnection(await broker.AcceptRawAsync());
        await connection.WriteRawAsync("HTTP/1.1 400 Bad Request\r\n\r\n"u8.ToArray());
        Assert.Equal(ErrorCode.MalformedFrame, (await Assert.ThrowsAsync<LightQException>(() => connecting)).Code);
    }

    [Fact]
    public async Task State_changes_are_told_in_order()
    {
        using var broker = new FakeBroker();
        var states = new List<ConnectionState>();
        var reconnected = new TaskCompletionSource();
        var client = new LightQClient(broker.Options);
        client.ConnectionStateChanged += (_, change) =>
        {
            states.Add(change.State);
            if (states.Count(s => s == ConnectionState.Connected) == 2)
                reconnected.TrySetResult();
        };
        Task connecting = client.ConnectAsync(Cancel);
        using (await broker.AcceptAsync())
            await connecting;
        using FakeConnection next = await broker.AcceptAsync();
        await reconnected.Task.WaitAsync(Cancel);
        await client.DisposeAsync();
        Assert.Equal(
            [
                ConnectionState.Connecting,
                ConnectionState.Connected,
                ConnectionState.Reconnecting,
                ConnectionState.Connected,
                ConnectionState.Closed,
            ],
            states
        );
    }

    [Fact]
    public void The_reconnect_delay_doubles_up_to_its_limit_and_is_jittered_over_its_whole_range()
    {
        var options = new LightQClientOptions();
        Assert.Equal(TimeSpan.FromMilliseconds(100), RetryDelay.Reconnect(options, 0, 1));
        Assert.Equal(TimeSpan.FromMilliseconds(800), RetryDelay.Reconnect(options, 3, 1));
        Assert.Equal(TimeSpan.FromSeconds(5), RetryDelay.Reconnect(options, 1000, 1));
        Assert.Equal(TimeSpan.Zero, RetryDelay.Reconnect(options, 5, 0));
        Assert.Equal(TimeSpan.FromMilliseconds(400), RetryDelay.Reconnect(options, 3, 0.5));
    }

    private static async Task<(
        Producer Producer,
        Task<PublishAck>[] Published,
        FakeConnection Connection
    )> PublishTwiceAsync(FakeBroker broker, LightQClient client)
    {
        (Producer producer, FakeConnection connection) = await ProducerTests.OpenAsync(
            broker,
            client,
            options: new ProducerOptions { Name = "p1" },
            producerId: 9,
            epoch: 1
        );
        Task<PublishAck> a = producer.PublishAsync("a"u8, cancellationToken: Cancel).AsTask();
        await connection.ReadBatchAsync();
        Task<PublishAck> b = producer.PublishAsync("b"u8, cancellationToken: Cancel).AsTask();
        await connection.ReadBatchAsync();
        return (producer, [a, b], connection);
    }
}
