using LightQ.Server.Hosting;
using LightQ.Server.Limits;
using Xunit;

namespace LightQ.Tests.Server.Hosting;

public sealed class Http2ScanTests
{
    private static readonly byte[] Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"u8.ToArray();

    public static TheoryData<string, byte[], int> Frames =>
        new()
        {
            { "headers", Frame(1, 5, 40), CallPace.Call },
            { "reset", Frame(3, 0, 4), CallPace.Call },
            { "data", Frame(0, 0, 300), CallPace.Call / 100 },
            { "the empty end of data", Frame(0, 1, 0), CallPace.Call / 100 },
            { "empty data", Frame(0, 0, 0), CallPace.Call / 10 },
            { "settings", Frame(4, 0, 6), CallPace.Call / 10 },
            { "ping", Frame(6, 0, 8), CallPace.Call / 10 },
            { "window update", Frame(8, 0, 4), CallPace.Call / 100 },
            { "of no known type", Frame(200, 0, 4), CallPace.Call / 10 },
            { "headers in two frames", [.. Frame(1, 1, 40), .. Frame(9, 4, 20)], CallPace.Call + (CallPace.Call / 10) },
        };

    /// <summary>A frame of HTTP/2 with so many bytes behind its header.</summary>
    internal static byte[] Frame(byte type, byte flags, int length) =>
        [0, (byte)(length >> 8), (byte)length, type, flags, 0, 0, 0, 1, .. new byte[length]];

    [Theory]
    [MemberData(nameof(Frames))]
    public void A_frame_has_its_price_however_it_is_cut(string kind, byte[] frame, int cost)
    {
        byte[] bytes = [.. Preface, .. frame, .. frame];
        for (int cut = 0; cut <= bytes.Length; cut++)
        {
            var scan = new Http2Scan();
            Assert.True(scan.IsPartial);
            long costs = Take(ref scan, bytes.AsSpan(0, cut)) + Take(ref scan, bytes.AsSpan(cut));
            Assert.True(costs == 2 * cost, $"{kind}, cut at {cut}: {costs}");
            Assert.False(scan.IsPartial);
        }
    }

    [Fact]
    public void It_takes_no_more_than_the_call_with_which_the_price_is_reached()
    {
        var scan = new Http2Scan();
        byte[] call = [.. Frame(1, 4, 40), .. Frame(0, 1, 100)],
            bytes = [.. Preface, .. call, .. call, .. call];
        int at = 0;
        long cost = 0;
        at += scan.Take(bytes, ref cost, CallPace.Call);
        Assert.Equal((Preface.Length + call.Length, CallPace.Call + (CallPace.Call / 100)), (at, cost));
        Assert.False(scan.IsPartial);
        Assert.Equal(0, scan.Take(bytes.AsSpan(at), ref cost, CallPace.Call));
        at += scan.Take(bytes.AsSpan(at), ref cost, 2 * CallPace.Call);
        Assert.Equal((Preface.Length + (2 * call.Length), 2 * (CallPace.Call + (CallPace.Call / 100))), (at, cost));
    }

    [Fact]
    public void All_but_a_messages_bytes_is_partial_until_its_end()
    {
        var scan = new Http2Scan();
        foreach (byte next in Preface)
        {
            Assert.True(scan.IsPartial);
            Take(ref scan, [next]);
        }
        byte[] headers = [.. Frame(1, 1, 40), .. Frame(9, 0, 20), .. Frame(9, 4, 0)];
        for (int i = 0; i < headers.Length; i++)
        {
            Take(ref scan, headers.AsSpan(i, 1));
            Assert.Equal(i != headers.Length - 1, scan.IsPartial);
        }
        Assert.Equal(2, scan.Completed);
        Take(ref scan, Frame(0, 0, 10).AsSpan(0, 8));
        Assert.True(scan.IsPartial); // Of what type it will be, nobody knows.
        Take(ref scan, Frame(0, 0, 10).AsSpan(8, 5));
        Assert.False(scan.IsPartial);
    }

    [Fact]
    public void What_is_not_HTTP2_is_left_to_who_serves_it()
    {
        var scan = new Http2Scan();
        Assert.Equal(0, Take(ref scan, "POST / HTTP/1.1\r\nHost: localhost\r\n\r\n"u8));
        Assert.False(scan.IsPartial);
    }

    /// <summary>Takes all of it.</summary>
    private static long Take(ref Http2Scan scan, ReadOnlySpan<byte> bytes)
    {
        long cost = 0;
        Assert.Equal(bytes.Length, scan.Take(bytes, ref cost, long.MaxValue));
        return cost;
    }
}
