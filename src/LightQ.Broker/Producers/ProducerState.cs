using LightQ.Broker.Deduplication;
using LightQ.Protocol;
using LightQ.Protocol.Batches;

namespace LightQ.Broker.Producers;

/// <summary>
/// What one log remembers of a named producer: its epoch and its last batches. Guarded by the partition's append lock.
/// </summary>
internal sealed class ProducerState
{
    // Empty before the first batch: it takes 24 KiB, and a name may open many partitions that it hardly uses.
    private Remembered[] _batches = [];
    private long _count;

    public ProducerState(ulong id, uint epoch)
    {
        Id = id;
        Epoch = epoch;
    }

    /// <summary>The producer's id.</summary>
    public ulong Id { get; }

    /// <summary>The newest epoch seen.</summary>
    public uint Epoch { get; set; }

    /// <summary>
    /// Which instance has opened it last, and which of its openings that was; zeros where it says neither.
    /// </summary>
    public (ulong Instance, ulong Number) LastOpening { get; set; }

    /// <summary>The sequence number expected next.</summary>
    public ulong NextSequence { get; private set; }

    /// <summary>When its last batch was appended, unix microseconds.</summary>
    public long LastAppend { get; private set; }

    /// <summary>
    /// Streams that append for this producer, or did before a newer epoch; none of them may lose its state.
    /// </summary>
    public int Streams { get; set; }

    /// <summary>The remembered batches that were not refused, oldest first.</summary>
    public IEnumerable<Remembered> Batches
    {
        get
        {
            for (long i = Math.Max(0, _count - _batches.Length); i < _count; i++)
            {
                // Behind a start the numbers of the others are a hole, as they are in the log.
                if (_batches[i % _batches.Length].Stored.Refusal == ErrorCode.None)
                    yield return _batches[i % _batches.Length];
            }
        }
    }

    /// <summary>Whether a batch may be appended.</summary>
    /// <param name="batch">The batch.</param>
    /// <param name="stored">What is stored of it, when it came before.</param>
    /// <returns>
    /// <see cref="ErrorCode.None"/> for a new batch or, with something in <paramref name="stored"/>, one that comes
    /// again.
    /// </returns>
    public ErrorCode Check(in BatchView batch, out StoredBatch stored)
    {
        stored = StoredBatch.None;
        if (batch.ProducerEpoch != Epoch)
            return batch.ProducerEpoch < Epoch ? ErrorCode.Fenced : ErrorCode.UnknownProducer;
        ulong first = batch.BaseSequence;
        if (first == NextSequence)
            return ErrorCode.None;
        if (first > NextSequence)
            return ErrorCode.OutOfOrder;
        uint records = (uint)batch.RecordCount;
        for (long i = _count - 1; i >= 0 && i >= _count - _batches.Length; i--)
        {
            ref readonly Remembered known = ref _batches[i % _batches.Length];
            if (known.Sequence > first)
                continue;
            if (known.Sequence != first || !known.IsEqual(records, batch.PayloadCrc))
                return ErrorCode.SequenceOverlap;
            stored = known.Stored;
            return ErrorCode.None;
        }
        return ErrorCode.SequenceOverlap;
    }

    /// <summary>
    /// Whether the numbers of remembered batches leave out the one of a record: its batch was not appended.
    /// </summary>
    public bool IsInHole(ulong sequence)
    {
        for (long i = _count - 1; i >= 0 && i >= _count - _batches.Length; i--)
        {
            ref readonly Remembered known = ref _batches[i % _batches.Length];
            if (known.Sequence <= sequence)
                return known.Sequence + (known.Records & ~Remembered.WithoutCrc) <= sequence;
        }
        return _count < ProtocolLimits.RememberedBatches; // Nothing is forgotten: no batch came before.
    }

    /// <summary>Remembers a batch that was not appended, because a message with its id is at an offset.</summary>
    public void RememberDuplicate(in BatchView batch, long offset, long time) =>
        Remember(Remembered.Of(batch, ~offset), time);

    /// <summary>Remembers a batch that was refused alone: its numbers are used.</summary>
    public void RememberRefused(in BatchView batch, ErrorCode code, long time) =>
        Remember(Remembered.Of(batch, Remembered.FirstRefusal + (long)code), time);

    /// <summary>Remembers a batch that was appended.</summary>
    public void Remember(in Remembered batch, long appendTime)
    {
        if (_batches.Length == 0)
            _batches = new Remembered[ProtocolLimits.RememberedBatches];
        _batches[_count++ % _batches.Length] = batch;
        NextSequence = batch.Sequence + (batch.Records & ~Remembered.WithoutCrc);
        LastAppend = appendTime;
    }

    /// <summary>One remembered batch.</summary>
    /// <param name="Sequence">The producer's number of its first record.</param>
    /// <param name="Offset">
    /// Its first offset; of one that was not appended the complement of the offset at which the message with its id is;
    /// of one that was refused the code, counted from <see cref="FirstRefusal"/>.
    /// </param>
    /// <param name="Records">
    /// How many records; with <see cref="WithoutCrc"/> added when <paramref name="PayloadCrc"/> is not known.
    /// </param>
    /// <param name="PayloadCrc">The checksum of its payload.</param>
    public readonly record struct Remembered(ulong Sequence, long Offset, uint Records, uint PayloadCrc)
    {
        /// <summary>Earlier versions did not keep the checksum. No batch has so many records.</summary>
        public const uint WithoutCrc = 1u << 31;

        /// <summary>Below all offsets and their complements.</summary>
        public const long FirstRefusal = long.MinValue;

        /// <summary>What is stored of it.</summary>
        public StoredBatch Stored =>
            Offset >= 0 ? new StoredBatch(Offset, IsDuplicate: false)
            : Offset <= FirstRefusal + ushort.MaxValue ? StoredBatch.Refused((ErrorCode)(Offset - FirstRefusal))
            : new StoredBatch(~Offset, IsDuplicate: true);

        /// <summary>What there is to remember of a batch with its header alone.</summary>
        public static Remembered Of(in BatchView header, long offset) =>
            new(header.BaseSequence, offset, (uint)header.RecordCount, header.PayloadCrc);

        /// <summary>Whether a batch with the same first number is the same batch.</summary>
        public bool IsEqual(uint records, uint payloadCrc) =>
            Records == records ? PayloadCrc == payloadCrc : Records == (records | WithoutCrc);
    }
}
