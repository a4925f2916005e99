using LightQ.Protocol.Frames;

namespace LightQ.Tests.Client;

/// <summary>A frame that the client sent.</summary>
internal sealed record FakeFrame(FrameHeader Header, byte[] Body)
{
    public TBody As<TBody>()
        where TBody : IFrameBody<TBody> => FrameCodec.Read<TBody>(Body);
}
