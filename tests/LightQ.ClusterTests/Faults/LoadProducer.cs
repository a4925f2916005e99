using System.Diagnostics;
using LightQ.Client;

namespace LightQ.ClusterTests.Faults;

/// <summary>A named producer on one partition, with a few messages under way, that goes on whatever happens.</summary>
internal sealed class LoadProducer(string topic, int number, int partition)
{
    private const int UnderWay = 8;

    private readonly Stopwatch _sinceAck = new();
    private readonly List<long> _offsets = [];
    private readonly Lock _lock = new();
    private TimeSpan _longest;

    public int Number => number;

    public int Partition => partition;

    /// <summary>What was acknowledged, by number: the offset, or -1 where the ack did not say.</summary>
    public IReadOnlyList<long> Offsets
    {
        get
        {
            lock (_lock)
                return [.. _offsets];
        }
    }

    /// <summary>How many were sent, acknowledged or not.</summary>
    public int Published { get; private set; }

    /// <summary>The longest time without an ack since this was asked last.</summary>
    public TimeSpan TakeSilence()
    {
        lock (_lock)
        {
            TimeSpan longest = _sinceAck.Elapsed > _longest ? _sinceAck.Elapsed : _longest;
            _longest = TimeSpan.Zero;
            return longest;
        }
    }

    /// <summary>Publishes until it is told to stop, and then waits for every ack.</summary>
    public async Task RunAsync(LightQClient client, CancellationToken stop)
    {
        await using Producer producer = await client.CreateProducerAsync(
            topic,
            new ProducerOptions { Name = FormattableString.Invariant($"p{number}"), Partition = partition },
            CancellationToken.None
        );
        lock (_lock)
            _sinceAck.Start();
        var underWay = new Queue<Task<PublishAck>>();
        while (!stop.IsCancellationRequested)
        {
            byte[] body = new Sent(number, Published++).Encode();
            underWay.Enqueue(producer.PublishAsync(body, cancellationToken: CancellationToken.None).AsTask());
            if (underWay.Count == UnderWay)
                Take(await underWay.Dequeue());
        }
        while (underWay.TryDequeue(out Task<PublishAck>? last))
            Take(await last);
    }

    private void Take(in PublishAck ack)
    {
        lock (_lock)
        {
            if (_sinceAck.Elapsed > _longest)
                _longest = _sinceAck.Elapsed;
            _sinceAck.Restart();
            _offsets.Add(ack.Offset);
        }
    }
}
