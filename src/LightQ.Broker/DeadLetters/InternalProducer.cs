using LightQ.Broker.Producers;
using LightQ.Broker.Streams;
using LightQ.Broker.Topics;
using LightQ.Protocol.Frames;
using LightQ.Scheduling;

namespace LightQ.Broker.DeadLetters;

/// <summary>
/// Publishes for the broker itself, through a producer stream as any client does. One publish at a time.
/// </summary>
internal sealed class InternalProducer : WorkItem, IStreamOwner, IDisposable
{
    private readonly ProducerStream? _stream;
    private TaskCompletionSource _published = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private long _left;

    /// <exception cref="BrokerException">The topic is unknown or takes no messages.</exception>
    public InternalProducer(
        LightQBroker broker,
        string topic,
        Durability ackLevel,
        uint partition = OpenProducerFrame.AnyPartition
    )
    {
        _stream = broker.OpenProducer(this, 1, new OpenProducerFrame(topic, partition, ackLevel, ""), out _);
        if (_stream.CloseRequested is not null)
            TurnScope.Post(this); // The stream may have ended before this object knew it.
    }

    /// <summary>The broker's own streams belong to no connection.</summary>
    public uint ConnectionId => 0;

    public bool IsBroker => true;

    /// <summary>The largest batch the topic takes, in bytes.</summary>
    public int MaxBatchBytes => _stream!.Partition.MaxBatchBytes;

    /// <summary>The topic.</summary>
    public Topic Topic => _stream!.Partition.Topic;

    /// <summary>Publishes batches; completes when all are as safe as was asked for.</summary>
    /// <param name="run">The batches; at most a publish window of them, or one.</param>
    /// <param name="messages">How many messages they hold.</param>
    /// <exception cref="BrokerException">They were refused; the producer is of no use any more.</exception>
    public Task PublishAsync(ReadOnlySpan<byte> run, int messages)
    {
        _published = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Volatile.Write(ref _left, messages);
        using (TurnScope.Enter())
        {
            if (!_stream!.Publish(run))
                throw new ArgumentException("The batches are more than a publish window.", nameof(run));
            _stream.Flush();
        }
        // A stream that ended between two publishes takes no batches and reports nothing.
        if (_stream.CloseRequested is { } close)
            _published.TrySetException(new BrokerException(close.Code, close.Message));
        return _published.Task;
    }

    /// <inheritdoc/>
    public void Schedule(OutputStream stream) => TurnScope.Post(this);

    /// <inheritdoc/>
    public override void Run()
    {
        if (_stream is null)
            return; // The constructor looks again.
        _stream.BeginTurn();
        Span<AckRange> ranges = stackalloc AckRange[16];
        int count;
        do
        {
            count = _stream.TakeOutput(ranges).Ranges;
            foreach (AckRange range in ranges[..count])
            {
                if (range.Error == ErrorCode.None && Interlocked.Add(ref _left, -range.Count) == 0)
                    _published.TrySetResult();
            }
        } while (count == ranges.Length);
        if (_stream.CloseRequested is not { } close)
            return;
        _published.TrySetException(new BrokerException(close.Code, close.Message));
        _stream.Release();
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _stream!.Release();
        _published.TrySetException(new BrokerException(ErrorCode.ShuttingDown, "The broker is stopping."));
    }
}
