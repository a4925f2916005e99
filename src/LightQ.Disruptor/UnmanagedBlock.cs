// Unsafe: wraps an address so that sockets and streams, which take Memory<byte>, can use it.
using System.Buffers;

namespace LightQ.Disruptor;

/// <summary>
/// A range of memory that never moves, as the source of a <see cref="Memory{T}"/>. Does not own the range.
/// </summary>
internal sealed unsafe class UnmanagedBlock(RingMemory owner, byte* origin, int length) : MemoryManager<byte>
{
    /// <summary>Keeps the owner from being finalised while other code still holds the memory.</summary>
    public RingMemory Owner { get; } = owner;

    public override Span<byte> GetSpan() => new(origin, length);

    public override MemoryHandle Pin(int elementIndex = 0)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan((uint)elementIndex, (uint)length, nameof(elementIndex));
        return new MemoryHandle(origin + elementIndex, default, this);
    }

    public override void Unpin() { }

    protected override void Dispose(bool disposing) { }
}
