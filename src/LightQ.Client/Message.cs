using System.Buffers.Binary;
using System.Diagnostics;
using System.Text;
using LightQ.Client.Consuming;
using LightQ.Client.Telemetry;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Records;

namespace LightQ.Client;

/// <summary>A received message: body, key, headers and its position in the topic.</summary>
/// <remarks>
/// Good for as long as it is referenced, on any thread, as is all memory that it hands out. Messages that came together
/// share memory: one that is kept may keep up to 8 KiB that were delivered with it. The default of this type is no
/// message: to read it is an <see cref="InvalidOperationException"/>.
/// </remarks>
public readonly struct Message
{
    private readonly byte[] _memory;
    private readonly int _record;
    private readonly DeliveryLock? _lock;

    /// <param name="memory">The header of the message's batch, and the record somewhere behind it.</param>
    /// <param name="record">Where the record begins.</param>
    /// <param name="offset">The offset.</param>
    /// <param name="partition">The partition.</param>
    /// <param name="deliveryLock">Settles it.</param>
    internal Message(byte[] memory, int record, long offset, int partition, DeliveryLock deliveryLock)
    {
        Partition = partition;
        _lock = deliveryLock;
        _memory = memory;
        _record = record;
        Offset = offset;
    }

    /// <summary>The message's offset in its partition: counted from 0, without gaps in the numbering.</summary>
    public long Offset { get; }

    /// <summary>The partition that holds it.</summary>
    public int Partition { get; }

    /// <summary>Partition and offset together: what a checkpoint keeps.</summary>
    public MessagePosition Position => new(Partition, Offset);

    /// <summary>The body; empty for a tombstone.</summary>
    public ReadOnlyMemory<byte> Body => new(Memory, BodyStart, BodyLength);

    /// <summary>The body as a span, which is faster to get than <see cref="Body"/>.</summary>
    public ReadOnlySpan<byte> BodySpan => new(Memory, BodyStart, BodyLength);

    /// <summary>The key; empty when there is none.</summary>
    public ReadOnlyMemory<byte> Key => HasKey ? new(Memory, _record + RecordLayout.FixedSize, KeyField) : default;

    /// <summary>Whether there is a key; it may be empty.</summary>
    public bool HasKey => KeyField != RecordLayout.NoKey;

    /// <summary>Whether the message is a tombstone: it says that the last value of its key was deleted.</summary>
    public bool IsTombstone => BodyField == RecordLayout.Tombstone;

    /// <summary>The headers, one by one, in place.</summary>
    public HeaderEnumerator Headers => new(HeaderBytes);

    /// <summary>When the producer opened the message's batch, by the producer's clock.</summary>
    public DateTimeOffset Timestamp => UnixMicroseconds.ToTime(BatchHeader.Timestamp);

    /// <summary>When the broker appended it, by the broker's clock.</summary>
    public DateTimeOffset AppendTime => UnixMicroseconds.ToTime(BatchHeader.AppendTime);

    /// <summary>
    /// The id that the message was published with (<see cref="PublishOptions.MessageId"/>); null for none. Allocates a
    /// string.
    /// </summary>
    public string? MessageId => BatchHeader.MessageId is { Length: > 0 } id ? Encoding.UTF8.GetString(id) : null;

    /// <summary>
    /// How often the message was delivered to its group, this time included; 0 without
    /// <see cref="SettleMode.Explicit"/> in a group.
    /// </summary>
    public int DeliveryCount => DeliveryLock.DeliveryCount;

    /// <summary>
    /// In a group with <see cref="SettleMode.Explicit"/>: when the message's lock expires, by this program's clock, if
    /// it is not renewed again. The message may then be delivered to another member. Otherwise
    /// <see cref="DateTimeOffset.MinValue"/>. Asked anew at each call, under a lock.
    /// </summary>
    public DateTimeOffset LockedUntil => new(DeliveryLock.Until, TimeSpan.Zero);

    /// <summary>What the message is settled with.</summary>
    internal DeliveryLock DeliveryLock => _lock ?? DeliveryLock.None;

    // Costs nothing: what follows asks the same of an array.
    private byte[] Memory => _memory ?? throw NoMessage();

    private uint BodyField => BinaryPrimitives.ReadUInt32LittleEndian(Memory.AsSpan(_record));

    private int KeyField => BinaryPrimitives.ReadUInt16LittleEndian(Memory.AsSpan(_record + 4));

    private int HeadersLength => BinaryPrimitives.ReadUInt16LittleEndian(Memory.AsSpan(_record + 6));

    private int KeyLength => KeyField != RecordLayout.NoKey ? KeyField : 0;

    private int BodyLength => IsTombstone ? 0 : (int)BodyField;

    private int BodyStart => _record + RecordLayout.FixedSize + KeyLength + HeadersLength;

    internal ReadOnlySpan<byte> HeaderBytes =>
        Memory.AsSpan(_record + RecordLayout.FixedSize + KeyLength, HeadersLength);

    private BatchView BatchHeader =>
        new(Memory.AsSpan(0, BinaryPrimitives.ReadUInt16LittleEndian(Memory.AsSpan(BatchLayout.HeaderLength))));

    /// <summary>The value of the first header of a name.</summary>
    /// <param name="name">The name; compared byte by byte in UTF-8.</param>
    /// <param name="value">The value, valid as long as the message is referenced.</param>
    /// <returns>False when there is none.</returns>
    public bool TryGetHeader(string name, out ReadOnlySpan<byte> value)
    {
        Span<byte> wanted = stackalloc byte[byte.MaxValue];
        if (Encoding.UTF8.TryGetBytes(name, wanted, out int length))
        {
            foreach (HeaderView header in Headers)
            {
                if (
                    header.WellKnownId == 0
                        ? header.Name.SequenceEqual(wanted[..length])
                        : WellKnownHeader.NameOf(header.WellKnownId) == name
                )
                {
                    value = header.Value;
                    return true;
                }
            }
        }
        value = default;
        return false;
    }

    /// <summary>
    /// Reads the W3C trace context that the message carries: the context of the span that published it. Use it as a
    /// parent or a link of the work on the message.
    /// </summary>
    /// <param name="context">The context, marked as remote.</param>
    /// <returns>
    /// False when the message carries none: no listener was registered for its publisher's
    /// <see cref="LightQTelemetry.ActivitySourceName"/>.
    /// </returns>
    public bool TryGetTraceContext(out ActivityContext context) => TraceContext.TryRead(Headers, out context);

    /// <summary>
    /// The message with the value of its body. If the serializer cannot read the body, not this method but
    /// <see cref="Message{T}.Value"/> throws.
    /// </summary>
    /// <typeparam name="T">The type of the published value.</typeparam>
    /// <param name="serializer">Reads the body.</param>
    /// <param name="topic">The topic's name, for error messages.</param>
    /// <exception cref="UnusableSerializerException">The serializer cannot read any body.</exception>
    public Message<T> As<T>(IMessageSerializer<T> serializer, string topic)
    {
        ArgumentNullException.ThrowIfNull(serializer);
        return Message<T>.Decode(this, topic, serializer);
    }

    /// <summary>The value of the first header of a name, as UTF-8 text.</summary>
    /// <param name="name">The name; compared byte by byte in UTF-8.</param>
    /// <returns>Null when there is none.</returns>
    public string? GetHeader(string name) =>
        TryGetHeader(name, out ReadOnlySpan<byte> value) ? Encoding.UTF8.GetString(value) : null;

    /// <summary>The body as UTF-8 text.</summary>
    public string GetText() => Encoding.UTF8.GetString(BodySpan);

    /// <summary>
    /// Queues the completion of the message, on a subscription with <see cref="SettleMode.Explicit"/>. Returns at once
    /// and promises nothing: the client sends the completion with its next frame or within 20 ms, many messages in one.
    /// If the connection that delivered the message has ended meanwhile, the completion is not sent, and the message is
    /// redelivered. <see cref="CompleteAsync"/> waits for the broker's answer and returns it.
    /// </summary>
    /// <exception cref="InvalidOperationException">The subscription does not settle explicitly.</exception>
    public void QueueCompletion() => DeliveryLock.Complete(Offset, 1);

    /// <summary>
    /// Completes the message, on a subscription with <see cref="SettleMode.Explicit"/>, and waits for the broker's
    /// answer.
    /// </summary>
    /// <param name="cancellationToken">Ends the wait; the broker may complete the message nevertheless.</param>
    /// <returns>
    /// <see cref="SettleOutcome.Done"/>; or, with nothing changed, <see cref="SettleOutcome.LockExpired"/>: another
    /// consumer may have the message by now; or <see cref="SettleOutcome.Unknown"/>: the message was settled before.
    /// </returns>
    /// <exception cref="InvalidOperationException">The subscription does not settle explicitly.</exception>
    /// <exception cref="LightQException">
    /// <see cref="ErrorCode.OutcomeUnknown"/>: the connection ended before the broker answered. Outside a group also
    /// <see cref="ErrorCode.Closed"/>: the connection that delivered the message has ended. In a group the result is
    /// then <see cref="SettleOutcome.LockExpired"/>.
    /// </exception>
    public ValueTask<SettleOutcome> CompleteAsync(CancellationToken cancellationToken = default) =>
        DeliveryLock.SettleAsync(SettleKind.Complete, Offset, 1, 0, "", HeaderBytes, cancellationToken);

    /// <summary>
    /// Gives the message back, in a group with <see cref="SettleMode.Explicit"/>: it is redelivered to any member.
    /// </summary>
    /// <param name="delay">
    /// Time until the message is redelivered, 0 to 49 days. Null (the default): the topic's retry delay, longer with
    /// every delivery.
    /// </param>
    /// <param name="reason">
    /// The reason. It is stored with the message in the dead-letter topic, if this was the last delivery that the topic
    /// allows. Characters beyond 1,024 are dropped. Null for none.
    /// </param>
    /// <param name="cancellationToken">Ends the wait; the broker may abandon the message nevertheless.</param>
    /// <returns>
    /// As for <see cref="CompleteAsync"/>. A message that was delivered as often as the topic allows is dead-lettered
    /// instead.
    /// </returns>
    /// <exception cref="InvalidOperationException">The subscription does not settle explicitly.</exception>
    /// <exception cref="LightQException">
    /// <see cref="ErrorCode.OutcomeUnknown"/>: the connection ended before the broker answered. Outside a group also
    /// <see cref="ErrorCode.Closed"/>: the connection that delivered the message has ended. In a group the result is
    /// then <see cref="SettleOutcome.LockExpired"/>.
    /// </exception>
    public ValueTask<SettleOutcome> AbandonAsync(
        TimeSpan? delay = null,
        string? reason = null,
        CancellationToken cancellationToken = default
    ) =>
        DeliveryLock.SettleAsync(
            SettleKind.Abandon,
            Offset,
            1,
            Consuming.Settlements.Milliseconds(delay),
            Consuming.Settlements.CheckReason(reason ?? ""),
            HeaderBytes,
            cancellationToken
        );

    /// <summary>
    /// Dead-letters the message, in a group with <see cref="SettleMode.Explicit"/>: it is copied to the dead-letter
    /// topic, with headers that name its origin and the reason.
    /// </summary>
    /// <param name="reason">The reason; characters beyond 1,024 are dropped.</param>
    /// <param name="cancellationToken">Ends the wait; the broker may dead-letter the message nevertheless.</param>
    /// <returns>As for <see cref="CompleteAsync"/>.</returns>
    /// <exception cref="InvalidOperationException">The subscription does not settle explicitly.</exception>
    /// <exception cref="LightQException">
    /// <see cref="ErrorCode.OutcomeUnknown"/>: the connection ended before the broker answered. Outside a group also
    /// <see cref="ErrorCode.Closed"/>: the connection that delivered the message has ended. In a group the result is
    /// then <see cref="SettleOutcome.LockExpired"/>.
    /// </exception>
    public ValueTask<SettleOutcome> DeadLetterAsync(string reason, CancellationToken cancellationToken = default) =>
        DeliveryLock.SettleAsync(
            SettleKind.DeadLetter,
            Offset,
            1,
            0,
            Consuming.Settlements.CheckReason(reason),
            HeaderBytes,
            cancellationToken
        );

    /// <summary>
    /// Begins the lock anew, in a group with <see cref="SettleMode.Explicit"/>. Messages that were delivered together
    /// have one lock: it is renewed for all of them.
    /// </summary>
    /// <param name="cancellationToken">Ends the wait; the broker may renew the lock nevertheless.</param>
    /// <returns>As for <see cref="CompleteAsync"/>.</returns>
    /// <exception cref="InvalidOperationException">The subscription does not settle explicitly.</exception>
    /// <exception cref="LightQException">
    /// <see cref="ErrorCode.OutcomeUnknown"/>: the connection ended before the broker answered. Outside a group also
    /// <see cref="ErrorCode.Closed"/>: the connection that delivered the message has ended. In a group the result is
    /// then <see cref="SettleOutcome.LockExpired"/>.
    /// </exception>
    public ValueTask<SettleOutcome> RenewLockAsync(CancellationToken cancellationToken = default) =>
        DeliveryLock.SettleAsync(SettleKind.Renew, Offset, 1, 0, "", HeaderBytes, cancellationToken);

    /// <summary>Creates a message that no broker has delivered, for tests of message handlers.</summary>
    /// <param name="body">The body; copied.</param>
    /// <param name="key">The key, or default for none.</param>
    /// <param name="headers">The headers, or null; copied.</param>
    /// <param name="offset">Its offset in its partition.</param>
    /// <param name="partition">The partition.</param>
    /// <param name="timestamp">When it was published and appended; null (the default) for now.</param>
    /// <param name="messageId">Its id; null (the default) for none.</param>
    /// <param name="isTombstone">Whether it is a tombstone; it then has no body.</param>
    /// <param name="deliveryCount">
    /// How often it was delivered to its group; 0 (the default), as without explicit settlement, up to 65,535.
    /// </param>
    /// <param name="settle">
    /// Called when the handler settles the message; returns the answer in place of the broker. Null (the default): with
    /// a <paramref name="deliveryCount"/> every settlement succeeds. Without one, settling throws, as on a subscription
    /// without explicit settlement.
    /// </param>
    /// <exception cref="ArgumentException">The id is not valid.</exception>
    /// <example>
    /// <code>
    /// var said = new List&lt;MessageSettlement&gt;();
    /// Message message = Message.Create("no order"u8, key: "42", deliveryCount: 3, settle: settlement =&gt;
    /// {
    ///     said.Add(settlement);
    ///     return SettleOutcome.Done;
    /// });
    /// await new Billing().HandleAsync(new ProcessMessageEventArgs(message, "orders", "billing", default));
    /// Assert.Equal(SettleKind.DeadLetter, said.Single().Kind);
    /// </code>
    /// </example>
    public static Message Create(
        ReadOnlySpan<byte> body,
        MessageKey key = default,
        MessageHeaders? headers = null,
        long offset = 0,
        int partition = 0,
        DateTimeOffset? timestamp = null,
        string? messageId = null,
        bool isTombstone = false,
        int deliveryCount = 0,
        Func<MessageSettlement, SettleOutcome>? settle = null
    )
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        ArgumentOutOfRangeException.ThrowIfNegative(partition);
        ArgumentOutOfRangeException.ThrowIfNegative(deliveryCount);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(deliveryCount, ushort.MaxValue);
        if (isTombstone)
        {
            body = default;
            key = key.Bury();
        }
        DateTimeOffset time = timestamp ?? TimeProvider.System.GetUtcNow();
        byte[] memory = MadeMessage.Write(body, key, headers, offset, time, messageId, out int record);
        DeliveryLock deliveryLock =
            settle is null && deliveryCount == 0 ? DeliveryLock.None : MadeMessage.Lock(deliveryCount, settle);
        return new Message(memory, record, offset, partition, deliveryLock);
    }

    private static InvalidOperationException NoMessage() =>
        new("It is no message but the default of its type: no consumer has received it, and nothing made it.");
}
