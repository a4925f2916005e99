// Unsafe: memory that the kernel maps is reached by address.
using System.Buffers;

namespace LightQ.Storage.Files;

/// <summary>
/// A file's bytes, mapped for reading. Never read beyond what was written: a page without a block behind it ends the
/// process.
/// </summary>
/// <remarks>Its creator disposes it, when no reader can hold a slice any more.</remarks>
internal abstract unsafe class FileMapping : MemoryManager<byte>
{
    private readonly byte* _address;
    private readonly int _length;

    protected FileMapping(byte* address, int length)
    {
        _address = address;
        _length = length;
    }

    /// <summary>The mapping's first byte.</summary>
    public byte* Address => _address;

    /// <summary>Mapped bytes.</summary>
    public int Length => _length;

    /// <inheritdoc/>
    public override Span<byte> GetSpan() => new(_address, _length);

    /// <inheritdoc/>
    public override MemoryHandle Pin(int elementIndex = 0) => new(_address + elementIndex);

    /// <inheritdoc/>
    public override void Unpin()
    {
        // Mapped memory does not move.
    }

    /// <summary>Makes the pages of a range present, so that reading them does not fault one by one.</summary>
    public virtual void Populate(long position, long length) { }
}
