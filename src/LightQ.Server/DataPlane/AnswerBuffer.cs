using System.Buffers;

namespace LightQ.Server.DataPlane;

/// <summary>A growing buffer for answers that gives its memory up when it has been large.</summary>
internal sealed class AnswerBuffer : IBufferWriter<byte>
{
    private const int KeptBytes = 1024;
    private byte[] _bytes = [];

    /// <summary>Bytes written.</summary>
    public int WrittenCount { get; private set; }

    /// <summary>What was written.</summary>
    public ReadOnlyMemory<byte> WrittenMemory => _bytes.AsMemory(0, WrittenCount);

    /// <summary>Forgets what was written.</summary>
    public void Reset()
    {
        WrittenCount = 0;
        if (_bytes.Length > KeptBytes)
            _bytes = [];
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
        if (_bytes.Length < needed)
            Array.Resize(ref _bytes, Math.Max(needed, Math.Max(256, _bytes.Length * 2)));
    }
}
