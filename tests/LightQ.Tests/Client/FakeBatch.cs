using System.Text;
using LightQ.Client;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using Xunit;

namespace LightQ.Tests.Client;

/// <summary>A batch that the client published.</summary>
internal sealed record FakeBatch(
    uint Stream,
    int Length,
    ulong ProducerId,
    uint Epoch,
    ulong BaseSequence,
    string[] Bodies,
    string[] Keys
)
{
    public AckRange Ack(long offset) => new(BaseSequence, (uint)Bodies.Length, ErrorCode.None, offset);

    public static FakeBatch Read(FakeFrame frame)
    {
        Assert.True(BatchView.TryRead(frame.Body, out BatchView batch));
        Assert.True(batch.VerifyHeader());
        Assert.True(batch.VerifyPayload());
        Assert.Equal(frame.Body.Length, batch.Length);
        var bodies = new List<string>();
        var keys = new List<string>();
        foreach (RecordView record in batch.Records)
        {
            bodies.Add(Encoding.UTF8.GetString(record.Body));
            if (record.HasKey)
                keys.Add(Encoding.UTF8.GetString(record.Key));
        }
        return new FakeBatch(
            frame.Header.Stream,
            batch.Length,
            batch.ProducerId,
            batch.ProducerEpoch,
            batch.BaseSequence,
            [.. bodies],
            [.. keys]
        );
    }
}
