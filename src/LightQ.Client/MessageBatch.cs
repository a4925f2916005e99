using LightQ.Client.Consuming;
using LightQ.Protocol;
using LightQ.Protocol.Batches;

namespace LightQ.Client;

/// <summary>A received batch: enumerate it for its messages as spans, the fastest way to consume.</summary>
/// <remarks>A small view over the received bytes, valid until the enumerator moves to the next batch.</remarks>
public readonly struct MessageBatch
{
    private readonly byte[] _memory;
    private readonly int _start;
    private readonly int _length;
    private readonly int _skip;
    private readonly Settlements? _settlements;
    private readonly MessageFilter? _filter;

    internal MessageBatch(byte[] memory, int start, int length, int skip, int partition, Settlements? settlements, MessageFilter? filter = null)
    {
        Partition = partition;
        _filter = filter;
        _settlements = settlements;
        _memory = memory;
        _start = start;
        _length = length;
        _skip = skip;
    }

    /// <summary>The partition that holds it.</summary>
    public int Partition { get; }

    /// <summary>Offset of the first message.</summary>
    public long BaseOffset => View.BaseOffset + _skip;

    /// <summary>How many messages it holds, those included that <see cref="ConsumeOptions.Filter"/> passes over.</summary>
    public int Count => View.RecordCount - _skip;

    /// <summary>When the producer opened the batch, by the producer's clock.</summary>
    public DateTimeOffset Timestamp => Message.FromUnixMicroseconds(View.Timestamp);

    /// <summary>When the broker appended it, by the broker's clock.</summary>
    public DateTimeOffset AppendTime => Message.FromUnixMicroseconds(View.AppendTime);

    /// <summary>The batch as it travelled: header, records, padding. One that came compressed is inflated here, and its checksums are still those of what came.</summary>
    public ReadOnlyMemory<byte> Bytes => new(_memory, _start, _length);

    private Settlements Settlement => _settlements ?? throw Settlements.NotExplicit();

    private BatchView View => new(new ReadOnlySpan<byte>(_memory, _start, _length));

    /// <summary>Says that all its messages are done; see <see cref="Message.Complete"/>.</summary>
    /// <exception cref="InvalidOperationException">The subscription is not one with explicit settlement.</exception>
    public void Complete() => Settlement.Complete(BaseOffset, Count);

    /// <summary>Says that all its messages are done, and waits until the broker has taken it; see <see cref="Message.CompleteAsync"/>.</summary>
    /// <param name="cancellationToken">Ends the wait; the messages may be completed nevertheless.</param>
    /// <exception cref="InvalidOperationException">The subscription is not one with explicit settlement.</exception>
    /// <exception cref="LightQException">
    /// <see cref="ErrorCode.InvalidArgument"/>: some were completed before. <see cref="ErrorCode.Closed"/>: the connection on which they came has ended.
    /// <see cref="ErrorCode.OutcomeUnknown"/>: it ended before the broker answered.
    /// </exception>
    public ValueTask CompleteAsync(CancellationToken cancellationToken = default) => Settlement.CompleteAsync(BaseOffset, Count, cancellationToken);

    /// <summary>The messages that are wanted, in the order of their offsets.</summary>
    public MessageBatchEnumerator GetEnumerator() => new(View, _skip, _filter);
}
