using System.Diagnostics;
using LightQ.Client;
using LightQ.Testing;
using Xunit;

namespace LightQ.IntegrationTests.Delivery;

/// <summary>Whoever starts, stops or steps what runs by itself: what of that reaches it, and what does not.</summary>
public sealed class StarterTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);
    private static readonly AsyncLocal<string?> Request = new();

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Handlers_and_events_have_nothing_of_whoever_started_them()
    {
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Cancelled);
        await using LightQClient admin = broker.CreateClient();
        await admin.Topics.CreateAsync(new TopicSpec("jobs") { Kind = TopicKind.Durable }, Cancelled);
        var seen = new TaskCompletionSource<string?>(TaskCreationOptions.RunContinuationsAsynchronously);
        var changed = new TaskCompletionSource<string?>(TaskCreationOptions.RunContinuationsAsynchronously);
        await using LightQClient client = broker.CreateClient();
        client.ConnectionStateChanged += (_, _) => changed.TrySetResult(Request.Value);
        await using LightQProcessor processor = client.CreateProcessor("jobs", "workers");
        processor.ProcessMessageAsync += _ =>
        {
            seen.TrySetResult(Request.Value ?? Activity.Current?.OperationName);
            return Task.CompletedTask;
        };

        Request.Value = "of a request";
        using (var activity = new Activity("of a request").Start())
            await processor.StartAsync(Cancelled);
        await admin.PublishAsync("jobs", "a", cancellationToken: Cancelled);

        Assert.Null(await seen.Task.WaitAsync(Patience, Cancelled));
        Assert.Null(await changed.Task.WaitAsync(Patience, Cancelled));
    }

    [Fact]
    public async Task A_stop_takes_no_longer_than_its_token_whatever_the_handlers_do()
    {
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Cancelled);
        await using LightQClient client = broker.CreateClient();
        await client.Topics.CreateAsync(new TopicSpec("jobs") { Kind = TopicKind.Durable }, Cancelled);
        await client.PublishAsync("jobs", "a", cancellationToken: Cancelled);
        var begun = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var mayEnd = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using LightQProcessor processor = client.CreateProcessor("jobs", "workers");
        processor.ProcessMessageAsync += async _ =>
        {
            begun.TrySetResult();
            await mayEnd.Task;
        };
        await processor.StartAsync(Cancelled);
        await begun.Task.WaitAsync(Patience, Cancelled);

        using var over = new CancellationTokenSource();
        await over.CancelAsync();
        var watch = Stopwatch.StartNew();
        await processor.StopAsync(over.Token);
        Assert.True(watch.Elapsed < TimeSpan.FromSeconds(4), $"It took {watch.Elapsed}."); // It waited for 5 s.
        mayEnd.SetResult();
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_step_beside_one_that_waits_is_refused_and_the_loop_goes_on(bool areBatches)
    {
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Cancelled);
        await using LightQClient client = broker.CreateClient();
        await client.Topics.CreateAsync(new TopicSpec("jobs") { Kind = TopicKind.Durable }, Cancelled);
        if (areBatches)
            await StepAsync(client.ConsumeBatchesAsync("jobs", cancellationToken: Cancelled));
        else
            await StepAsync(client.ConsumeAsync("jobs", cancellationToken: Cancelled));

        async Task StepAsync<T>(IAsyncEnumerable<T> stream)
        {
            await using IAsyncEnumerator<T> steps = stream.GetAsyncEnumerator(Cancelled);
            ValueTask<bool> opening = steps.MoveNextAsync();
            if (!opening.IsCompleted)
                await Assert.ThrowsAsync<InvalidOperationException>(async () => await steps.MoveNextAsync());
            for (int i = 0; i < 3; i++)
            {
                Task<bool> first = opening.AsTask();
                await Eventually.TrueAsync(
                    async () =>
                    {
                        await client.PublishAsync("jobs", "a", cancellationToken: Cancelled);
                        return first.IsCompleted;
                    },
                    Patience,
                    () => "nothing comes"
                );
                Assert.True(await first);
                while ((opening = steps.MoveNextAsync()).IsCompleted)
                    Assert.True(await opening);
                InvalidOperationException e = await Assert.ThrowsAsync<InvalidOperationException>(async () =>
                    await steps.MoveNextAsync()
                );
                Assert.Contains("await", e.Message, StringComparison.Ordinal);
            }
            Task<bool> last = opening.AsTask();
            await client.PublishAsync("jobs", "b", cancellationToken: Cancelled);
            Assert.True(await last);
        }
    }

    [Fact]
    public async Task Work_that_was_not_awaited_is_not_published_as_a_message()
    {
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Cancelled);
        await using LightQClient client = broker.CreateClient();
        await client.Topics.CreateAsync(new TopicSpec("jobs") { Kind = TopicKind.Durable }, Cancelled);
        ArgumentException e = await Assert.ThrowsAsync<ArgumentException>(async () =>
            await client.PublishAsync("jobs", Task.FromResult("a"), cancellationToken: Cancelled)
        );
        Assert.Contains("await it", e.Message, StringComparison.Ordinal);
        Assert.Equal([0], (await client.Topics.GetAsync("jobs", Cancelled)).EndOffsets);
    }

    [Fact]
    public async Task A_header_is_read_as_text()
    {
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync(cancellationToken: Cancelled);
        await using LightQClient client = broker.CreateClient();
        await client.Topics.CreateAsync(new TopicSpec("jobs") { Kind = TopicKind.Durable }, Cancelled);
        await client.PublishAsync(
            "jobs",
            "a",
            headers: new MessageHeaders { { "name", "Ünal" } },
            cancellationToken: Cancelled
        );
        await foreach (
            Message message in client.ConsumeAsync("jobs", new() { Start = StartPosition.Earliest }, Cancelled)
        )
        {
            Assert.Equal("Ünal", message.GetHeader("name"));
            Assert.StartsWith("text/plain", message.GetHeader("content-type"), StringComparison.Ordinal);
            Assert.Null(message.GetHeader("other"));
            break;
        }
    }
}
