using LightQ.Client;
using LightQ.Tests.Shared;
using Microsoft.Extensions.Logging;
using Xunit;

namespace LightQ.IntegrationTests.Delivery;

/// <summary>What a processor logs of messages that always fail: enough, and no flood.</summary>
public sealed class FailureLogTests
{
    private const int Messages = 500,
        MaxDeliveries = 3;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_stack_for_each_kind_some_lines_and_how_many_were_left_out()
    {
        // A clock that stands still: all failures fall into one period.
        using RecordedLog log = await RunAsync(processor =>
            processor.ProcessMessageAsync += args =>
            {
                if (args.Message.Offset % 2 == 0)
                    throw new FormatException("no\nprice");
                throw new InvalidOperationException("no customer");
            }
        );

        (LogLevel Level, string Message, Exception? Error)[] errors =
        [
            .. log.Lines.Where(l => l.Level >= LogLevel.Error),
        ];
        Assert.Equal(
            [typeof(FormatException), typeof(InvalidOperationException)],
            errors.Select(e => e.Error?.GetType()).OfType<Type>().OrderBy(t => t.Name)
        );
        Assert.Equal(
            2 * 9,
            errors.Count(e =>
                e.Message.Contains(" failed again (Handler, partition 0, offset ", StringComparison.Ordinal)
            )
        );
        int each = (Messages / 2 * MaxDeliveries) - 10;
        Assert.Contains(
            $"{each} more failures of the processor of orders for billing (Handler) are left out here; the last: "
                + $"FormatException: no price",
            errors.Select(e => e.Message)
        );
        Assert.Contains(
            $"{each} more failures of the processor of orders for billing (Handler) are left out here; the last: "
                + $"InvalidOperationException: no customer",
            errors.Select(e => e.Message)
        );
        Assert.Equal(10, errors.Count(e => e.Message.Contains("for the last time", StringComparison.Ordinal)));
        Assert.Contains(
            $"{Messages - 10} more failures of the processor of orders for billing (last deliveries) are left out",
            string.Join('\n', errors.Select(e => e.Message)),
            StringComparison.Ordinal
        );
        Assert.Equal(2 + (2 * 9) + 2 + 10 + 1, errors.Length);
        Assert.All(errors, e => Assert.DoesNotContain('\n', e.Message));
    }

    [Fact]
    public async Task Kinds_without_an_end_are_one_after_a_while()
    {
        using RecordedLog log = await RunAsync(processor =>
            processor.ProcessMessageAsync += args => throw Nested(0, (int)args.Message.Offset % 60)
        );

        Exception[] stacks = [.. log.Lines.Select(l => l.Error).OfType<Exception>()];
        Assert.Equal(33, stacks.Length);
        Assert.InRange(log.Errors.Count(), 33, 34 * 11);
    }

    [Fact]
    public async Task An_error_handler_that_throws_for_every_message_fills_nothing_either()
    {
        using RecordedLog log = await RunAsync(processor =>
        {
            processor.ProcessMessageAsync += _ => throw new FormatException("no price");
            processor.ProcessErrorAsync += _ => throw new InvalidOperationException("no mail");
        });

        Assert.Single(log.Lines, l => l.Error is InvalidOperationException);
        Assert.Equal(
            9,
            log.Errors.Count(e => e == "A handler of ProcessErrorAsync threw again: InvalidOperationException: no mail")
        );
        Assert.Contains(
            $"{(Messages * MaxDeliveries) - 10} more failures",
            log.Errors.Last(),
            StringComparison.Ordinal
        );
        // The last deliveries are said by the processor itself.
        Assert.Equal(11 + 11, log.Errors.Count());
    }

    /// <summary>An exception whose type nobody has seen.</summary>
    private static Exception Nested(int depth, int kind) =>
        (Exception)Activator.CreateInstance(typeof(OddException<>).MakeGenericType(OfKind(depth, kind)))!;

    private static Type OfKind(int depth, int kind) =>
        depth == kind ? typeof(int) : typeof(List<>).MakeGenericType(OfKind(depth + 1, kind));

    private static async Task<RecordedLog> RunAsync(Action<LightQProcessor> configure)
    {
        var log = new RecordedLog();
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(
            new TopicSpec("orders")
            {
                Kind = TopicKind.Durable,
                MaxDeliveries = MaxDeliveries,
                RetryDelay = TimeSpan.Zero,
            },
            Cancel
        );
        await using (Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Cancel))
        {
            for (int i = 0; i < Messages; i++)
                Assert.True(producer.TryPublish("odd"u8));
            await producer.FlushAsync(Cancel);
        }
        await using var working = new LightQClient(
            LightQClientOptions.Parse(server.ConnectionString) with
            {
                LoggerFactory = log,
                TimeProvider = new ManualTime(),
            }
        );
        await using LightQProcessor processor = working.CreateProcessor(
            "orders",
            "billing",
            new() { MaxConcurrency = 16, MaxLockRenewal = TimeSpan.Zero }
        );
        configure(processor);
        await processor.StartAsync(Cancel);
        var group = server.Broker.GetTopic("orders").Partitions[0].Groups().Single();
        await Eventually.TrueAsync(() => group.Committed == Messages, Patience, () => group.Figures().ToString());
        await processor.StopAsync(Cancel);
        return log;
    }

    private sealed class OddException<T> : Exception;
}
