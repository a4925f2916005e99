using System.Buffers.Binary;
using System.Diagnostics;
using LightQ.Cli.Output;
using LightQ.Client;

namespace LightQ.Cli.Clusters;

/// <summary>
/// A named producer on each partition, which numbers its messages, and a consumer that counts what is missing and what
/// comes twice.
/// </summary>
internal sealed class TryLoad : IAsyncDisposable
{
    public const int Partitions = 3;

    private const int UnderWay = 64,
        BodyBytes = 100;

    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(20);

    private readonly LightQClient _producing,
        _consuming;
    private readonly CancellationTokenSource _stopProducing = new(),
        _stopConsuming = new();
    private readonly long[] _acknowledged = new long[Partitions],
        _expected = new long[Partitions],
        _lastAck = new long[Partitions];
    private readonly string _topic;
    private Task _work = Task.CompletedTask,
        _consumption = Task.CompletedTask;
    private long _consumed,
        _lost,
        _duplicated,
        _longestSilence,
        _longestOfFault,
        _faultAt;

    /// <param name="connectionString">Of the cluster.</param>
    /// <param name="topic">A topic of its own.</param>
    public TryLoad(string connectionString, string topic)
    {
        _producing = new LightQClient(connectionString);
        _consuming = new LightQClient(connectionString);
        _topic = topic;
    }

    public long Acknowledged
    {
        get
        {
            long sum = 0;
            for (int i = 0; i < Partitions; i++)
                sum += Volatile.Read(ref _acknowledged[i]);
            return sum;
        }
    }

    /// <summary>Messages that came for the first time.</summary>
    public long Consumed => Volatile.Read(ref _consumed);

    public long Duplicated => Volatile.Read(ref _duplicated);

    /// <summary>The longest time in which a producer got no ack.</summary>
    public TimeSpan LongestSilence
    {
        get
        {
            long longest = Volatile.Read(ref _longestSilence);
            for (int i = 0; i < Partitions && !_stopProducing.IsCancellationRequested; i++)
            {
                if (Volatile.Read(ref _lastAck[i]) is > 0 and var last)
                    longest = Math.Max(longest, Stopwatch.GetTimestamp() - last);
            }
            return Stopwatch.GetElapsedTime(0, longest);
        }
    }

    /// <summary>A fault begins.</summary>
    public void BeginSilence()
    {
        Volatile.Write(ref _longestOfFault, 0);
        Volatile.Write(ref _faultAt, Stopwatch.GetTimestamp());
    }

    /// <summary>A fault has ended: waits until each producer has had an ack since.</summary>
    /// <returns>The longest time in which one got no ack since the fault began.</returns>
    /// <exception cref="CommandException">One gets none.</exception>
    public async Task<TimeSpan> EndSilenceAsync(TimeSpan patience)
    {
        long ended = Stopwatch.GetTimestamp();
        for (int i = 0; i < Partitions; i++)
        {
            while (Volatile.Read(ref _lastAck[i]) < ended && !_stopProducing.IsCancellationRequested)
            {
                if (Stopwatch.GetElapsedTime(ended) > patience)
                {
                    throw new CommandException(
                        ExitCode.Failed,
                        $"Partition {i} of {_topic} has had no ack for {patience.TotalSeconds} s after a fault."
                    );
                }
                await Task.Delay(Look);
            }
        }
        return Stopwatch.GetElapsedTime(0, Volatile.Read(ref _longestOfFault));
    }

    /// <summary>Makes the topic and begins.</summary>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        await _producing.Topics.CreateAsync(
            new TopicSpec(_topic)
            {
                Kind = TopicKind.Durable,
                Replicas = 3,
                Partitions = Partitions,
            },
            cancellationToken
        );
        _consumption = Task.Run(ConsumeAsync, CancellationToken.None);
        _work = Task.WhenAll(Enumerable.Range(0, Partitions).Select(p => Task.Run(() => ProduceAsync(p))));
    }

    /// <summary>Waits for something; when the load fails meanwhile, throws why.</summary>
    public async Task WhileWorkingAsync(Task task)
    {
        await await Task.WhenAny(task, _work, _consumption);
        await task;
    }

    /// <summary>
    /// Stops publishing, waits for every ack, and until all that was acknowledged has been consumed or nothing has come
    /// for some time.
    /// </summary>
    /// <returns>How many of the acknowledged messages were not consumed.</returns>
    public async Task<long> EndAsync(TimeSpan patience, CancellationToken cancellationToken)
    {
        await _stopProducing.CancelAsync();
        await _work.WaitAsync(patience, cancellationToken);
        var idle = Stopwatch.StartNew();
        for (long before = 0; Consumed + Volatile.Read(ref _lost) < Acknowledged && idle.Elapsed < patience; )
        {
            await WhileConsumingAsync(Task.Delay(Look, cancellationToken));
            if (Consumed != before)
                idle.Restart();
            before = Consumed;
        }
        await _stopConsuming.CancelAsync();
        await _consumption;
        return Acknowledged - Consumed;
    }

    public async ValueTask DisposeAsync()
    {
        await _stopProducing.CancelAsync();
        await _stopConsuming.CancelAsync();
        await _producing.DisposeAsync();
        await _consuming.DisposeAsync();
        await Task.WhenAll(_work, _consumption).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        _stopProducing.Dispose();
        _stopConsuming.Dispose();
    }

    private async Task WhileConsumingAsync(Task task)
    {
        await await Task.WhenAny(task, _consumption);
        await task;
    }

    private async Task ProduceAsync(int partition)
    {
        await using Producer producer = await _producing.CreateProducerAsync(
            _topic,
            new ProducerOptions { Name = FormattableString.Invariant($"try-{partition}"), Partition = partition },
            CancellationToken.None
        );
        var underWay = new Queue<Task<PublishAck>>();
        byte[] body = new byte[BodyBytes];
        Volatile.Write(ref _lastAck[partition], Stopwatch.GetTimestamp());
        for (long number = 0; !_stopProducing.IsCancellationRequested; number++)
        {
            BinaryPrimitives.WriteInt64LittleEndian(body, number);
            underWay.Enqueue(producer.PublishAsync(body, cancellationToken: CancellationToken.None).AsTask());
            if (underWay.Count == UnderWay)
                await TakeAsync(partition, underWay.Dequeue());
        }
        while (underWay.TryDequeue(out Task<PublishAck>? last))
            await TakeAsync(partition, last);
    }

    private async Task TakeAsync(int partition, Task<PublishAck> ack)
    {
        await ack;
        long now = Stopwatch.GetTimestamp();
        long before = _lastAck[partition];
        Raise(ref _longestSilence, now - before);
        Raise(ref _longestOfFault, now - Math.Max(before, Volatile.Read(ref _faultAt)));
        Volatile.Write(ref _lastAck[partition], now);
        Volatile.Write(ref _acknowledged[partition], _acknowledged[partition] + 1);
    }

    private static void Raise(ref long maximum, long silence)
    {
        long longest;
        while (
            silence > (longest = Volatile.Read(ref maximum))
            && Interlocked.CompareExchange(ref maximum, silence, longest) != longest
        )
        {
            // Another partition's was longer than before; is this one longer still?
        }
    }

    private async Task ConsumeAsync()
    {
        var options = new ConsumeOptions { Start = StartPosition.Earliest };
        try
        {
            await foreach (Message message in _consuming.ConsumeAsync(_topic, options, _stopConsuming.Token))
                Count(message.Partition, BinaryPrimitives.ReadInt64LittleEndian(message.BodySpan));
        }
        catch (OperationCanceledException) when (_stopConsuming.IsCancellationRequested)
        {
            // Everything has come.
        }
    }

    private void Count(int partition, long number)
    {
        ref long expected = ref _expected[partition];
        if (number < expected)
        {
            Interlocked.Increment(ref _duplicated);
            return;
        }
        Interlocked.Add(ref _lost, number - expected);
        expected = number + 1;
        Interlocked.Increment(ref _consumed);
    }
}
