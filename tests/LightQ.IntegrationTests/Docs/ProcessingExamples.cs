using System.Collections.Concurrent;
using LightQ.Client;

namespace LightQ.IntegrationTests.Docs;

/// <summary>The C# of docs/use/processing.md, word for word between the markers.</summary>
internal sealed class ProcessingExamples(LightQClient client)
{
    private readonly TaskCompletionSource _billed = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>Bodies of the messages that were handled.</summary>
    public ConcurrentQueue<string> Billed { get; } = new();

    /// <summary>What failed.</summary>
    public ConcurrentQueue<string> Errors { get; } = new();

    /// <summary>Stands for <see cref="System.Console"/> in the examples.</summary>
    private StringWriter Console { get; } = new();

    public async Task ProcessAsync()
    {
        // SHOWN: processor
        await using LightQProcessor processor = client.CreateProcessor("orders", "billing", new() { MaxConcurrency = 8 });

        processor.ProcessMessageAsync += async args =>
        {
            await BillAsync(args.Message.GetText(), args.CancellationToken);
        };
        processor.ProcessErrorAsync += args =>
        {
            Console.WriteLine($"{args.Source} at {args.Topic}/{args.Partition}, {args.Offset}: {args.Exception.Message}");
            return Task.CompletedTask;
        };

        await processor.StartAsync();
        await RunUntilStoppedAsync();
        await processor.StopAsync();
        // SHOWN: end
        Errors.Enqueue(Console.ToString());
    }

    public static ProcessorOptions Retry()
    {
        // SHOWN: retries
        var options = new ProcessorOptions
        {
            Retries =
            [
                RetryRule.DeadLetter<FormatException>(),
                RetryRule.After<HttpRequestException>(TimeSpan.FromMinutes(1)),
            ],
        };
        // SHOWN: end
        return options;
    }

    public void Pause(LightQProcessor processor)
    {
        // SHOWN: pause
        processor.ProcessMessageAsync += async args =>
        {
            try
            {
                await BillAsync(args.Message.GetText(), args.CancellationToken);
            }
            catch (HttpRequestException e)
            {
                await args.PauseAsync(TimeSpan.FromSeconds(30), $"The ledger does not answer: {e.Message}");
            }
        };
        // SHOWN: end
    }

    public async Task FetchAsync()
    {
        // SHOWN: fetch
        await using MessageConsumer consumer = client.CreateConsumer("orders", new()
        {
            Group = "archive",
            SettleMode = SettleMode.Explicit,
        });

        IReadOnlyList<Message> orders = await consumer.FetchAsync(maxMessages: 100, maxWait: TimeSpan.FromSeconds(5));
        await ArchiveAsync(orders);
        foreach (Message order in orders)
            order.QueueCompletion();
        // SHOWN: end
    }

    private Task BillAsync(string order, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        Billed.Enqueue(order);
        if (order == "odd" && Billed.Count(o => o == "odd") == 1)
            throw new FormatException("no price");
        if (Billed.Count == 4)
            _billed.TrySetResult();
        return Task.CompletedTask;
    }

    private Task RunUntilStoppedAsync() => _billed.Task;

    private Task ArchiveAsync(IReadOnlyList<Message> orders)
    {
        foreach (Message order in orders)
            Billed.Enqueue(order.GetText());
        return Task.CompletedTask;
    }
}
