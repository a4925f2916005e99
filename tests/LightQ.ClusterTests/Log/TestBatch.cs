using LightQ.Broker.Replication;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Records;

namespace LightQ.ClusterTests.Log;

/// <summary>Batches as a named producer would send them.</summary>
internal static class TestBatch
{
    /// <summary>A batch with one record for each of its messages.</summary>
    public static byte[] Make(ulong producer, ulong sequence, int records, int bodyBytes = 100)
    {
        byte[] body = new byte[bodyBytes];
        body.AsSpan().Fill((byte)(sequence * 31));
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
            new BatchOrigin(producer, 1, sequence),
            timestamp: 1
        );
        return batch[..length];
    }

    /// <summary>The offset of the first message of a run.</summary>
    public static long OffsetOf(in StreamEntry run) =>
        BatchView.TryRead(run.Payload.Span, out BatchView batch) ? batch.BaseOffset : -1;
}
