// Unsafe: a ring is raw memory; the pointer is handed out so that entries are written and read in place.
using System.Numerics;

namespace LightQ.Disruptor;

/// <summary>
/// The bytes under a <see cref="ByteRing"/>, and its cursors: native, pinned managed, or a mapped file.
/// </summary>
/// <remarks>
/// The memory starts as zeros. The code that created it disposes it, after the last reader and producer are done. Using
/// a ring whose memory is disposed is undefined, and may end the process. Memory that is never disposed is freed once
/// unreachable.
/// </remarks>
public abstract unsafe class RingMemory : IDisposable
{
    /// <summary>The smallest capacity, in bytes.</summary>
    public const int MinCapacity = 512;

    /// <summary>The largest capacity, in bytes: 1 GiB.</summary>
    public const int MaxCapacity = 1 << 30;

    private protected RingMemory(int capacity) => Capacity = capacity;

    /// <summary>The size of the ring in bytes, a power of two.</summary>
    public int Capacity { get; }

    /// <summary>The address of the ring's first byte; valid until <see cref="Dispose()"/>.</summary>
    public byte* Pointer { get; private protected set; }

    /// <summary>True when other processes may have the same ring: gates must then be shared ones.</summary>
    public virtual bool IsShared => false;

    /// <summary>
    /// The whole ring as memory that sockets and streams accept; valid until <see cref="Dispose()"/>. Slicing it
    /// allocates nothing.
    /// </summary>
    public Memory<byte> Memory { get; private protected set; }

    internal ControlBlock Control { get; private protected set; }

    /// <summary>Reserves memory outside the managed heap. Pages cost nothing until they are first written.</summary>
    /// <param name="capacity">
    /// Bytes; a power of two from <see cref="MinCapacity"/> to <see cref="MaxCapacity"/>.
    /// </param>
    /// <exception cref="ArgumentOutOfRangeException">The capacity is not such a power of two.</exception>
    /// <exception cref="InsufficientMemoryException">The system refuses the reservation.</exception>
    public static RingMemory Native(int capacity) => new NativeRingMemory(CheckCapacity(capacity));

    /// <summary>Allocates a pinned managed array, which <c>Socket</c> can gather from (<c>BufferList</c>).</summary>
    /// <param name="capacity">
    /// Bytes; a power of two from <see cref="MinCapacity"/> to <see cref="MaxCapacity"/>.
    /// </param>
    /// <exception cref="ArgumentOutOfRangeException">The capacity is not such a power of two.</exception>
    public static RingMemory Pinned(int capacity) => new PinnedRingMemory(CheckCapacity(capacity));

    /// <summary>Maps a file, which is created if it does not exist, so that several processes share one ring.</summary>
    /// <remarks>
    /// The file is the ring's cursors (4 KiB), its bytes, and one bit per 8 bytes; it is not a journal: its content is
    /// not flushed to the disk.
    /// </remarks>
    /// <param name="path">The file; on a memory file system (<c>/dev/shm</c>) it costs no disk.</param>
    /// <param name="capacity">
    /// Bytes; a power of two from <see cref="MinCapacity"/> to <see cref="MaxCapacity"/>, the same for all processes
    /// that map the file.
    /// </param>
    /// <exception cref="ArgumentOutOfRangeException">The capacity is not such a power of two.</exception>
    /// <exception cref="InvalidDataException">The file exists and is not a ring of this capacity.</exception>
    /// <exception cref="IOException">The file cannot be opened or extended.</exception>
    public static RingMemory Mapped(string path, int capacity)
    {
        ArgumentException.ThrowIfNullOrEmpty(path);
        return new MappedRingMemory(path, CheckCapacity(capacity));
    }

    /// <summary>Frees the memory. The file of a mapped ring stays.</summary>
    public void Dispose()
    {
        Dispose(disposing: true);
        GC.SuppressFinalize(this);
    }

    /// <summary>One bit per 8 bytes of ring, zero at first; called once per ring with several producers.</summary>
    internal abstract long* PublishedBits();

    /// <summary>
    /// Gives the pages back to the system, after which the bytes read as zeros; false where that is not possible.
    /// </summary>
    internal virtual bool Discard() => false;

    private protected abstract void Dispose(bool disposing);

    private static int CheckCapacity(int capacity) =>
        capacity is >= MinCapacity and <= MaxCapacity && BitOperations.IsPow2(capacity)
            ? capacity
            : throw new ArgumentOutOfRangeException(
                nameof(capacity),
                capacity,
                $"A ring's capacity is a power of two from {MinCapacity} to {MaxCapacity} bytes."
            );
}
