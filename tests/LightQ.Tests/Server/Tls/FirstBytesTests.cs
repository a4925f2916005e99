using LightQ.Protocol;
using LightQ.Protocol.Frames;
using LightQ.Server.Tls;
using Xunit;

namespace LightQ.Tests.Server.Tls;

public sealed class FirstBytesTests
{
    [Fact]
    public void No_frame_that_may_come_first_begins_as_TLS_does()
    {
        byte[] frame = new byte[FrameHeader.Size];
        for (int length = FrameHeader.Size; length <= ProtocolLimits.HandshakeFrameBytes; length++)
        {
            new FrameHeader(length, FrameType.Hello, 0, 0, 0).Write(frame);
            Assert.False(FirstBytes.AreTls(frame));
        }
    }

    [Fact]
    public void A_handshake_of_any_version_of_TLS_is_known_however_little_of_it_has_come()
    {
        foreach (byte minor in (byte[])[1, 2, 3, 4])
        {
            byte[] hello = [22, 3, minor, 2, 0, 1];
            for (int count = 1; count <= hello.Length; count++)
                Assert.True(FirstBytes.AreTls(hello.AsSpan(0, count)));
        }
        Assert.False(FirstBytes.AreTls([]));
        Assert.False(FirstBytes.AreTls("GET / HTTP/1.1"u8));
    }
}
