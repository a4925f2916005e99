using System.Globalization;
using System.Text;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Records;

namespace LightQ.Broker.DeadLetters;

/// <summary>
/// Makes the batch that goes to the dead-letter topic: the messages with key, headers and body, and headers that say
/// where they came from and why.
/// </summary>
/// <remarks>
/// With <see cref="Redrive"/> the only place where the broker reads records. Where it cannot, as it never inflates,
/// each dead-lettered message becomes a message whose body is that whole batch.
/// </remarks>
internal static class DeadLetterBatch
{
    /// <summary>Values of <see cref="DeadLetterHeader.Body"/>.</summary>
    public const string WholeBatch = "batch",
        Omitted = "omitted";

    /// <summary>What the headers of one letter need at most, beside the reason.</summary>
    private const int HeaderRoom = 2048;

    /// <summary>Builds a batch of as many of a letter's messages, from its first, as fit.</summary>
    /// <param name="batch">The batch in which the messages lie.</param>
    /// <param name="letter">Which messages, of which group, and why.</param>
    /// <param name="sequence">The producer's number of the first.</param>
    /// <param name="now">Now, in unix microseconds.</param>
    /// <param name="maxBytes">The largest batch the dead-letter topic takes.</param>
    /// <returns>
    /// The batch, and how many messages it holds, at least one: of a message that is too large by itself, only what is
    /// said of it.
    /// </returns>
    public static (ReadOnlyMemory<byte> Batch, int Count) Build(
        ReadOnlySpan<byte> batch,
        in DeadLetter letter,
        ulong sequence,
        long now,
        int maxBytes
    )
    {
        var view = new BatchView(batch);
        int room = HeaderRoom + Encoding.UTF8.GetMaxByteCount(letter.Reason.Length);
        bool isWhole = !HasReadableRecords(view);
        long most =
            BatchLayout.HeaderSize
            + ((long)letter.Range.Count * room)
            + (isWhole ? (long)letter.Range.Count * batch.Length : view.UncompressedLength);
        byte[] bytes = new byte[Math.Min(maxBytes, most) & -BatchLayout.Alignment];
        byte[] headers = new byte[ushort.MaxValue + room];
        int at = BatchLayout.HeaderSize,
            count = 0;
        if (isWhole)
        {
            for (long offset = letter.Range.First; offset < letter.Range.End; offset++, count++)
            {
                int length = WriteHeaders(headers, default, letter, offset, WholeBatch, now);
                bool fits = RecordWriter.SizeOf(batch.Length, headersLength: length) <= bytes.Length - at;
                if (!fits && count != 0)
                    break;
                at += fits
                    ? RecordWriter.Write(bytes.AsSpan(at), batch, default, hasKey: false, headers.AsSpan(0, length))
                    : WriteOmitted(bytes.AsSpan(at), headers, letter, offset, now);
            }
        }
        else
        {
            foreach (RecordView record in view.Records)
            {
                if (record.Offset < letter.Range.First || record.Offset >= letter.Range.End)
                    continue;
                int length = WriteHeaders(headers, record.HeaderBytes, letter, record.Offset, null, now);
                bool fits = RecordWriter.SizeOf(record.Body.Length, record.Key.Length, length) <= bytes.Length - at;
                if (!fits && count != 0)
                    break;
                at += fits
                    ? RecordWriter.Write(
                        bytes.AsSpan(at),
                        record.Body,
                        record.Key,
                        record.HasKey,
                        headers.AsSpan(0, length),
                        record.IsTombstone
                    )
                    : WriteOmitted(bytes.AsSpan(at), headers, letter, record.Offset, now);
                count++;
            }
        }
        int total = BatchWriter.Complete(
            bytes,
            at - BatchLayout.HeaderSize,
            count,
            new BatchOrigin(0, 0, sequence),
            now,
            flags: BatchLayout.HoldsLetters
        );
        return (bytes.AsMemory(0, total), count);
    }

    /// <summary>A time as the headers have it.</summary>
    /// <param name="now">The time, in unix microseconds.</param>
    public static string TimeOf(long now) =>
        DateTimeOffset.UnixEpoch.AddMicroseconds(now).ToString("O", CultureInfo.InvariantCulture);

    /// <summary>
    /// Whether the broker has written a batch as letters, and nobody else; and they can be told apart.
    /// </summary>
    public static bool HoldsLetters(in BatchView batch) =>
        (batch.Flags & BatchLayout.HoldsLetters) != 0 && HasReadableRecords(batch);

    /// <summary>
    /// Whether a batch's messages can be told apart: it is not compressed, and its records agree with its header, which
    /// nobody has checked before.
    /// </summary>
    public static bool HasReadableRecords(in BatchView batch)
    {
        if ((batch.Flags & BatchLayout.CodecMask) != 0)
            return false;
        try
        {
            int count = 0;
            foreach (RecordView _ in batch.Records)
                count++;
            return count == batch.RecordCount;
        }
        catch (ProtocolException)
        {
            return false;
        }
    }

    /// <summary>
    /// Writes a message of which only the headers fit; these do in any topic, whose batches have room for 64 KiB beside
    /// a message.
    /// </summary>
    private static int WriteOmitted(
        Span<byte> destination,
        Span<byte> headers,
        in DeadLetter letter,
        long offset,
        long now
    ) =>
        RecordWriter.Write(
            destination,
            default,
            default,
            hasKey: false,
            headers[..WriteHeaders(headers, default, letter, offset, Omitted, now)]
        );

    /// <returns>
    /// Bytes written; the message's own headers are left out when both do not fit, or when they cannot be read.
    /// </returns>
    private static int WriteHeaders(
        Span<byte> destination,
        ReadOnlySpan<byte> own,
        in DeadLetter letter,
        long offset,
        string? body,
        long now
    )
    {
        int length = 0;
        if (!own.IsEmpty && AreReadable(own))
        {
            own.CopyTo(destination);
            length = own.Length;
        }
        length += Write(destination[length..], DeadLetterHeader.Reason, letter.Reason);
        length += Write(destination[length..], DeadLetterHeader.Topic, letter.Group.Partition.Topic.Name);
        length += Write(destination[length..], DeadLetterHeader.TopicId, letter.Group.Partition.Topic.Id.ToString("N"));
        length += Write(
            destination[length..],
            DeadLetterHeader.Partition,
            letter.Group.Partition.Index.ToString(CultureInfo.InvariantCulture)
        );
        length += Write(destination[length..], DeadLetterHeader.Offset, offset.ToString(CultureInfo.InvariantCulture));
        length += Write(destination[length..], DeadLetterHeader.Group, letter.Group.Name);
        length += Write(
            destination[length..],
            DeadLetterHeader.Deliveries,
            letter.Range.Deliveries.ToString(CultureInfo.InvariantCulture)
        );
        length += Write(destination[length..], DeadLetterHeader.Time, TimeOf(now));
        if (body is not null)
            length += Write(destination[length..], DeadLetterHeader.Body, body);
        return length <= ushort.MaxValue ? length : WriteHeaders(destination, default, letter, offset, body, now);
    }

    private static bool AreReadable(ReadOnlySpan<byte> headers)
    {
        try
        {
            foreach (HeaderView _ in new HeaderEnumerator(headers)) { }
            return true;
        }
        catch (ProtocolException)
        {
            return false;
        }
    }

    private static int Write(Span<byte> destination, string name, string value) =>
        RecordWriter.WriteHeader(destination, Encoding.UTF8.GetBytes(name), Encoding.UTF8.GetBytes(value));
}
