using System.Buffers;

namespace LightQ.Cli.Messages;

/// <summary>A large buffer in front of a stream. One thread.</summary>
internal sealed class OutputBuffer(Stream stream) : IBufferWriter<byte>
{
    private const int Size = 256 * 1024;

    private byte[] _bytes = new byte[Size];
    private int _count;

    public void Write(ReadOnlySpan<byte> bytes)
    {
        bytes.CopyTo(GetSpan(bytes.Length));
        _count += bytes.Length;
    }

    public void WriteByte(byte value)
    {
        GetSpan(1)[0] = value;
        _count++;
    }

    public void Advance(int count) => _count += count;

    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        Reserve(sizeHint);
        return _bytes.AsMemory(_count);
    }

    public Span<byte> GetSpan(int sizeHint = 0)
    {
        Reserve(sizeHint);
        return _bytes.AsSpan(_count);
    }

    /// <summary>Hands everything to the stream.</summary>
    public void Flush()
    {
        if (_count == 0)
            return;
        stream.Write(_bytes, 0, _count);
        stream.Flush();
        _count = 0;
    }

    private void Reserve(int size)
    {
        if (_bytes.Length - _count >= Math.Max(size, 1))
            return;
        Flush();
        if (_bytes.Length < size)
            _bytes = new byte[size];
    }
}
