using LightQ.Protocol;
using LightQ.Protocol.Batches;

namespace LightQ.Broker.Producers;

/// <summary>What one log remembers of a named producer: its epoch and its last batches. Guarded by the partition's append lock.</summary>
internal sealed class ProducerState
{
    private Remembered[] _batches = []; // 24 KiB once there is one: a name may open many partitions that it hardly uses.
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

    /// <summary>The sequence number expected next.</summary>
    public ulong NextSequence { get; private set; }

    /// <summary>When its last batch was appended, unix microseconds.</summary>
    public long LastAppend { get; private set; }

    /// <summary>Streams that append for this producer, or did before a newer epoch; none of them may lose its state.</summary>
    public int Streams { get; set; }

    /// <summary>The remembered batches, oldest first.</summary>
    public IEnumerable<Remembered> Batches
    {
        get
        {
            for (long i = Math.Max(0, _count - _batches.Length); i < _count; i++)
                yield return _batches[i % _batches.Length];
        }
    }

    /// <summary>Whether a batch may be appended.</summary>
    /// <param name="batch">The batch.</param>
    /// <param name="offset">The offset it already has, when it is a duplicate.</param>
    /// <returns><see cref="ErrorCode.None"/> for a new batch or, with <paramref name="offset"/> at 0 or above, a duplicate.</returns>
    public ErrorCode Check(in BatchView batch, out long offset)
    {
        offset = -1;
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
            offset = known.Offset;
            return ErrorCode.None;
        }
        return ErrorCode.SequenceOverlap;
    }

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
    /// <param name="Offset">Its first offset.</param>
    /// <param name="Records">How many records; with <see cref="WithoutCrc"/> added when <paramref name="PayloadCrc"/> is not known.</param>
    /// <param name="PayloadCrc">The checksum of its payload.</param>
    public readonly record struct Remembered(ulong Sequence, long Offset, uint Records, uint PayloadCrc)
    {
        /// <summary>Earlier versions did not keep the checksum. No batch has so many records.</summary>
        public const uint WithoutCrc = 1u << 31;

        /// <summary>What there is to remember of a batch with its header alone.</summary>
        public static Remembered Of(in BatchView header, long offset) => new(header.BaseSequence, offset, (uint)header.RecordCount, header.PayloadCrc);

        /// <summary>Whether a batch with the same first number is the same batch.</summary>
        public bool IsEqual(uint records, uint payloadCrc) => Records == records ? PayloadCrc == payloadCrc : Records == (records | WithoutCrc);
    }
}
