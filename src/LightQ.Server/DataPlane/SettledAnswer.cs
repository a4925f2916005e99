using System.Buffers;
using LightQ.Protocol.Frames;
using LightQ.Server.Connections;

namespace LightQ.Server.DataPlane;

/// <summary>The answer to a Settle; it may be a long one.</summary>
internal readonly ref struct SettledAnswer(uint stream, uint tag, ReadOnlySpan<SettledRange> ranges) : IAnswer
{
    private readonly ReadOnlySpan<SettledRange> _ranges = ranges;

    /// <inheritdoc/>
    public void WriteTo(IBufferWriter<byte> buffer)
    {
        int size = SettledFrame.SizeOf(_ranges.Length);
        SettledFrame.Write(buffer.GetSpan(size), stream, tag, _ranges);
        buffer.Advance(size);
    }
}
