using System.Collections.Concurrent;
using LightQ.Client;

namespace LightQ.ClusterTests.Handovers;

/// <summary>Members of a group that settle each message and remember what the broker has answered.</summary>
internal sealed class Settling(string topic, string group)
{
    private const int GiveUpEvery = 7;

    private readonly ConcurrentDictionary<long, int> _done = new();

    /// <summary>The messages whose settlement was answered Done.</summary>
    public int Done => _done.Count;

    /// <summary>Those of which a settlement was answered Done a second time: they had been redelivered.</summary>
    public long[] DoneTwice => [.. _done.Where(m => m.Value > 1).Select(m => m.Key).Order()];

    /// <summary>One member: some settlements are under way while the next message is read.</summary>
    public async Task RunAsync(LightQClient client, CancellationToken stop)
    {
        var options = new ConsumeOptions
        {
            Start = StartPosition.Earliest,
            Group = group,
            SettleMode = SettleMode.Explicit,
        };
        var underWay = new Queue<Task>();
        try
        {
            await foreach (Message message in client.ConsumeAsync(topic, options, stop))
            {
                underWay.Enqueue(SettleAsync(message));
                if (underWay.Count == 4)
                    await underWay.Dequeue();
            }
        }
        catch (OperationCanceledException) when (stop.IsCancellationRequested)
        {
            // It was told to.
        }
        await Task.WhenAll(underWay);
    }

    private async Task SettleAsync(Message message)
    {
        long offset = message.Offset;
        try
        {
            // A copy from a former leader may be read after one that was settled: its lock has run out.
            ValueTask<SettleOutcome> settling =
                offset % GiveUpEvery == 0
                    ? message.DeadLetterAsync("every now and then", CancellationToken.None)
                    : message.CompleteAsync(CancellationToken.None);
            if (await settling == SettleOutcome.Done)
                _done.AddOrUpdate(offset, 1, static (_, times) => times + 1);
        }
        catch (LightQException)
        {
            // Not answered: it is redelivered, or was stored.
        }
    }
}
