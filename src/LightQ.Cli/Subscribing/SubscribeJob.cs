using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.Protocol;

namespace LightQ.Cli.Subscribing;

/// <summary>What <c>sub</c> was asked to do.</summary>
internal sealed record SubscribeJob
{
    // Standard output's reader went away, as in "lightq sub orders | head": not an error.
    private const int BrokenPipe = 32;

    public required LightQClientOptions Client { get; init; }

    public required string Topic { get; init; }

    public required ConsumeOptions Options { get; init; }

    /// <summary>Ends after so many messages.</summary>
    public long Count { get; init; } = long.MaxValue;

    /// <summary>Ends after so long a silence; null for never.</summary>
    public TimeSpan? IdleExit { get; init; }

    public MessageFormat Format { get; init; }

    public async Task<int> RunAsync(CancellationToken cancellationToken)
    {
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        await using Stream stdout = Console.OpenStandardOutput();
        var writer = MessageWriter.Create(Format, new OutputBuffer(stdout));
        try
        {
            await WriteAsync(writer, ended);
            writer.Output.Flush();
        }
        catch (OperationCanceledException) when (ended.IsCancellationRequested)
        {
            // Ctrl-C or silence: both are how a subscription ends.
            writer.Output.Flush();
        }
        catch (IOException e) when (e.HResult == BrokenPipe)
        {
            return ExitCode.Ok;
        }
        return ExitCode.Ok;
    }

    private static void Report(MessageGap gap)
    {
        string messages = gap.FirstOffset == gap.LastOffset ? $"message {gap.FirstOffset}" : $"messages {gap.FirstOffset} to {gap.LastOffset}";
        string topic = gap.Partition == 0 ? gap.Topic : new TopicAddress(gap.Topic, gap.Partition).ToString();
        Console.Error.WriteLine($"lightq: {messages} of {topic} will not come ({gap.Reason.ToString().ToLowerInvariant()}).");
    }

    /// <summary>Says what the silence that follows is about: always when it is not what was likely meant, otherwise only to people.</summary>
    private static void Report(SubscriptionStarted started)
    {
        if (started.IsResumed || started.NextOffset < started.EndOffset)
            return;
        string topic = started.PartitionCount == 1 ? started.Topic : new TopicAddress(started.Topic, started.Partition).ToString();
        if (started.NextOffset > started.EndOffset)
            Console.Error.WriteLine($"lightq: {topic} ends before offset {started.EndOffset}; waiting for offset {started.NextOffset}.");
        else if (!Console.IsErrorRedirected && !Console.IsOutputRedirected)
            Console.Error.WriteLine($"lightq: waiting for messages of {topic} from offset {started.NextOffset} on; Ctrl-C ends it.");
    }

    /// <summary>Says which keys do not come, as a pipe would never show.</summary>
    private static void Report(PartitionRefusedEventArgs refused) =>
        Console.Error.WriteLine($"lightq: nothing comes from {new TopicAddress(refused.Topic, refused.Partition)}, which the broker does not serve: {Failure.OneLine(refused.Reason.Message)}");

    /// <summary>Says why nothing comes, and when something can come again.</summary>
    private static void Report(ConnectionStateChangedEventArgs change, ref bool isLost)
    {
        if (change is { State: ConnectionState.Reconnecting, Reason: { } reason })
        {
            Console.Error.WriteLine($"lightq: {(isLost ? "no connection" : "the connection was lost")}, trying again: {Failure.OneLine(reason.Message)}");
            isLost = true;
        }
        else if (change.State == ConnectionState.Connected && isLost)
        {
            Console.Error.WriteLine("lightq: connected again.");
            isLost = false;
        }
    }

    private async Task WriteAsync(MessageWriter writer, CancellationTokenSource ended)
    {
        var subscribed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        int told = 0, count = int.MaxValue;
        ConsumeOptions options = Options with
        {
            OnGap = Report,
            OnSubscribed = started =>
            {
                Report(started);
                writer.HasPartitions = started.PartitionCount > 1;
                count = Options.Partition is null ? started.PartitionCount : 1;
                Answered();
            },
        };

        void Answered() // On one thread, the receiving one.
        {
            if (++told >= count)
                subscribed.TrySetResult();
        }
        bool isLost = false;
        await using var client = new LightQClient(Client);
        client.ConnectionStateChanged += (_, change) => Report(change, ref isLost);
        client.PartitionRefused += (_, refused) =>
        {
            Report(refused);
            Answered();
        };
        await using IAsyncEnumerator<MessageBatch> batches = client.ConsumeBatchesAsync(Topic, options).GetAsyncEnumerator(ended.Token);
        long left = Count;
        while (left > 0)
        {
            ValueTask<bool> next = batches.MoveNextAsync();
            bool more;
            if (next.IsCompleted)
            {
                more = await next;
            }
            else
            {
                writer.Output.Flush();
                more = await WaitAsync(next.AsTask(), subscribed.Task, ended);
            }
            if (!more)
                break;
            long written = writer.Write(batches.Current, left);
            left -= written;
            if (options.SettleMode == SettleMode.Explicit)
                await CompleteAsync(writer, batches.Current, (int)written, ended.Token);
        }
    }

    /// <summary>A message is done when it is where standard output goes. What was not written comes again, to whoever is next.</summary>
    private static async Task CompleteAsync(MessageWriter writer, MessageBatch batch, int written, CancellationToken cancellationToken)
    {
        writer.Output.Flush();
        SettleOutcome outcome = await batch.CompleteAsync(written, cancellationToken);
        if (outcome != SettleOutcome.Done)
            Console.Error.WriteLine($"lightq: messages {batch.BaseOffset} to {batch.BaseOffset + written - 1} were written too late and may come again ({outcome.ToString().ToLowerInvariant()}).");
    }

    /// <summary>Waits for a batch, as long as the silence may last. The clock starts once the subscription stands.</summary>
    private async Task<bool> WaitAsync(Task<bool> next, Task subscribed, CancellationTokenSource ended)
    {
        if (IdleExit is not { } limit)
            return await next;
        await Task.WhenAny(next, subscribed);
        using var noLonger = CancellationTokenSource.CreateLinkedTokenSource(ended.Token);
        if (await Task.WhenAny(next, Task.Delay(limit, noLonger.Token)) != next)
            await ended.CancelAsync();
        else
            await noLonger.CancelAsync();
        return await next;
    }
}
