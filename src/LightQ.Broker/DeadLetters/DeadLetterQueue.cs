using System.Threading.Channels;
using LightQ.Broker.Logs;
using LightQ.Broker.Topics;
using LightQ.Protocol;

namespace LightQ.Broker.DeadLetters;

/// <summary>Takes messages to one dead-letter topic, one after the other, for as long as it takes.</summary>
/// <remarks>
/// What cannot be stored, because the disk is full for example, is tried again; until then it stays unsettled in its
/// group. When it is not known whether letters were stored, the topic is searched for them first: the same letter has
/// the same time each time it is tried, and another time when its original is dead-lettered once more.
/// </remarks>
internal sealed class DeadLetterQueue
{
    private static readonly TimeSpan FirstDelay = TimeSpan.FromMilliseconds(100),
        LongestDelay = TimeSpan.FromSeconds(30);

    /// <summary>So many events are told in a time; a topic whose consumer fails has one for each message.</summary>
    private const int MostTold = 10;

    private static readonly TimeSpan TellPeriod = TimeSpan.FromSeconds(10);

    private readonly Channel<DeadLetter> _letters = Channel.CreateUnbounded<DeadLetter>(
        new UnboundedChannelOptions { SingleReader = true }
    );
    private readonly LightQBroker _broker;
    private readonly DeadLetterOffice _office;
    private readonly TimeProvider _time;
    private readonly string _topic;
    private readonly CancellationToken _stopping;
    private LetterBox? _box;
    private ulong _sequence;
    private long _next;

    private long _toldSince;
    private int _told;
    private long _leftOut;

    /// <summary>When the letters of the moment were first tried, in unix microseconds.</summary>
    private long _tried;

    /// <summary>From where on letters may be that were stored and not acknowledged; null for none.</summary>
    private long? _unsure;

    public DeadLetterQueue(
        LightQBroker broker,
        DeadLetterOffice office,
        TimeProvider time,
        string topic,
        CancellationToken stopping
    )
    {
        (_broker, _office, _time, _topic, _stopping) = (broker, office, time, topic, stopping);
        Ended = Task.Run(RunAsync, CancellationToken.None);
    }

    /// <summary>Completes some time after the stop.</summary>
    public Task Ended { get; }

    /// <summary>Why the last try failed; null when it did not.</summary>
    public string? Failure { get; private set; }

    public void Add(in DeadLetter letter) => _letters.Writer.TryWrite(letter);

    private async Task RunAsync()
    {
        try
        {
            await foreach (DeadLetter letter in _letters.Reader.ReadAllAsync(_stopping).ConfigureAwait(false))
            {
                TimeSpan delay = FirstDelay;
                (_next, _tried, _unsure) = (letter.Range.First, UnixMicroseconds.From(_time.GetUtcNow()), null);
                while (!await TryStoreAsync(letter).ConfigureAwait(false))
                {
                    await Task.Delay(delay, _time, _stopping).ConfigureAwait(false);
                    delay = delay * 2 < LongestDelay ? delay * 2 : LongestDelay;
                }
            }
        }
        catch (OperationCanceledException) when (_stopping.IsCancellationRequested)
        {
            // The messages that are left stay unsettled in their group.
        }
        _box?.Dispose();
    }

    private async Task<bool> TryStoreAsync(DeadLetter letter)
    {
        if (letter.Group.Partition.IsLost)
            return true; // It is not settled, and the partition's next owner redelivers it.
        try
        {
            await PassStoredAsync(letter).ConfigureAwait(false);
            // After a restart a range may lie in several batches, and may need several. What is stored is not stored
            // again.
            while (_next < letter.Range.End)
            {
                (byte[]? batch, long end) = await BatchFetch
                    .ReadAsync(letter.Group.Partition.Log, _next, _stopping)
                    .ConfigureAwait(false);
                end = Math.Min(end, letter.Range.End);
                if (batch is not null)
                    await PublishAsync(batch, letter, end).ConfigureAwait(false);
                _next = end;
            }
        }
        catch (Exception e) when (e is not OperationCanceledException)
        {
            _unsure ??= _box?.Before;
            _box?.Dispose();
            _box = null;
            Failure = e.Message;
            return letter.Group.Partition.Topic.Deleted.IsCompleted;
        }
        Failure = null;
        if (_box is not null)
            _office.OnStored(_box.Topic, letter, _box.End);
        letter.Group.DeadLettered(letter.Range);
        Tell(letter);
        return true;
    }

    /// <summary>Nobody may look at the dead-letter topic for days: the log is looked at.</summary>
    private void Tell(in DeadLetter letter)
    {
        long now = _time.GetTimestamp();
        if (_time.GetElapsedTime(_toldSince, now) >= TellPeriod)
            (_toldSince, _told) = (now, 0);
        if (++_told > MostTold)
        {
            _leftOut += letter.Range.Count;
            return;
        }

        var letters = new DeadLettered(letter.Range.First, letter.Range.Count, letter.Range.Deliveries, letter.Reason);
        _broker.Options.StorageEvents?.OnDeadLettered(
            letter.Group.Partition,
            letter.Group.Name,
            _topic,
            letters,
            _leftOut
        );
        _leftOut = 0;
    }

    private async Task PublishAsync(byte[] batch, DeadLetter letter, long end)
    {
        _box ??= await _broker.Decisions.ChangeAsync(() => Open(letter.Group.Partition.Topic)).ConfigureAwait(false);
        while (_next < end)
        {
            DeadLetter rest = letter with { Range = letter.Range with { First = _next, Count = (int)(end - _next) } };
            (ReadOnlyMemory<byte> built, int count) = DeadLetterBatch.Build(
                batch,
                rest,
                _sequence,
                _tried,
                _box.MaxBatchBytes
            );
            // Until it is acknowledged, each try is the same batch: then another node knows it again.
            await _box.PutAsync(built, count, _stopping).ConfigureAwait(false);
            _sequence += (ulong)count;
            _next += count;
        }
    }

    /// <summary>Goes on behind what an earlier try has stored.</summary>
    private async Task PassStoredAsync(DeadLetter letter)
    {
        if (_unsure is not { } from)
            return;
        Partition partition = letter.Group.Partition;
        string topicId = partition.Topic.Id.ToString("N"),
            time = DeadLetterBatch.TimeOf(_tried);
        _box ??= await _broker.Decisions.ChangeAsync(() => Open(partition.Topic)).ConfigureAwait(false);
        long? last = await _box.FindAsync(
                from,
                stored =>
                    stored.Time == time
                    && stored.TopicId == topicId
                    && stored.Partition == partition.Index
                    && stored.Group == letter.Group.Name,
                _stopping
            )
            .ConfigureAwait(false);
        _next = Math.Max(_next, last + 1 ?? 0);
        _unsure = null;
    }

    /// <summary>
    /// Opens the dead-letter topic, which is made when it is missing: durable, and with room for what is said of a
    /// message.
    /// </summary>
    private LetterBox Open(Topic origin)
    {
        if (!_broker.TryGetTopic(_topic, out _))
        {
            try
            {
                int limit = (int)
                    Math.Min(
                        TopicSettings.MaxMessageLimit,
                        origin.Settings.MaxMessageBytes + (long)ProtocolLimits.BatchOverheadBytes
                    );
                _broker.CreateDeadLetterTopic(
                    _topic,
                    new TopicSettings
                    {
                        Kind = TopicKind.Durable,
                        Replicas = origin.Settings.Replicas,
                        MaxMessageBytes = limit,
                        Delivery = origin.Settings.Delivery with { DeadLetterTopic = "", MaxDeliveries = 0 },
                    }
                );
            }
            catch (BrokerException e) when (e.Code == ErrorCode.TopicExists)
            {
                // Another thread has created it meanwhile.
            }
        }
        return new LetterBox(_broker, _topic);
    }
}
