using LightQ.Client.Consuming;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Records;

namespace LightQ.Client;

/// <summary>
/// A view of a received batch, without copies. Enumerate it to read its messages as spans, the fastest way to consume.
/// </summary>
/// <remarks>
/// Its memory is used again. The batch is over when the next one is asked for, and when the enumeration ends. Each
/// member of it, and of its records and their headers, then throws an <see cref="InvalidOperationException"/>. A span
/// cannot: copy what is kept. Messages of
/// <see cref="LightQClient.ConsumeAsync(string, ConsumeOptions?, CancellationToken)"/> own their memory.
/// </remarks>
public readonly struct MessageBatch
{
    private readonly byte[] _memory;
    private readonly int _start;
    private readonly int _length;
    private readonly int _skip;
    private readonly int _count;
    private readonly int _partition;
    private readonly DeliveryLock? _lock;
    private readonly MessageFilter? _filter;
    private readonly ViewLife _life;

    internal MessageBatch(
        byte[] memory,
        int start,
        int length,
        int skip,
        int count,
        int partition,
        DeliveryLock deliveryLock,
        MessageFilter? filter,
        ViewLife life
    )
    {
        _memory = memory;
        _start = start;
        _length = length;
        _skip = skip;
        _count = count;
        _partition = partition;
        _lock = deliveryLock;
        _filter = filter;
        _life = life;
    }

    /// <summary>A view of memory that stays as it is.</summary>
    internal MessageBatch(byte[] memory, int start, int length, int skip, int count)
        : this(memory, start, length, skip, count, 0, DeliveryLock.None, null, default) { }

    /// <summary>The partition that holds it.</summary>
    public int Partition
    {
        get
        {
            _life.ThrowIfOver();
            return _partition;
        }
    }

    /// <summary>Offset of the first message.</summary>
    public long BaseOffset => View.BaseOffset + _skip;

    /// <summary>How many messages it holds, including those that <see cref="ConsumeOptions.Filter"/> skips.</summary>
    public int Count
    {
        get
        {
            _life.ThrowIfOver();
            return _count;
        }
    }

    /// <summary>When the producer opened the batch, by the producer's clock.</summary>
    public DateTimeOffset Timestamp => UnixMicroseconds.ToTime(View.Timestamp);

    /// <summary>When the broker appended it, by the broker's clock.</summary>
    public DateTimeOffset AppendTime => UnixMicroseconds.ToTime(View.AppendTime);

    /// <summary>
    /// The batch as it was received: header, records, padding. A compressed batch is inflated here; its checksums are
    /// still those of the compressed batch.
    /// </summary>
    public ReadOnlySpan<byte> Bytes
    {
        get
        {
            _life.ThrowIfOver();
            return new(_memory, _start, _length);
        }
    }

    /// <inheritdoc cref="Message.DeliveryCount"/>
    public int DeliveryCount => Lock.DeliveryCount;

    /// <inheritdoc cref="Message.LockedUntil"/>
    public DateTimeOffset LockedUntil => new(Lock.Until, TimeSpan.Zero);

    /// <summary>What the messages are settled with.</summary>
    internal DeliveryLock Lock
    {
        get
        {
            _life.ThrowIfOver();
            return _lock ?? DeliveryLock.None;
        }
    }

    private BatchView View => new(Bytes);

    /// <summary>
    /// Queues the completion of all its messages, and promises nothing; see <see cref="Message.QueueCompletion"/>.
    /// </summary>
    /// <exception cref="InvalidOperationException">The subscription does not settle explicitly.</exception>
    public void QueueCompletion() => Lock.Complete(BaseOffset, Count);

    /// <summary>
    /// Completes all its messages, on a subscription with <see cref="SettleMode.Explicit"/>, and waits for the broker's
    /// answer.
    /// </summary>
    /// <param name="cancellationToken">Ends the wait; the broker may complete the batch nevertheless.</param>
    /// <returns>
    /// <see cref="SettleOutcome.Done"/>; or, with nothing changed, <see cref="SettleOutcome.LockExpired"/>: another
    /// consumer may have the batch by now; or <see cref="SettleOutcome.Unknown"/>: the batch was settled before.
    /// </returns>
    /// <exception cref="InvalidOperationException">The subscription does not settle explicitly.</exception>
    /// <exception cref="LightQException">
    /// <see cref="ErrorCode.OutcomeUnknown"/>: the connection ended before the broker answered. Outside a group also
    /// <see cref="ErrorCode.Closed"/>: the connection that delivered the batch has ended. In a group the result is then
    /// <see cref="SettleOutcome.LockExpired"/>.
    /// </exception>
    public ValueTask<SettleOutcome> CompleteAsync(CancellationToken cancellationToken = default) =>
        Lock.SettleAsync(SettleKind.Complete, BaseOffset, Count, 0, "", default, cancellationToken);

    /// <summary>Completes its first messages; otherwise as <see cref="CompleteAsync(CancellationToken)"/>.</summary>
    /// <param name="count">How many messages, 1 to <see cref="Count"/>.</param>
    /// <param name="cancellationToken">Ends the wait; the broker may complete the messages nevertheless.</param>
    public ValueTask<SettleOutcome> CompleteAsync(int count, CancellationToken cancellationToken = default)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(count, 1);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(count, Count);
        return Lock.SettleAsync(SettleKind.Complete, BaseOffset, count, 0, "", default, cancellationToken);
    }

    /// <summary>
    /// Gives the batch back, in a group with <see cref="SettleMode.Explicit"/>: it is redelivered to any member.
    /// </summary>
    /// <param name="delay">
    /// Time until the batch is redelivered, 0 to 49 days. Null (the default): the topic's retry delay, longer with
    /// every delivery.
    /// </param>
    /// <param name="reason">
    /// The reason. It is stored with the messages in the dead-letter topic, if this was the last delivery that the
    /// topic allows. Characters beyond 1,024 are dropped. Null for none.
    /// </param>
    /// <param name="cancellationToken">Ends the wait; the broker may abandon the batch nevertheless.</param>
    /// <returns>
    /// As for <see cref="CompleteAsync(CancellationToken)"/>. A batch that was delivered as often as the topic allows
    /// is dead-lettered instead.
    /// </returns>
    /// <exception cref="InvalidOperationException">The subscription does not settle explicitly.</exception>
    /// <exception cref="LightQException">
    /// <see cref="ErrorCode.OutcomeUnknown"/>: the connection ended before the broker answered. Outside a group also
    /// <see cref="ErrorCode.Closed"/>: the connection that delivered the batch has ended. In a group the result is then
    /// <see cref="SettleOutcome.LockExpired"/>.
    /// </exception>
    public ValueTask<SettleOutcome> AbandonAsync(
        TimeSpan? delay = null,
        string? reason = null,
        CancellationToken cancellationToken = default
    ) =>
        Lock.SettleAsync(
            SettleKind.Abandon,
            BaseOffset,
            Count,
            Consuming.Settlements.Milliseconds(delay),
            Consuming.Settlements.CheckReason(reason ?? ""),
            default,
            cancellationToken
        );

    /// <summary>
    /// Dead-letters the batch, in a group with <see cref="SettleMode.Explicit"/>: its messages are copied to the
    /// dead-letter topic, with headers that name their origin and the reason.
    /// </summary>
    /// <param name="reason">The reason; characters beyond 1,024 are dropped.</param>
    /// <param name="cancellationToken">Ends the wait; the broker may dead-letter the batch nevertheless.</param>
    /// <returns>As for <see cref="CompleteAsync(CancellationToken)"/>.</returns>
    /// <exception cref="InvalidOperationException">The subscription does not settle explicitly.</exception>
    /// <exception cref="LightQException">
    /// <see cref="ErrorCode.OutcomeUnknown"/>: the connection ended before the broker answered. Outside a group also
    /// <see cref="ErrorCode.Closed"/>: the connection that delivered the batch has ended. In a group the result is then
    /// <see cref="SettleOutcome.LockExpired"/>.
    /// </exception>
    public ValueTask<SettleOutcome> DeadLetterAsync(string reason, CancellationToken cancellationToken = default) =>
        Lock.SettleAsync(
            SettleKind.DeadLetter,
            BaseOffset,
            Count,
            0,
            Consuming.Settlements.CheckReason(reason),
            default,
            cancellationToken
        );

    /// <summary>
    /// Begins the lock anew, in a group with <see cref="SettleMode.Explicit"/>. Messages that were delivered together
    /// have one lock: it is renewed for all of them.
    /// </summary>
    /// <param name="cancellationToken">Ends the wait; the broker may renew the lock nevertheless.</param>
    /// <returns>As for <see cref="CompleteAsync(CancellationToken)"/>.</returns>
    /// <exception cref="InvalidOperationException">The subscription does not settle explicitly.</exception>
    /// <exception cref="LightQException">
    /// <see cref="ErrorCode.OutcomeUnknown"/>: the connection ended before the broker answered. Outside a group also
    /// <see cref="ErrorCode.Closed"/>: the connection that delivered the batch has ended. In a group the result is then
    /// <see cref="SettleOutcome.LockExpired"/>.
    /// </exception>
    public ValueTask<SettleOutcome> RenewLockAsync(CancellationToken cancellationToken = default) =>
        Lock.SettleAsync(SettleKind.Renew, BaseOffset, Count, 0, "", default, cancellationToken);

    /// <summary>The messages that are wanted, in the order of their offsets.</summary>
    public MessageBatchEnumerator GetEnumerator() => new(View, _skip, _count, _filter, _life);
}
