using System.Buffers;

namespace LightQ.Server.DataPlane;

/// <summary>A growing buffer for answers. It has memory, of the shared pool, only while something is in it: most connections rarely have an answer.</summary>
internal sealed class AnswerBuffer : IBufferWriter<byte>
{
    private const int SmallestBytes = 256;
    private byte[] _bytes = [];

    /// <summary>Bytes written.</summary>
    public int WrittenCount { get; private set; }

    /// <summary>What was written, until <see cref="Clear"/>.</summary>
    public ReadOnlyMemory<byte> WrittenMemory => _bytes.AsMemory(0, WrittenCount);

    /// <summary>Forgets what was written and gives the memory back.</summary>
    public void Clear()
    {
        WrittenCount = 0;
        Replace([]);
    }

    /// <inheritdoc/>
    public void Advance(int count) => WrittenCount += count;

    /// <inheritdoc/>
    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        Grow(sizeHint);
        return _bytes.AsMemory(WrittenCount);
    }

    /// <inheritdoc/>
    public Span<byte> GetSpan(int sizeHint = 0)
    {
        Grow(sizeHint);
        return _bytes.AsSpan(WrittenCount);
    }

    private void Grow(int sizeHint)
    {
        int needed = WrittenCount + Math.Max(sizeHint, 1);
        if (_bytes.Length >= needed)
            return;
        byte[] larger = ArrayPool<byte>.Shared.Rent(Math.Max(needed, SmallestBytes)); // A power of two, so it at least doubles.
        WrittenMemory.Span.CopyTo(larger);
        Replace(larger);
    }

    private void Replace(byte[] bytes)
    {
        if (_bytes.Length != 0)
            ArrayPool<byte>.Shared.Return(_bytes);
        _bytes = bytes;
    }
}
