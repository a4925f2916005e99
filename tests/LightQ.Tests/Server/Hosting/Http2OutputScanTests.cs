using LightQ.Server.Hosting;
using Xunit;

namespace LightQ.Tests.Server.Hosting;

public sealed class Http2OutputScanTests
{
    [Fact]
    public void What_goes_out_of_each_answer_is_told_however_it_is_cut()
    {
        byte[] bytes =
        [
            .. Frame(4, 0, 0, 6), // Settings.
            .. Frame(1, 4, 1, 20), // The headers of an answer.
            .. Frame(0, 0, 1, 300),
            .. Frame(1, 5, 3, 20), // An answer that is nothing but headers.
            .. Frame(8, 0, 1, 4), // A window update.
            .. Frame(0, 1, 1, 0),
            .. Frame(3, 0, 5, 4), // A reset.
            .. Frame(1, 5, 7, 20),
        ];
        for (int cut = 0; cut <= bytes.Length; cut++)
        {
            var told = new List<(int, int, bool)>();
            var scan = new Http2OutputScan((stream, length, isLast) => told.Add((stream, length, isLast)));
            scan.Take(bytes.AsSpan(0, cut));
            scan.Take(bytes.AsSpan(cut));
            Assert.Equal([(1, 300, false), (3, 0, true), (1, 0, true), (5, 0, true), (7, 0, true)], told);
        }
    }

    [Fact]
    public void The_streams_that_a_client_resets_are_told()
    {
        var reset = new List<int>();
        var scan = new Http2Scan(reset.Add);
        long cost = 0;
        byte[] frames = [.. Frame(1, 5, 9, 20), .. Frame(3, 0, 9, 4), .. Frame(3, 0, 11, 4)];
        scan.Take([.. "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"u8, .. frames], ref cost, long.MaxValue);
        Assert.Equal([9, 11], reset);
    }

    private static byte[] Frame(byte type, byte flags, byte stream, int length) =>
        [0, (byte)(length >> 8), (byte)length, type, flags, 0, 0, 0, stream, .. new byte[length]];
}
