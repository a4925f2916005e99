using LightQ.Client;
using LightQ.Client.Administration;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// Creates, fills and deletes topics while the broker is under attack; what was acknowledged of it must hold
/// afterwards.
/// </summary>
internal sealed class TopicChurn(PublishLedger ledger, string prefix)
{
    private const int Messages = 3;

    private readonly Dictionary<string, State> _topics = [];
    private int _made;

    private enum State
    {
        Creating,
        Filled,
        Deleting,
        Deleted,
    }

    /// <summary>Topics created and deleted so far.</summary>
    public int Made => _made;

    public async Task RunAsync(LightQClient client, Random random, CancellationToken stop)
    {
        while (!stop.IsCancellationRequested)
        {
            try
            {
                await CreateAsync(client, stop);
                if (random.Next(2) == 0)
                    await DeleteAsync(client, _topics.Last(t => t.Value == State.Filled).Key, stop);
            }
            catch (OperationCanceledException) when (stop.IsCancellationRequested)
            {
                // The round is over.
            }
            catch (LightQException e)
                when (e.Code
                        is ErrorCode.Unavailable
                            or ErrorCode.ShuttingDown
                            or ErrorCode.OutcomeUnknown
                            or ErrorCode.Internal
                            or ErrorCode.TopicFailed
                            or ErrorCode.StreamBroken
                )
            {
                return; // The broker is gone, or its disk is: nothing can be done before the next round.
            }
        }
    }

    /// <summary>Compares the broker's topics with what it acknowledged, then deletes the rest.</summary>
    public async Task VerifyAsync(LightQClient client)
    {
        var present = new Dictionary<string, TopicInfo>();
        await foreach (TopicInfo topic in client.Topics.ListAsync())
            present.Add(topic.Name, topic);
        foreach ((string name, State state) in _topics)
        {
            bool exists = present.TryGetValue(name, out TopicInfo? topic);
            if (state == State.Filled && (!exists || topic!.Failure.Length != 0 || topic.EndOffsets[0] != Messages))
            {
                ledger.Report(
                    $"{name} was created and filled, and now "
                        + $"{(exists ? $"ends at {topic!.EndOffsets.FirstOrDefault(-1)} {topic.Failure}" : "is gone")}"
                );
            }

            if (state == State.Deleted && exists)
                ledger.Report($"{name} was deleted and is back");
            if (exists && topic!.Failure.Length != 0)
                ledger.Report($"{name} was not recovered: {topic.Failure}");
        }
        _topics.Clear();
        foreach (string name in present.Keys.Where(n => n.StartsWith(prefix, StringComparison.Ordinal)))
            await client.Topics.DeleteAsync(name);
    }

    private async Task CreateAsync(LightQClient client, CancellationToken stop)
    {
        string name = $"{prefix}{_made++}";
        _topics[name] = State.Creating;
        await client.Topics.CreateAsync(
            new TopicSpec(name)
            {
                Kind = TopicKind.Durable,
                MaxMessageBytes = 4096,
                SegmentBytes = 288 * 1024,
            },
            stop
        );
        await using Producer producer = await client.CreateProducerAsync(
            name,
            new ProducerOptions { DisposeTimeout = TimeSpan.Zero },
            stop
        );
        for (int i = 0; i < Messages; i++)
            await producer.PublishAsync(BitConverter.GetBytes(i), cancellationToken: stop);
        _topics[name] = State.Filled;
    }

    private async Task DeleteAsync(LightQClient client, string name, CancellationToken stop)
    {
        _topics[name] = State.Deleting;
        await client.Topics.DeleteAsync(name, stop);
        _topics[name] = State.Deleted;
    }
}
