using System.Buffers;
using LightQ.Protocol.Frames;
using LightQ.Server.Connections;

namespace LightQ.Server.DataPlane;

/// <summary>An answer in one frame.</summary>
internal readonly struct FrameAnswer<TBody>(TBody body, uint stream, uint tag) : IAnswer
    where TBody : IFrameBody<TBody>
{
    /// <inheritdoc/>
    public void WriteTo(IBufferWriter<byte> buffer) => FrameCodec.Write(buffer, body, stream, tag);
}
