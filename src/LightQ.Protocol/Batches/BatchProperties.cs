using System.Buffers;
using System.Buffers.Binary;
using System.Text;
using System.Text.Unicode;

namespace LightQ.Protocol.Batches;

/// <summary>
/// The extensions that a producer writes into a batch header: when the messages are delivered and when they expire, in
/// unix microseconds, and the id of the only message. <c>default</c>: at once, never, and no id.
/// </summary>
/// <param name="DueAt">When they are due; 0 for at once.</param>
/// <param name="ExpiresAt">When they expire; 0 for never.</param>
/// <param name="MessageId">
/// The id, 1 to <see cref="ProtocolLimits.MaxMessageIdBytes"/> bytes in UTF-8; null for none. A batch with an id holds
/// one message.
/// </param>
/// <param name="IsRelative">Whether both times are microseconds from when the broker appends the batch.</param>
public readonly record struct BatchProperties(
    long DueAt,
    long ExpiresAt,
    string? MessageId = null,
    bool IsRelative = false
)
{
    // A 64th: with a time to live of 10 s a new batch begins every 156 ms for its sake.
    private const int ExpirySteps = 64;
    private const long ShortestStep = 1000;
    private const long DueStep = 10_000;

    /// <summary>Bytes of a header with these extensions.</summary>
    public int HeaderLength =>
        BatchLayout.HeaderSize
        + (DueAt != 0 ? BatchExtension.Size : 0)
        + (ExpiresAt != 0 ? BatchExtension.Size : 0)
        + (MessageId is { } id ? BatchExtension.HeadSize + Encoding.UTF8.GetByteCount(id) : 0);

    internal uint Flags =>
        (DueAt != 0 ? BatchLayout.HasDueTime : 0)
        | (ExpiresAt != 0 ? BatchLayout.HasExpiry : 0)
        | (MessageId is not null ? BatchLayout.HasMessageId : 0)
        | (IsRelative && (DueAt | ExpiresAt) != 0 ? BatchLayout.HasRelativeTimes : 0);

    /// <summary>
    /// Rounds up the times of a message, so that messages can share a batch: a due time to 10 ms, an expiry to a 64th
    /// of the time to live, at least 1 ms.
    /// </summary>
    /// <param name="now">The time now.</param>
    /// <param name="dueAt">
    /// When the message is to be delivered; a time not after <paramref name="now"/> means at once.
    /// </param>
    /// <param name="timeToLive">How long the message is of use after that; null for ever.</param>
    public static BatchProperties Round(long now, long dueAt, TimeSpan? timeToLive)
    {
        long due = dueAt > now ? RoundUp(dueAt, DueStep) : 0;
        return new BatchProperties(
            due,
            timeToLive is { } life ? Expiry(Math.Max(now, due), life.Ticks / TimeSpan.TicksPerMicrosecond) : 0
        );
    }

    /// <summary>The times of a message that counts them from its append.</summary>
    /// <param name="delay">When the message is to be delivered; not above zero means at once.</param>
    /// <param name="timeToLive">How long the message is of use after that; null for ever.</param>
    public static BatchProperties Relative(TimeSpan delay, TimeSpan? timeToLive)
    {
        long due = Math.Max(0, delay.Ticks / TimeSpan.TicksPerMicrosecond);
        long life = timeToLive is { } time ? Math.Max(1, time.Ticks / TimeSpan.TicksPerMicrosecond) : 0;
        return new BatchProperties(due, life == 0 ? 0 : due + life, IsRelative: (due | life) != 0);
    }

    /// <summary>The same as points in time, for a broker that knows no others.</summary>
    /// <param name="from">What they count from, unix microseconds.</param>
    public BatchProperties CountedFrom(long from) =>
        IsRelative
            ? new BatchProperties(DueAt == 0 ? 0 : from + DueAt, ExpiresAt == 0 ? 0 : from + ExpiresAt, MessageId)
            : this;

    /// <summary>
    /// Whether an id is valid: text of 1 to <see cref="ProtocolLimits.MaxMessageIdBytes"/> bytes in UTF-8.
    /// </summary>
    /// <param name="id">The id.</param>
    public static bool IsMessageId(string id)
    {
        ArgumentNullException.ThrowIfNull(id);
        Span<byte> bytes = stackalloc byte[ProtocolLimits.MaxMessageIdBytes];
        return id.Length != 0
            && Utf8.FromUtf16(id, bytes, out _, out _, replaceInvalidSequences: false) == OperationStatus.Done;
    }

    internal void Write(Span<byte> extensions)
    {
        if (DueAt != 0)
        {
            Write(extensions, BatchExtension.DueTime, DueAt);
            extensions = extensions[BatchExtension.Size..];
        }
        if (ExpiresAt != 0)
        {
            Write(extensions, BatchExtension.Expiry, ExpiresAt);
            extensions = extensions[BatchExtension.Size..];
        }
        if (MessageId is { } id)
        {
            (extensions[0], extensions[1]) = (
                BatchExtension.MessageId,
                (byte)Encoding.UTF8.GetBytes(id, extensions[BatchExtension.HeadSize..])
            );
        }
    }

    internal static void Write(Span<byte> extension, byte id, long value)
    {
        (extension[0], extension[1]) = (id, sizeof(long));
        BinaryPrimitives.WriteInt64LittleEndian(extension[2..], value);
    }

    /// <returns>0, for never, when it would lie behind the end of time.</returns>
    private static long Expiry(long from, long life) =>
        life > long.MaxValue / 2 - from ? 0 : RoundUp(from + life, Math.Max(life / ExpirySteps, ShortestStep));

    private static long RoundUp(long value, long step) => (value + step - 1) / step * step;
}
