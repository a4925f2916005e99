using System.Buffers;

namespace LightQ.Server.Connections;

/// <summary>
/// A growing buffer for answers. It has memory only while something is in it: most connections rarely have an answer.
/// Little of it comes from the shared pool, much is the collector's.
/// </summary>
internal sealed class AnswerBuffer : IBufferWriter<byte>
{
    private const int SmallestBytes = 256,
        PooledBytes = 4096;
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
        int bytes = Math.Max(needed, Math.Max(SmallestBytes, 2 * _bytes.Length));
        byte[] larger = bytes <= PooledBytes ? ArrayPool<byte>.Shared.Rent(bytes) : new byte[bytes];
        WrittenMemory.Span.CopyTo(larger);
        Replace(larger);
    }

    private void Replace(byte[] bytes)
    {
        if (_bytes.Length is not 0 and <= PooledBytes)
            ArrayPool<byte>.Shared.Return(_bytes);
        _bytes = bytes;
    }
}
