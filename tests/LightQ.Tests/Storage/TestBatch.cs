using LightQ.Client;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Records;
using Xunit;

namespace LightQ.Tests.Storage;

/// <summary>Batches as a producer would send them.</summary>
internal static class TestBatch
{
    /// <summary>A batch of equal records, whose bodies say which batch it is.</summary>
    public static byte[] Make(int number, int bodyBytes = 100, int records = 1, ulong producerId = 0)
    {
        byte[] body = new byte[bodyBytes];
        body.AsSpan().Fill((byte)(number * 31 + 7));
        BitConverter.TryWriteBytes(body, number);
        byte[] batch = new byte[
            BatchLayout.HeaderSize + (records * RecordWriter.SizeOf(bodyBytes)) + BatchLayout.Alignment
        ];
        int at = BatchLayout.HeaderSize;
        for (int i = 0; i < records; i++)
            at += RecordWriter.Write(batch.AsSpan(at), body);
        int length = BatchWriter.Complete(
            batch,
            at - BatchLayout.HeaderSize,
            records,
            new BatchOrigin(producerId, 0, (ulong)number),
            timestamp: 1
        );
        return batch[..length];
    }

    /// <summary>
    /// The number that <see cref="Make"/> put into a batch, after checking that nothing of it changed.
    /// </summary>
    public static int NumberOf(in BatchView batch)
    {
        Assert.True(batch.VerifyHeader());
        Assert.True(batch.VerifyPayload());
        foreach (RecordView record in batch.Records)
            return BitConverter.ToInt32(record.Body);
        throw new InvalidOperationException("The batch has no record.");
    }
}
