using System.Collections.Concurrent;
using LightQ.Client;

namespace LightQ.ClusterTests.Faults;

/// <summary>A consumer of a whole topic: by itself, or as the member of a group that settles each message.</summary>
internal sealed class LoadConsumer(string topic, string? group)
{
    private readonly ConcurrentDictionary<(int Partition, long Offset), Sent> _seen = new();
    private readonly ConcurrentDictionary<int, long> _last = new();
    private long _again;

    /// <summary>What came, by where it is.</summary>
    public IReadOnlyDictionary<(int Partition, long Offset), Sent> Seen => _seen;

    /// <summary>Messages that came once more.</summary>
    public long Again => Volatile.Read(ref _again);

    /// <summary>
    /// What was against the order of a partition, or another message at the same place; null for nothing.
    /// </summary>
    public string? Fault { get; private set; }

    public async Task RunAsync(LightQClient client, CancellationToken stop)
    {
        var options = new ConsumeOptions
        {
            Start = group is null ? StartPosition.Earliest : StartPosition.Committed,
            Group = group,
            SettleMode = group is null ? default : SettleMode.Explicit,
        };
        try
        {
            await foreach (Message message in client.ConsumeAsync(topic, options, stop))
            {
                Take(message);
                if (group is not null)
                    message.QueueCompletion();
            }
        }
        catch (OperationCanceledException) when (stop.IsCancellationRequested)
        {
            // It was told to.
        }
    }

    private void Take(in Message message)
    {
        var sent = Sent.Decode(message.BodySpan);
        (int, long) place = (message.Partition, message.Offset);
        if (_seen.TryGetValue(place, out Sent known))
        {
            Interlocked.Increment(ref _again);
            if (known != sent)
                Fault ??= $"{place} was {known} and is {sent}";
        }
        _seen[place] = sent;
        if (group is not null)
            return;
        if (_last.TryGetValue(message.Partition, out long last) && message.Offset != last + 1)
            Fault ??= $"{message.Partition}/{message.Offset} came behind {last}";
        _last[message.Partition] = message.Offset;
    }
}
