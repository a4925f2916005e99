using System.Buffers.Binary;
using System.Text.Unicode;

namespace LightQ.Protocol.Batches;

/// <summary>
/// Checks a producer's batch for the broker before it is appended: first the header, here, and then the payload, with
/// <see cref="BatchView.VerifyPayload"/>.
/// </summary>
public static class BatchValidator
{
    private const int SmallestRecord = 8;
    private static readonly string MessageIdRule =
        $"a message id is not 1 to {ProtocolLimits.MaxMessageIdBytes} bytes of UTF-8";

    /// <summary>Checks the header of the first batch of a run that a producer sent.</summary>
    /// <param name="run">The rest of a Publish body.</param>
    /// <param name="maxBatchBytes">The topic's limit.</param>
    /// <param name="isBroker">Whether the broker itself publishes, which may mark dead letters.</param>
    /// <param name="batch">The batch, when the result is <see cref="ErrorCode.None"/>.</param>
    /// <param name="reason">What is wrong, for people; empty when nothing is wrong.</param>
    /// <returns>
    /// <see cref="ErrorCode.None"/>, <see cref="ErrorCode.MalformedBatch"/>, <see cref="ErrorCode.MessageTooLarge"/> or
    /// <see cref="ErrorCode.NotSupported"/>.
    /// </returns>
    public static ErrorCode CheckPublished(
        ReadOnlySpan<byte> run,
        int maxBatchBytes,
        bool isBroker,
        out BatchView batch,
        out string reason
    )
    {
        if (!BatchView.TryRead(run, out batch))
        {
            reason = "the batch's length is not a multiple of 8 that fits the frame";
            return ErrorCode.MalformedBatch;
        }
        if (batch.Length > maxBatchBytes)
        {
            reason = "the batch is longer than the topic allows";
            return ErrorCode.MessageTooLarge;
        }
        if (!batch.VerifyHeader())
        {
            reason = "the batch header's magic, version, length or checksum is wrong";
            return ErrorCode.MalformedBatch;
        }
        // A plain batch has neither.
        if ((batch.Flags | (uint)(batch.HeaderLength - BatchLayout.HeaderSize)) != 0)
        {
            ErrorCode error = CheckExtensions(batch, isBroker ? BatchLayout.HoldsLetters : 0, out reason);
            if (error != ErrorCode.None)
                return error;
        }
        reason = CountsProblem(batch);
        return reason.Length == 0 ? ErrorCode.None : ErrorCode.MalformedBatch;
    }

    /// <inheritdoc cref="CheckPublished(ReadOnlySpan{byte}, int, bool, out BatchView, out string)"/>
    public static ErrorCode CheckPublished(
        ReadOnlySpan<byte> run,
        int maxBatchBytes,
        out BatchView batch,
        out string reason
    ) => CheckPublished(run, maxBatchBytes, isBroker: false, out batch, out reason);

    /// <summary>
    /// Whether compressed records may have this length. A reader checks it before it reserves memory for them.
    /// </summary>
    /// <param name="payloadBytes">Bytes of the payload, padding included.</param>
    /// <param name="uncompressedLength">The length of the records that the header states.</param>
    public static bool IsInflatable(int payloadBytes, int uncompressedLength) =>
        uncompressedLength is >= 0 and <= ProtocolLimits.InflatedBatchBytes
        && uncompressedLength <= (long)payloadBytes * ProtocolLimits.InflationRatio;

    private static ErrorCode CheckExtensions(in BatchView batch, uint brokers, out string reason)
    {
        uint flags = batch.Flags & ~brokers;
        if ((flags & ~BatchLayout.ProducerFlags) != 0 || batch.Codec > BatchCodec.Deflate)
        {
            reason = $"the batch has a codec or flags (0x{flags:x}) that this broker does not know or only it may set";
            return ErrorCode.NotSupported;
        }
        uint found = 0;
        ReadOnlySpan<byte> left = batch.Extensions;
        while (!left.IsEmpty)
        {
            if (left.Length < 2 || left[1] > left.Length - 2)
                return Malformed("an extension of the batch's header reaches beyond it", out reason);
            uint flag = left[0] switch
            {
                BatchExtension.DueTime => BatchLayout.HasDueTime,
                BatchExtension.Expiry => BatchLayout.HasExpiry,
                BatchExtension.MessageId => BatchLayout.HasMessageId,
                _ => 0,
            };
            if (flag == 0)
            {
                reason =
                    $"the batch's header has an extension ({left[0]}) that this broker does not know or only it may "
                    + $"write";
                return ErrorCode.NotSupported;
            }
            ReadOnlySpan<byte> value = left.Slice(BatchExtension.HeadSize, left[1]);
            if ((found & flag) != 0)
                return Malformed("an extension of the batch's header is there twice", out reason);
            if (
                flag != BatchLayout.HasMessageId
                && (value.Length != sizeof(long) || BinaryPrimitives.ReadInt64LittleEndian(value) <= 0)
            )
            {
                return Malformed("a time in the batch's header is not an i64, or lies before 1970", out reason);
            }

            if (flag == BatchLayout.HasMessageId && MessageIdProblem(batch, value) is { } problem)
                return Malformed(problem, out reason);
            found |= flag;
            left = left[(BatchExtension.HeadSize + value.Length)..];
        }
        reason = "";
        if (
            (flags & BatchLayout.HasRelativeTimes) != 0
            && (found & (BatchLayout.HasDueTime | BatchLayout.HasExpiry)) == 0
        )
        {
            return Malformed("the batch's times count from its append, and it has none", out reason);
        }

        return found == (flags & ~(BatchLayout.CodecMask | BatchLayout.HasRelativeTimes))
            ? ErrorCode.None
            : Malformed("the batch's flags and the extensions of its header contradict each other", out reason);
    }

    private static string? MessageIdProblem(in BatchView batch, ReadOnlySpan<byte> id)
    {
        if (id.Length is 0 or > ProtocolLimits.MaxMessageIdBytes || !Utf8.IsValid(id))
            return MessageIdRule;
        return batch.RecordCount == 1 ? null : "a batch with a message id has one record, whose id it is";
    }

    private static ErrorCode Malformed(string problem, out string reason)
    {
        reason = problem;
        return ErrorCode.MalformedBatch;
    }

    private static string CountsProblem(in BatchView batch)
    {
        int records = batch.RecordCount,
            bytes = batch.UncompressedLength;
        if (records <= 0 || batch.OffsetSpan != (uint)records)
            return "the batch's offset span is not its record count, or it has no record";
        if ((long)records * SmallestRecord > bytes)
            return "the batch's records would be shorter than a record can be";
        int payload = batch.Length - batch.HeaderLength;
        if (batch.Codec == BatchCodec.None)
        {
            if (
                ((long)batch.HeaderLength + bytes + BatchLayout.Alignment - 1) / BatchLayout.Alignment
                != batch.Length / BatchLayout.Alignment
            )
            {
                return "the batch's record bytes do not fill it";
            }
        }
        else if (!IsInflatable(payload, bytes))
        {
            return $"the batch's records would have more than {ProtocolLimits.InflatedBatchBytes} bytes, or more than "
                + $"{ProtocolLimits.InflationRatio} for each that was sent";
        }
        ReadOnlySpan<byte> header = batch.Bytes;
        bool stamped =
            (batch.BaseOffset | batch.AppendTime) != 0
            || (batch.LeaderEpoch | batch.PreviousCrc | batch.DurableBack) != 0
            || BinaryPrimitives.ReadUInt64LittleEndian(header[BatchLayout.Mac..]) != 0;
        return stamped ? "the batch has fields set that only the broker may set" : "";
    }
}
