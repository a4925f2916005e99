using System.Buffers.Binary;

namespace LightQ.Protocol.Batches;

/// <summary>What a broker checks of a producer's batch before it appends it. Never looks at the payload.</summary>
public static class BatchValidator
{
    private const int SmallestRecord = 8;

    /// <summary>Checks the first batch of a run that a producer sent.</summary>
    /// <param name="run">The rest of a Publish body.</param>
    /// <param name="maxBatchBytes">The topic's limit.</param>
    /// <param name="batch">The batch, when the result is <see cref="ErrorCode.None"/>.</param>
    /// <param name="reason">What is wrong, for people; empty when nothing is.</param>
    /// <returns><see cref="ErrorCode.None"/>, <see cref="ErrorCode.MalformedBatch"/>, <see cref="ErrorCode.MessageTooLarge"/> or <see cref="ErrorCode.NotSupported"/>.</returns>
    public static ErrorCode CheckPublished(ReadOnlySpan<byte> run, int maxBatchBytes, out BatchView batch, out string reason)
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
        if (batch.Flags != 0 || batch.HeaderLength != BatchLayout.HeaderSize)
        {
            reason = "the batch has flags or extensions that this broker does not know";
            return ErrorCode.NotSupported;
        }
        reason = CountsProblem(batch);
        return reason.Length == 0 ? ErrorCode.None : ErrorCode.MalformedBatch;
    }

    private static string CountsProblem(in BatchView batch)
    {
        int records = batch.RecordCount, bytes = batch.UncompressedLength;
        if (records <= 0 || batch.OffsetSpan != (uint)records)
            return "the batch's offset span is not its record count, or it has no record";
        if ((long)records * SmallestRecord > bytes)
            return "the batch's records would be shorter than a record can be";
        if (BatchLayout.Align(bytes) != batch.Length - batch.HeaderLength)
            return "the batch's record bytes do not fill it";
        ReadOnlySpan<byte> header = batch.Bytes;
        bool stamped = (batch.BaseOffset | batch.AppendTime) != 0
            || (batch.LeaderEpoch | batch.PreviousCrc | batch.DurableBack) != 0
            || BinaryPrimitives.ReadUInt64LittleEndian(header[BatchLayout.Reserved..]) != 0;
        return stamped ? "the batch has fields set that only the broker may set" : "";
    }
}
