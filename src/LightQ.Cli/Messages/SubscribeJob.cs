using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.Protocol;

namespace LightQ.Cli.Messages;

/// <summary>What <c>sub</c> was asked to do.</summary>
internal sealed record SubscribeJob
{
    private static readonly TimeSpan LeavePatience = TimeSpan.FromSeconds(2);

    public required LightQClientOptions Client { get; init; }

    public required string Topic { get; init; }

    public required ConsumeOptions Options { get; init; }

    /// <summary>
    /// Whether the broker may settle where this member cannot: on a transient topic, and beside members for whom it
    /// does.
    /// </summary>
    public bool MaySettleAutomatically { get; init; }

    /// <summary>Ends after so many messages.</summary>
    public long Count { get; init; } = long.MaxValue;

    /// <summary>Ends after so long a silence; null for never.</summary>
    public TimeSpan? IdleExit { get; init; }

    public MessageFormat Format { get; init; }

    public async Task<int> RunAsync(CancellationToken cancellationToken)
    {
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, StandardOutput.Closed);
        await using var stdout = new StandardOutput();
        var writer = MessageWriter.Create(Format, new OutputBuffer(stdout));
        try
        {
            await WriteAsync(writer, ended, cancellationToken);
        }
        catch (OperationCanceledException) when (ended.IsCancellationRequested)
        {
            // Ctrl-C, silence, or a reader of the output that is gone: each ends a subscription as usual.
        }
        writer.Output.Flush();
        return StandardOutput.Closed.IsCancellationRequested ? throw new OutputClosedException() : ExitCode.Ok;
    }

    private static void Report(MessageGap gap)
    {
        string messages =
            gap.FirstOffset == gap.LastOffset
                ? $"message {gap.FirstOffset}"
                : $"messages {gap.FirstOffset} to {gap.LastOffset}";
        string topic = gap.Partition == 0 ? gap.Topic : new TopicAddress(gap.Topic, gap.Partition).ToString();
        Console.Error.WriteLine(
            $"lightq: {messages} of {topic} will not come ({gap.Reason.ToString().ToLowerInvariant()})."
        );
    }

    /// <summary>
    /// Says what the silence that follows is about: always when it is not what was likely meant, otherwise only to
    /// people.
    /// </summary>
    private static void Report(SubscriptionStarted started)
    {
        if (started.IsResumed || started.NextOffset < started.EndOffset)
            return;
        string topic =
            started.PartitionCount == 1 ? started.Topic : new TopicAddress(started.Topic, started.Partition).ToString();
        if (started.NextOffset > started.EndOffset)
        {
            Console.Error.WriteLine(
                $"lightq: {topic} ends before offset {started.EndOffset}; waiting for offset {started.NextOffset}."
            );
        }
        else if (!Console.IsErrorRedirected && !Console.IsOutputRedirected)
        {
            Console.Error.WriteLine(
                $"lightq: waiting for messages of {topic} from offset {started.NextOffset} on; Ctrl-C ends it."
            );
        }
    }

    /// <summary>Says which keys do not come, as a pipe would never show.</summary>
    private static void Report(PartitionRefusedEventArgs refused) =>
        Console.Error.WriteLine(
            $"lightq: nothing comes from {new TopicAddress(refused.Topic, refused.Partition)}, which the broker does "
                + $"not serve: {Failure.OneLine(refused.Reason.Message)}"
        );

    /// <summary>Reports why no messages arrive, and when messages can be redelivered.</summary>
    private static void Report(ConnectionStateChangedEventArgs change, ref bool isLost)
    {
        if (change is { State: ConnectionState.Reconnecting, Reason: { } reason })
        {
            Console.Error.WriteLine(
                $"lightq: {(isLost ? "no connection" : "the connection was lost")}, trying again: "
                    + $"{Failure.OneLine(reason.Message)}"
            );
            isLost = true;
        }
        else if (change.State == ConnectionState.Connected && isLost)
        {
            Console.Error.WriteLine("lightq: connected again.");
            isLost = false;
        }
    }

    /// <summary>
    /// Waits until the broker has taken what was said last, and that this member leaves. What it holds is then given
    /// back; with the connection just gone, each message would count as delivered once more, and after some times as
    /// one that no caller can handle.
    /// </summary>
    private static async Task LeaveAsync(LightQClient client)
    {
        if (client.State != ConnectionState.Connected)
            return;
        using var enough = new CancellationTokenSource(LeavePatience);
        try
        {
            await client.PingAsync(enough.Token);
        }
        catch (Exception e) when (e is LightQException or OperationCanceledException)
        {
            // The connection has ended, or does not move.
        }
    }

    private async Task WriteAsync(MessageWriter writer, CancellationTokenSource ended, CancellationToken interrupted)
    {
        bool isLost = false;
        await using var client = new LightQClient(Client);
        client.ConnectionStateChanged += (_, change) => Report(change, ref isLost);
        client.PartitionRefused += (_, refused) => Report(refused);
        try
        {
            await ConsumeAsync(client, Options, writer, ended, interrupted);
        }
        catch (LightQException e)
            when (MaySettleAutomatically && e.Code is ErrorCode.NotSupported or ErrorCode.InvalidArgument)
        {
            // If that was not the reason, the broker rejects it once more.
            await ConsumeAsync(
                client,
                Options with
                {
                    SettleMode = SettleMode.Automatic,
                    LockDuration = null,
                },
                writer,
                ended,
                interrupted
            );
        }
        finally
        {
            if (Options.Group is not null)
                await LeaveAsync(client);
        }
    }

    private async Task ConsumeAsync(
        LightQClient client,
        ConsumeOptions wanted,
        MessageWriter writer,
        CancellationTokenSource ended,
        CancellationToken interrupted
    )
    {
        var subscribed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        int told = 0,
            count = int.MaxValue;
        ConsumeOptions options = wanted with
        {
            OnGap = Report,
            OnSubscribed = started =>
            {
                Report(started);
                writer.HasPartitions = started.PartitionCount > 1;
                count = wanted.Partition is null ? started.PartitionCount : 1;
                Answered();
            },
        };

        void Answered() // On one thread, the receiving one.
        {
            if (++told >= count)
                subscribed.TrySetResult();
        }

        client.PartitionRefused += (_, _) => Answered();
        using var reading = CancellationTokenSource.CreateLinkedTokenSource(ended.Token);
        await using IAsyncEnumerator<MessageBatch> batches = client
            .ConsumeBatchesAsync(Topic, options, reading.Token)
            .GetAsyncEnumerator(reading.Token);
        try
        {
            await WriteAsync(batches, options.SettleMode, writer, subscribed.Task, ended, interrupted);
        }
        finally
        {
            // Whatever ends this, no message is to blame: what was not written does not count as delivered.
            await reading.CancelAsync();
        }
    }

    private async Task WriteAsync(
        IAsyncEnumerator<MessageBatch> batches,
        SettleMode mode,
        MessageWriter writer,
        Task subscribed,
        CancellationTokenSource ended,
        CancellationToken interrupted
    )
    {
        while (writer.Written < Count)
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
                more = await WaitAsync(next.AsTask(), subscribed, ended);
            }
            if (!more)
                break;
            int done = writer.Write(batches.Current, Count - writer.Written);
            if (mode == SettleMode.Explicit)
                // Also when the output has no reader any more: this was written.
                await CompleteAsync(writer, batches.Current, done, interrupted);
        }
    }

    /// <summary>
    /// A message is done when it is where standard output goes. What was not written is redelivered to the next member.
    /// </summary>
    private static async Task CompleteAsync(
        MessageWriter writer,
        MessageBatch batch,
        int done,
        CancellationToken cancellationToken
    )
    {
        writer.Output.Flush();
        SettleOutcome outcome = await batch.CompleteAsync(done, cancellationToken);
        if (outcome != SettleOutcome.Done)
        {
            Console.Error.WriteLine(
                $"lightq: messages {batch.BaseOffset} to {batch.BaseOffset + done - 1} were written too late and may "
                    + $"be redelivered ({outcome.ToString().ToLowerInvariant()})."
            );
        }
    }

    /// <summary>
    /// Waits for a batch, as long as the silence may last. The clock starts once the subscription stands.
    /// </summary>
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
