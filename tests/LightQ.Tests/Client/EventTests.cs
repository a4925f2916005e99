using System.Collections.Concurrent;
using LightQ.Client;
using LightQ.Protocol.Frames;
using Xunit;

namespace LightQ.Tests.Client;

/// <summary>What a client tells its application about, when, and what handlers that throw do to it: nothing.</summary>
public sealed class EventTests
{
    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_broker_that_leaves_is_told_before_the_change_of_state_that_follows()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        var told = new ConcurrentQueue<string>();
        client.GoingAway += (_, leaving) =>
            told.Enqueue($"{leaving.Code} {leaving.TimeLeft.TotalSeconds} s {leaving.Message}");
        var resumed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        client.ConnectionStateChanged += (_, change) =>
        {
            told.Enqueue($"{change.State} {change.Reason?.Code}");
            if (change.State == ConnectionState.Connected && told.Count > 2)
                resumed.SetResult();
        };
        Task connecting = client.ConnectAsync(Cancel);
        using FakeConnection connection = await broker.AcceptAsync();
        await connecting;

        await connection.WriteAsync(new GoAwayFrame(ErrorCode.ShuttingDown, 60_000, "restart"));
        Assert.Null(await connection.ReadAnyAsync());
        connection.Dispose();

        using FakeConnection next = await broker.AcceptAsync();
        await resumed.Task.WaitAsync(Cancel);
        Assert.Equal(
            ["Connecting ", "Connected ", "ShuttingDown 60 s restart", "Reconnecting ShuttingDown", "Connected "],
            told
        );
    }

    [Fact]
    public async Task A_broker_that_refuses_who_was_connected_is_told_once_for_each_reason()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        var told = new ConcurrentQueue<string>();
        var resumed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        client.ConnectionStateChanged += (_, change) =>
        {
            told.Enqueue($"{change.State} {change.Reason?.Code}");
            if (change.State == ConnectionState.Connected && told.Count > 2)
                resumed.SetResult();
        };
        Task connecting = client.ConnectAsync(Cancel);
        using (await broker.AcceptAsync())
            await connecting;
        foreach (ErrorCode code in (ErrorCode[])[ErrorCode.TlsFailed, ErrorCode.TlsFailed, ErrorCode.ResourceExhausted])
        {
            using var refused = new FakeConnection(await broker.AcceptRawAsync());
            await refused.ReadAsync(FrameType.Hello);
            await refused.WriteAsync(new ErrorFrame(code, "no"));
        }
        using FakeConnection next = await broker.AcceptAsync();
        await resumed.Task.WaitAsync(Cancel);
        Assert.Equal(
            [
                "Connecting ",
                "Connected ",
                "Reconnecting Unavailable",
                "Reconnecting TlsFailed",
                "Reconnecting ResourceExhausted",
                "Connected ",
            ],
            told
        );
    }

    [Theory]
    [InlineData(null)]
    [InlineData("billing")]
    public async Task A_subscription_that_was_too_slow_is_told_with_topic_and_reason_and_its_enumeration_ends(
        string? group
    )
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        var told = new TaskCompletionSource<SlowConsumerEventArgs>(TaskCreationOptions.RunContinuationsAsynchronously);
        client.SlowConsumerDetected += (_, slow) => told.SetResult(slow);
        await using var messages = client
            .ConsumeAsync("orders/3", new ConsumeOptions { Group = group }, Cancel)
            .GetAsyncEnumerator(Cancel);
        ValueTask<bool> moved = messages.MoveNextAsync();
        using FakeConnection connection = await broker.AcceptAsync();
        (FakeFrame subscribe, _) = await connection.SubscribeAsync();
        await connection.DeliverAsync(subscribe.Header.Stream, FakeConnection.Batch(0, "a"u8.ToArray()));
        Assert.True(await moved);

        await connection.WriteAsync(
            new ClosedFrame(ErrorCode.SlowConsumer, "not sent: 1 to 9"),
            subscribe.Header.Stream
        );

        SlowConsumerEventArgs slow = await told.Task.WaitAsync(Cancel);
        Assert.Equal(("orders", 3, group), (slow.Topic, slow.Partition, slow.Group));
        LightQException end = await Assert.ThrowsAsync<LightQException>(async () => await messages.MoveNextAsync());
        Assert.Equal((ErrorCode.SlowConsumer, "not sent: 1 to 9"), (end.Code, end.Message));
        Assert.Equal((end.Code, end.Message), (slow.Reason.Code, slow.Reason.Message));
    }

    [Fact]
    public async Task A_subscription_that_ends_for_another_reason_is_not_told_as_slow()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        int told = 0;
        client.SlowConsumerDetected += (_, _) => told++;
        await using var messages = client.ConsumeAsync("orders", cancellationToken: Cancel).GetAsyncEnumerator(Cancel);
        ValueTask<bool> moved = messages.MoveNextAsync();
        using FakeConnection connection = await broker.AcceptAsync();
        (FakeFrame subscribe, _) = await connection.SubscribeAsync();

        await connection.WriteAsync(new ClosedFrame(ErrorCode.TopicDeleted, "gone"), subscribe.Header.Stream);

        Assert.Equal(ErrorCode.TopicDeleted, (await Assert.ThrowsAsync<LightQException>(async () => await moved)).Code);
        Assert.Equal(0, told);
    }

    [Fact]
    public async Task Handlers_that_throw_are_logged_and_keep_the_client_from_nothing()
    {
        using var broker = new FakeBroker();
        using var log = new RecordedLog();
        using var loggers = new Microsoft.Extensions.Logging.LoggerFactory([log]);
        await using var client = new LightQClient(broker.Options with { LoggerFactory = loggers });
        client.ConnectionStateChanged += (_, _) => throw new InvalidOperationException("state");
        client.GoingAway += (_, _) => throw new InvalidOperationException("going");
        client.SlowConsumerDetected += (_, _) => throw new InvalidOperationException("slow");
        await using var messages = client.ConsumeAsync("orders", cancellationToken: Cancel).GetAsyncEnumerator(Cancel);
        ValueTask<bool> moved = messages.MoveNextAsync();
        using FakeConnection connection = await broker.AcceptAsync();
        await connection.SubscribeAsync();
        await connection.WriteAsync(new GoAwayFrame(ErrorCode.ShuttingDown, 60_000, "restart"));
        Assert.Null(await connection.ReadAnyAsync());
        connection.Dispose();

        using FakeConnection next = await broker.AcceptAsync();
        (FakeFrame subscribe, _) = await next.SubscribeAsync();
        await next.WriteAsync(new ClosedFrame(ErrorCode.SlowConsumer, "not sent: 1 to 9"), subscribe.Header.Stream);

        Assert.Equal(ErrorCode.SlowConsumer, (await Assert.ThrowsAsync<LightQException>(async () => await moved)).Code);
        await client.DisposeAsync();
        foreach (string name in (string[])["ConnectionStateChanged", "GoingAway", "SlowConsumerDetected"])
        {
            Assert.Contains(
                log.Lines,
                line => line.Message.Contains($"A handler of {name} threw.", StringComparison.Ordinal)
            );
        }
    }

    [Fact]
    public async Task What_a_handler_of_gaps_throws_surfaces_where_the_messages_are_enumerated()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        client.GapDetected += (_, gap) => throw new InvalidOperationException($"gap {gap.FirstOffset}");
        await using var messages = client.ConsumeAsync("orders", cancellationToken: Cancel).GetAsyncEnumerator(Cancel);
        ValueTask<bool> moved = messages.MoveNextAsync();
        using FakeConnection connection = await broker.AcceptAsync();
        (FakeFrame subscribe, _) = await connection.SubscribeAsync();

        await connection.WriteAsync(new GapFrame(0, 7, GapReason.Dropped), subscribe.Header.Stream);

        Assert.Equal("gap 0", (await Assert.ThrowsAsync<InvalidOperationException>(async () => await moved)).Message);
    }
}
