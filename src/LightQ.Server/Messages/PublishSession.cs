using System.Text;
using LightQ.Broker;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Control;
using LightQ.Protocol.Frames;
using LightQ.Scheduling;
using LightQ.Server.Limits;
using LightQ.Server.Security;
using Topic = LightQ.Broker.Topics.Topic;

namespace LightQ.Server.Messages;

/// <summary>
/// What one call publishes to one topic: routes messages to partitions and knows which requests are acknowledged.
/// </summary>
/// <remarks>One thread at a time adds and sends; another may take answers meanwhile.</remarks>
internal sealed class PublishSession : IDisposable
{
    /// <summary>
    /// What may wait for its acks, or for the client to read them: the data plane's measure, and as many messages as
    /// keep the account of them small.
    /// </summary>
    private const long MostUnansweredBytes = ProtocolLimits.UnacknowledgedBytes;
    private const int MostUnansweredMessages = 64 * 1024;

    /// <summary>
    /// What a message costs in memory until it is answered, in bytes, besides its batch: its position in the answer,
    /// and its places in the lines of what waits.
    /// </summary>
    private const int MessageCost = 96;

    private readonly LightQBroker _broker;
    private readonly TimeProvider _time;
    private readonly Topic _topic;
    private readonly OpenProducerFrame _open;
    private readonly CancellationToken _ended;
    private readonly BodyAccount? _held;
    private readonly RecordEncoder _encoder;
    private readonly PartitionPublisher?[] _publishers;
    private readonly Queue<PendingPublish> _unanswered = new();
    private readonly Signal _answered = new();
    private long _unansweredBytes;
    private int _unansweredMessages;
    private int _current;
    private BrokerException? _failure;

    private PublishSession(
        LightQBroker broker,
        uint connectionId,
        uint user,
        TimeProvider time,
        Topic topic,
        OpenProducerFrame open,
        int maxMessageBytes,
        BodyAccount? held,
        CancellationToken ended
    )
    {
        _held = held;
        (_broker, ConnectionId, User, _time, _topic, _open) = (broker, connectionId, user, time, topic, open);
        _ended = ended;
        MaxMessageBytes = Math.Min(maxMessageBytes, topic.Settings.MaxMessageBytes);
        _encoder = new RecordEncoder(MaxMessageBytes);
        _publishers = new PartitionPublisher?[topic.Partitions.Length];
    }

    /// <summary>Guards what acks touch.</summary>
    public Lock Gate { get; } = new();

    /// <summary>Set when a request may be done, or the session has failed.</summary>
    public Signal Progress { get; } = new();

    /// <summary>Names the call in statistics.</summary>
    public uint ConnectionId { get; }

    /// <summary>The number of the caller's user.</summary>
    public uint User { get; }

    /// <summary>Whether the call has ended.</summary>
    public bool HasEnded => _ended.IsCancellationRequested;

    /// <summary>The largest message it takes.</summary>
    public int MaxMessageBytes { get; }

    /// <summary>Now, in unix microseconds.</summary>
    public long Now => UnixMicroseconds.From(_time.GetUtcNow());

    /// <summary>What the first partition was opened with.</summary>
    public ProducerOpenedFrame Opened { get; private set; }

    /// <summary>Open producer streams.</summary>
    public int Producers => _publishers.Count(p => p is not null);

    /// <summary>Whether a request is not answered yet. Any thread.</summary>
    public bool IsBusy
    {
        get
        {
            lock (Gate)
                return _unanswered.Count != 0;
        }
    }

    private bool IsNamed => _open.ProducerName.Length != 0;

    /// <summary>Opens a session.</summary>
    /// <param name="broker">The engine.</param>
    /// <param name="connectionId">Names the call in statistics.</param>
    /// <param name="user">The number of the caller's user.</param>
    /// <param name="time">The clock.</param>
    /// <param name="open">What is asked for.</param>
    /// <param name="maxMessageBytes">The broker's largest message; a topic may allow less.</param>
    /// <param name="ended">The call has ended: what waits to be opened is dropped.</param>
    /// <param name="held">
    /// Counts what a stream of requests holds; null for one request, which is counted itself.
    /// </param>
    /// <exception cref="BrokerException">The topic takes no messages, or not as asked for.</exception>
    public static async Task<PublishSession> OpenAsync(
        LightQBroker broker,
        uint connectionId,
        uint user,
        TimeProvider time,
        OpenProducer open,
        int maxMessageBytes,
        CancellationToken ended,
        BodyAccount? held = null
    )
    {
        Topic topic = broker.GetTopic(open.Topic);
        if (open.HasPartition)
            topic.GetPartition(open.Partition);
        if (!System.Enum.IsDefined(open.AckLevel))
        {
            throw new BrokerException(
                ErrorCode.InvalidArgument,
                $"ack_level is {(int)open.AckLevel}; allowed: 0 (the topic's) to 4."
            );
        }

        if (open.ProducerName.Length != 0 && !open.HasPartition && topic.Partitions.Length > 1)
        {
            throw new BrokerException(
                ErrorCode.InvalidArgument,
                $"producer_name is set and the topic '{topic.Name}' has {topic.Partitions.Length} partitions: a named "
                    + $"producer publishes to one; set partition."
            );
        }

        var frame = new OpenProducerFrame(
            topic.Name,
            open.HasPartition ? open.Partition : OpenProducerFrame.AnyPartition,
            (Durability)open.AckLevel,
            open.ProducerName
        );
        var session = new PublishSession(broker, connectionId, user, time, topic, frame, maxMessageBytes, held, ended)
        {
            _current = (int)open.Partition,
        };
        if (!open.HasPartition)
        {
            session._current = Random.Shared.Next(topic.Partitions.Length);
            session.MoveOn();
        }
        session.Opened = (await session.PublisherOfAsync(session._current).ConfigureAwait(false)).Opened;
        return session;
    }

    /// <summary>
    /// Takes the messages of a request, and sends those whose batch is full. All are checked before anything is done
    /// with any.
    /// </summary>
    /// <param name="messages">The messages.</param>
    /// <param name="firstSequence">The number of the first that is published, if the client says so.</param>
    /// <param name="refusesAlone">Whether those go on around a message that may not be published.</param>
    /// <param name="cancellationToken">Ends the wait for room.</param>
    /// <exception cref="BrokerException">
    /// The request makes no sense, a message may not be published, or the session has failed.
    /// </exception>
    public async ValueTask<PendingPublish> AddAsync(
        IReadOnlyList<PublishedMessage> messages,
        ulong? firstSequence,
        bool refusesAlone,
        CancellationToken cancellationToken
    )
    {
        if (messages.Count == 0)
            throw new BrokerException(ErrorCode.InvalidArgument, "messages is empty; allowed: one or more.");
        if (messages.Count > MostUnansweredMessages)
        {
            throw new BrokerException(
                ErrorCode.InvalidArgument,
                $"messages has {messages.Count} entries; allowed: at most {MostUnansweredMessages}."
            );
        }

        if (firstSequence is not null && !IsNamed)
        {
            throw new BrokerException(
                ErrorCode.InvalidArgument,
                "first_sequence is set, and the producer has no name; only a named producer numbers its messages."
            );
        }

        long now = Now;
        int[] sizes = new int[messages.Count];
        var properties = new BatchProperties[messages.Count];
        var request = new PendingPublish(messages.Count);
        for (int i = 0; i < sizes.Length; i++)
        {
            try
            {
                (sizes[i], properties[i]) = Check(messages[i], i, now);
                request.Bytes += sizes[i];
            }
            catch (BrokerException e) when (refusesAlone)
            {
                request.Refuse(i, e);
            }
        }
        while (!TryEnqueue(request))
        {
            await SendAsync(cancellationToken).ConfigureAwait(false); // What is waited for must be on its way.
            await _answered.WaitAsync(cancellationToken).ConfigureAwait(false);
        }
        if (firstSequence is { } sequence)
            _publishers[_current]!.NextSequence = sequence;
        try
        {
            for (int i = 0; i < sizes.Length; i++)
            {
                if (sizes[i] == 0)
                    continue; // It is refused: the shortest record has some bytes.
                PartitionPublisher publisher = await ChooseAsync(
                        messages[i],
                        sizes[i],
                        properties[i],
                        cancellationToken
                    )
                    .ConfigureAwait(false);
                publisher.Add(messages[i], sizes[i], _encoder, properties[i], request, i);
            }
        }
        catch (BrokerException e)
        {
            // The request will never be done, and whoever takes its answer would wait for that.
            lock (Gate)
                Fail(e);
            Progress.Set();
            throw;
        }
        if (request.Refused.Count == sizes.Length)
            Progress.Set();
        if (IsNamed)
            // A batch that is sent again must be the same batch.
            await SendAsync(cancellationToken).ConfigureAwait(false);
        return request;
    }

    /// <summary>Sends what was collected.</summary>
    /// <exception cref="BrokerException">The session has failed.</exception>
    public async ValueTask SendAsync(CancellationToken cancellationToken)
    {
        foreach (PartitionPublisher? publisher in _publishers)
        {
            if (publisher is not null)
                await publisher.SendAsync(cancellationToken).ConfigureAwait(false);
        }
        MoveOn();
    }

    /// <summary>Takes the oldest request if it is done.</summary>
    /// <param name="request">The request; null when the oldest is not done, or there is none.</param>
    /// <returns>Whether there is a request left.</returns>
    /// <exception cref="BrokerException">The session has failed and the oldest request is not done.</exception>
    public bool TryTakeAnswered(out PendingPublish? request)
    {
        lock (Gate)
        {
            if (!_unanswered.TryPeek(out request))
            {
                ThrowIfFailed();
                return false;
            }
            if (!request.IsDone)
            {
                ThrowIfFailed();
                request = null;
                return true;
            }
            _unanswered.Dequeue();
            return true;
        }
    }

    /// <summary>A request that was taken is answered.</summary>
    public void Answered(PendingPublish request)
    {
        lock (Gate)
        {
            _unansweredBytes -= request.Bytes;
            _unansweredMessages -= request.Count;
            _held?.Add(-MessageCost * (long)request.Count);
        }
        _answered.Set();
    }

    /// <summary>Rights have changed: ends the streams that are no longer allowed. Any thread.</summary>
    public void Review(CallAccess access)
    {
        foreach (PartitionPublisher? publisher in _publishers)
            publisher?.Review(access);
    }

    /// <summary>A batch that is being collected has so many bytes more of memory, or less.</summary>
    /// <param name="publisher">Who collects it.</param>
    /// <param name="bytes">How many.</param>
    /// <exception cref="BrokerException">There is no room for more.</exception>
    public void Hold(PartitionPublisher publisher, long bytes)
    {
        if (_held is null)
            return;
        try
        {
            _held.Add(bytes);
        }
        catch (BrokerException)
        {
            // What other partitions keep for their next batch is worth less.
            long freed = _publishers.Sum(other => other is null || other == publisher ? 0 : other.LetGo());
            if (freed == 0)
                throw;
            _held.Add(-freed);
            _held.Add(bytes);
        }
    }

    /// <summary>Ends the session; the first reason counts. Under the gate.</summary>
    public void Fail(BrokerException reason)
    {
        _failure ??= reason;
        _answered.Set();
        foreach (PartitionPublisher? publisher in _publishers)
            publisher?.Wake();
    }

    /// <summary>Under the gate.</summary>
    /// <exception cref="BrokerException">The session has failed.</exception>
    public void ThrowIfFailed()
    {
        if (_failure is not null)
            throw new BrokerException(_failure.Code, _failure.Message);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        foreach (PartitionPublisher? publisher in _publishers)
            publisher?.Dispose();
        _held?.Clear();
    }

    /// <returns>The length of the message's record, and what its batch has.</returns>
    /// <exception cref="BrokerException">The topic does not take it.</exception>
    private (int Size, BatchProperties Properties) Check(PublishedMessage message, int index, long now)
    {
        if (IsRouted(message))
            _topic.GetPartition((uint)PartitionOf(message)); // It may be refused.
        int size = _encoder.Measure(message, index);
        BatchProperties properties = MessageTimes.Of(message, index, now);
        if (properties.DueAt != 0 && _topic.Settings.Kind == LightQ.Broker.Topics.TopicKind.Transient)
        {
            throw new BrokerException(
                ErrorCode.NotSupported,
                $"messages[{index}] is to be delivered later, and the topic '{_topic.Name}' is transient: only durable "
                    + "topics deliver messages later."
            );
        }

        return (size, properties);
    }

    private bool TryEnqueue(PendingPublish request)
    {
        lock (Gate)
        {
            ThrowIfFailed();
            if (
                _unansweredMessages != 0
                && (
                    _unansweredBytes + request.Bytes > MostUnansweredBytes
                    || _unansweredMessages + request.Count > MostUnansweredMessages
                )
            )
            {
                return false;
            }

            _held?.Add(MessageCost * (long)request.Count);
            _unanswered.Enqueue(request);
            _unansweredBytes += request.Bytes;
            _unansweredMessages += request.Count;
            return true;
        }
    }

    /// <summary>
    /// Messages without a key and an id stay with a partition until its batch is full or sent, and then go to the next.
    /// </summary>
    private async ValueTask<PartitionPublisher> ChooseAsync(
        PublishedMessage message,
        int size,
        BatchProperties properties,
        CancellationToken cancellationToken
    )
    {
        bool isRouted = IsRouted(message);
        PartitionPublisher publisher = await PublisherOfAsync(isRouted ? PartitionOf(message) : _current)
            .ConfigureAwait(false);
        if (publisher.Fits(size, properties))
            return publisher;
        await publisher.SendAsync(cancellationToken).ConfigureAwait(false);
        if (isRouted)
            return publisher;
        MoveOn();
        publisher = await PublisherOfAsync(_current).ConfigureAwait(false);
        if (!publisher.Fits(size, properties))
            await publisher.SendAsync(cancellationToken).ConfigureAwait(false);
        return publisher;
    }

    private bool IsRouted(PublishedMessage message) =>
        (message.HasKey || message.MessageId.Length != 0) && _open.Partition == OpenProducerFrame.AnyPartition;

    private int PartitionOf(PublishedMessage message) =>
        KeyRouting.PartitionOf(
            message.HasKey ? message.Key.Span : Encoding.UTF8.GetBytes(message.MessageId),
            _publishers.Length
        );

    /// <summary>Goes to the next partition that is served, if there is any.</summary>
    private void MoveOn()
    {
        if (_open.Partition != OpenProducerFrame.AnyPartition)
            return;
        for (int i = 0; i < _publishers.Length; i++)
        {
            _current = (_current + 1) % _publishers.Length;
            if (_topic.Partitions[_current].Refusal is null)
                return;
        }
    }

    private async ValueTask<PartitionPublisher> PublisherOfAsync(int partition)
    {
        if (_publishers[partition] is { } open)
            return open;
        OpenProducerFrame request = _open with { Partition = (uint)partition };
        Task<PartitionPublisher> Open() => PartitionPublisher.OpenAsync(_broker, this, request);
        return _publishers[partition] = await (_broker.IsQuick(request) ? Open() : Task.Run(Open)).ConfigureAwait(
            false
        );
    }
}
