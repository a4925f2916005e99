using LightQ.Protocol.Batches;
using LightQ.Storage.Segments;
using Xunit;

namespace LightQ.Tests.Storage;

public sealed class LogKeyTests
{
    private static readonly LogKey Key = LogKey.Read([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);

    /// <summary>
    /// Of the bytes 0 to 39, under the key of the bytes 0 to 15, by an implementation of the paper of its own that
    /// gives 0xa129ca6149be45e5 for the paper's example (bytes 0 to 14).
    /// </summary>
    [Fact]
    public void The_code_of_a_place_is_SipHash_2_4_of_it()
    {
        var stamp = new BatchStamp(0x17161514_13121110, 99, 0x23222120, 0x27262524, 0x1F1E1D1C);
        Assert.Equal(0x0E3EA96B5304A7D0ul, Key.Sign(0x07060504_03020100, 0x0F0E0D0C_0B0A0908, 0x1B1A1918, stamp).Mac);
    }

    [Fact]
    public void A_code_holds_for_one_place_under_one_key()
    {
        byte[] batch = TestBatch.Make(1);
        var stamp = new BatchStamp(100, 5, 2, 0xCAFE, 7);
        BatchWriter.Stamp(batch, Key.Sign(3, 4096, batch.Length, stamp));
        var view = new BatchView(batch);
        Assert.True(Key.Verify(3, 4096, view));
        Assert.False(Key.Verify(4, 4096, view));
        Assert.False(Key.Verify(3, 4104, view));
        Assert.False(LogKey.Create().Verify(3, 4096, view));
        foreach (
            BatchStamp other in new[]
            {
                stamp with
                {
                    BaseOffset = 101,
                },
                stamp with
                {
                    LeaderEpoch = 3,
                },
                stamp with
                {
                    PreviousCrc = 1,
                },
                stamp with
                {
                    DurableBack = 6,
                },
            }
        )
        {
            BatchWriter.Stamp(batch, other with { Mac = view.Mac });
            Assert.False(Key.Verify(3, 4096, new BatchView(batch)));
        }
    }

    [Fact]
    public void Without_a_key_nothing_is_signed_and_everything_holds()
    {
        byte[] batch = TestBatch.Make(1);
        var stamp = new BatchStamp(100, 5, 2, 0xCAFE, 7);
        Assert.Equal(stamp, default(LogKey).Sign(3, 4096, batch.Length, stamp));
        Assert.True(default(LogKey).Verify(3, 4096, new BatchView(batch)));
        Assert.NotEqual(LogKey.Create(), LogKey.Create());
    }
}
