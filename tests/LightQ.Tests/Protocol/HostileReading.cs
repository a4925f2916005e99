using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Records;
using Xunit;

namespace LightQ.Tests.Protocol;

/// <summary>
/// Asks a batch everything that can be asked, whatever its bytes are: only <see cref="ProtocolException"/> may come
/// out, and it is swallowed here.
/// </summary>
internal static class HostileReading
{
    public static void Run(ReadOnlySpan<byte> run)
    {
        var batches = new BatchRun(run);
        while (batches.MoveNext())
            Batch(batches.Current);
        BatchValidator.CheckPublished(run, int.MaxValue, out _, out _);
        BatchValidator.CheckPublished(run, 0, out _, out _);
        BatchView view;
        try
        {
            view = new BatchView(run);
        }
        catch (ProtocolException)
        {
            return;
        }
        Batch(view);
    }

    public static void Batch(in BatchView batch)
    {
        _ = (
            batch.Length,
            batch.HeaderCrc,
            batch.PayloadCrc,
            batch.HeaderLength,
            batch.Flags,
            batch.Kind,
            batch.NextOffset
        );
        _ = (
            batch.AppendTime,
            batch.Timestamp,
            batch.ProducerId,
            batch.BaseSequence,
            batch.ProducerEpoch,
            batch.LeaderEpoch,
            batch.PreviousCrc,
            batch.DurableBack
        );
        batch.VerifyHeader();
        batch.VerifyPayload();
        try
        {
            _ = batch.Payload.Length;
        }
        catch (ProtocolException)
        {
            Records(default, batch.RecordCount);
        }
        try
        {
            Walk(batch.Records);
        }
        catch (ProtocolException)
        {
            Records(batch.Bytes, batch.RecordCount);
        }
    }

    public static void Records(ReadOnlySpan<byte> bytes, int count)
    {
        try
        {
            Walk(new RecordEnumerator(bytes, count, long.MinValue));
        }
        catch (ProtocolException)
        {
            Headers(bytes);
        }
    }

    public static void Headers(ReadOnlySpan<byte> bytes)
    {
        try
        {
            foreach (HeaderView header in new HeaderEnumerator(bytes))
                _ = header.Name.Length + header.Value.Length;
        }
        catch (ProtocolException error)
        {
            Assert.Equal(ErrorCode.CorruptData, error.Code);
        }
    }

    private static void Walk(RecordEnumerator records)
    {
        while (records.MoveNext())
            Headers(records.Current.HeaderBytes);
    }
}
