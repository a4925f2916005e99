// Unsafe: the claim is a range of the ring's memory.
using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace LightQ.Disruptor;

/// <summary>Room in a ring for one entry. It belongs to the caller alone until it is published or aborted.</summary>
/// <remarks>
/// The memory still holds old bytes from the previous lap: the caller must write all of it. Do not use it after
/// publishing.
/// </remarks>
public readonly unsafe struct RingClaim
{
    private readonly byte* _entry;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal RingClaim(byte* entry, long position, int length)
    {
        Debug.Assert(position % EntryWord.Alignment == 0, "entries are aligned");
        _entry = entry;
        Position = position;
        Length = length;
    }

    /// <summary>Where the entry begins, in bytes since the ring was made.</summary>
    public long Position { get; }

    /// <summary>Bytes, the leading length word included; a multiple of 8.</summary>
    public int Length { get; }

    /// <summary>
    /// The whole entry. Publishing writes the length into its first four bytes; the caller writes the rest.
    /// </summary>
    public Span<byte> Span
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => new(_entry, Length);
    }

    internal byte* Pointer => _entry;
}
