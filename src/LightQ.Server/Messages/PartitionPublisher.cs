using LightQ.Broker;
using LightQ.Broker.Producers;
using LightQ.Broker.Streams;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Control;
using LightQ.Protocol.Frames;
using LightQ.Scheduling;
using LightQ.Server.Security;

namespace LightQ.Server.Messages;

/// <summary>
/// A session's producer stream on one partition: collects messages in a batch, publishes it within the window, and
/// hears of acks.
/// </summary>
/// <remarks>
/// Adding and sending are the session's reader's; acks come on any thread and meet it under the session's gate.
/// </remarks>
internal sealed class PartitionPublisher : WorkItem, IStreamOwner, IDisposable
{
    /// <summary>Messages that come together share batches up to this length; a longer one has its own.</summary>
    private const int SharedBatchBytes = 256 * 1024;

    private const int AckRanges = 64;
    private const int Padding = BatchLayout.Alignment - 1;

    private readonly PublishSession _session;
    private ProducerStream? _stream;
    private readonly Signal _room = new();
    private readonly List<(PendingPublish Request, int Index)> _collected = [];
    private readonly Queue<(PendingPublish Request, int Index)> _sent = new();
    private readonly Queue<int> _sentBatches = new(); // How many messages each has.
    private byte[] _batch = [];
    private int _recordBytes;
    private BatchProperties _properties;
    private long _windowUsed;

    private PartitionPublisher(PublishSession session) => _session = session;

    /// <inheritdoc/>
    public uint ConnectionId => _session.ConnectionId;

    /// <inheritdoc/>
    public uint User => _session.User;

    /// <inheritdoc/>
    public bool HasEnded => _session.HasEnded;

    /// <summary>What the stream was opened with.</summary>
    public ProducerOpenedFrame Opened { get; private set; }

    /// <summary>The producer's number of the next message that is sent.</summary>
    public ulong NextSequence { get; set; }

    /// <summary>Opens the stream.</summary>
    /// <exception cref="BrokerException">The topic takes no messages, or not as asked for.</exception>
    public static async Task<PartitionPublisher> OpenAsync(
        LightQBroker broker,
        PublishSession session,
        OpenProducerFrame request
    )
    {
        var publisher = new PartitionPublisher(session);
        (ProducerStream stream, publisher.Opened) = await broker
            .OpenProducerAsync(publisher, request.Partition + 1, request)
            .ConfigureAwait(false);
        publisher.NextSequence = publisher.Opened.NextSequence;
        publisher._stream = stream;
        if (stream.CloseRequested is not null)
            TurnScope.Post(publisher); // It may have ended before this object knew it.
        return publisher;
    }

    /// <summary>
    /// Whether a message goes into the batch that is being collected; an empty one takes any, and one with an id has it
    /// for itself.
    /// </summary>
    public bool Fits(int recordBytes, in BatchProperties properties) =>
        _collected.Count == 0
        || (
            properties.MessageId is null
            && properties == _properties
            && BatchLayout.Align(properties.HeaderLength + _recordBytes + recordBytes)
                <= Math.Min(SharedBatchBytes, (int)Opened.MaxBatchBytes)
        );

    /// <summary>Adds a message that fits.</summary>
    public void Add(
        PublishedMessage message,
        int recordBytes,
        RecordEncoder encoder,
        in BatchProperties properties,
        PendingPublish request,
        int index
    )
    {
        _properties = properties;
        int at = properties.HeaderLength + _recordBytes,
            needed = at + recordBytes + Padding;
        if (needed > _batch.Length)
        {
            int length = Math.Max(needed, Math.Min(2 * _batch.Length, SharedBatchBytes));
            _session.Hold(this, length - _batch.Length);
            Array.Resize(ref _batch, length);
        }
        encoder.Write(message, _batch.AsSpan(at, recordBytes));
        _recordBytes += recordBytes;
        _collected.Add((request, index));
    }

    /// <summary>Publishes what was collected, as soon as the window has room for it.</summary>
    /// <exception cref="BrokerException">The session has failed.</exception>
    public async ValueTask SendAsync(CancellationToken cancellationToken)
    {
        if (_collected.Count == 0)
            return;
        int length = BatchWriter.Complete(
            _batch,
            _recordBytes,
            _collected.Count,
            _recordBytes,
            BatchCodec.None,
            _properties,
            new BatchOrigin(Opened.ProducerId, Opened.ProducerEpoch, NextSequence),
            _session.Now
        );
        while (!TryTakeWindow(length))
            await _room.WaitAsync(cancellationToken).ConfigureAwait(false);
        NextSequence += (ulong)_collected.Count;
        using (TurnScope.Enter())
        {
            if (!_stream!.Publish(_batch.AsSpan(0, length)))
                throw new InvalidOperationException("The publish window is smaller than it was said to be.");
            _stream.Flush();
        }
        _collected.Clear();
        _recordBytes = 0;
        if (_batch.Length <= SharedBatchBytes)
            return;
        _session.Hold(this, -LetGo()); // A long message's.
    }

    /// <summary>Lets go of the memory for its next batch, if nothing is collected in it.</summary>
    /// <returns>How much that was, in bytes.</returns>
    public int LetGo()
    {
        if (_collected.Count != 0)
            return 0;
        int length = _batch.Length;
        _batch = [];
        return length;
    }

    /// <summary>Wakes the caller that waits for room: the session has failed.</summary>
    public void Wake() => _room.Set();

    /// <summary>Ends the stream if it may not go on.</summary>
    public void Review(CallAccess access) => access.Review(_stream!.Partition.Topic.Name, _stream);

    /// <inheritdoc/>
    public void Schedule(OutputStream stream) => TurnScope.Post(this);

    /// <inheritdoc/>
    public override void Run()
    {
        if (_stream is null)
            return; // Its constructor looks again.
        lock (_session.Gate)
        {
            _stream.BeginTurn();
            Span<AckRange> ranges = stackalloc AckRange[AckRanges];
            PublishOutput output;
            do
            {
                output = _stream.TakeOutput(ranges);
                _windowUsed -= output.Credit;
                foreach (AckRange range in ranges[..output.Ranges])
                    Acknowledge(range);
                if (output.Echo != 0)
                    // What a client has not read it asks for by next_sequence, and not by sending it again.
                    _stream.OnEcho(output.Echo);
            } while (output.Ranges == ranges.Length);
            if (_stream.CloseRequested is { } close)
            {
                _session.Fail(
                    new BrokerException(
                        close.Code,
                        $"The producer on partition {Opened.Partition} of '{_stream.Partition.Topic.Name}' has ended: "
                            + $"{close.Message}."
                    )
                );
            }
        }
        _room.Set();
        _session.Progress.Set();
    }

    /// <inheritdoc/>
    public void Dispose() => _stream?.Release();

    private bool TryTakeWindow(int length)
    {
        lock (_session.Gate)
        {
            _session.ThrowIfFailed();
            if (_windowUsed != 0 && _windowUsed + length > Opened.WindowBytes)
                return false;
            if (Opened.BatchWindow != 0 && _sentBatches.Count >= Opened.BatchWindow)
                return false;
            _windowUsed += length;
            _sentBatches.Enqueue(_collected.Count);
            foreach ((PendingPublish Request, int Index) message in _collected)
                _sent.Enqueue(message);
            return true;
        }
    }

    /// <summary>
    /// Acks come in the order of the messages; the end of the stream says more about a rejected range.
    /// </summary>
    private void Acknowledge(in AckRange range)
    {
        if (range.Error != ErrorCode.None)
            return;
        for (int i = 0; i < range.Count; i++)
        {
            (PendingPublish request, int index) = _sent.Dequeue();
            request.Acknowledge(index, Opened.Partition, range, i);
        }
        for (int left = (int)range.Count; left > 0; )
            left -= _sentBatches.Dequeue();
    }
}
