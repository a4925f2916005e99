// Unsafe: the run is a range of the ring's memory.
using System.Runtime.CompilerServices;

namespace LightQ.Disruptor;

/// <summary>Whole published entries that lie next to each other in a ring, read in place.</summary>
/// <remarks>
/// Valid as long as a gate is at or before <see cref="Position"/>. Without a gate, producers may overwrite the run at
/// any time: copy it, then call <see cref="ByteRing.IsIntact"/>. Enumerating gives the entries one by one and allocates
/// nothing.
/// </remarks>
public readonly unsafe struct RingRun
{
    private readonly RingMemory _memory;

    internal RingRun(RingMemory memory, long position, int length, long nextPosition)
    {
        _memory = memory;
        Position = position;
        Length = length;
        NextPosition = nextPosition;
    }

    /// <summary>Where the run begins, past any padding.</summary>
    public long Position { get; }

    /// <summary>Bytes in the run; 0 when there was nothing to read.</summary>
    public int Length { get; }

    /// <summary>
    /// Where to read on, and what to set the gate to once the run is no longer needed; past any padding.
    /// </summary>
    public long NextPosition { get; }

    /// <summary>The entries in place, each starting with its length word.</summary>
    public ReadOnlySpan<byte> Span
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => Length == 0 ? default : new(_memory.Pointer + Index, Length);
    }

    /// <summary>The same bytes for sockets and streams; allocates nothing.</summary>
    public ReadOnlyMemory<byte> Memory =>
        Length == 0 ? default(ReadOnlyMemory<byte>) : _memory.Memory.Slice(Index, Length);

    private int Index => (int)(Position & (_memory.Capacity - 1));

    /// <summary>Walks the entries.</summary>
    /// <returns>An enumerator of the entries, each with its length word.</returns>
    public Enumerator GetEnumerator() => new(Span);

    /// <summary>Walks the entries of a run.</summary>
    public ref struct Enumerator
    {
        private ReadOnlySpan<byte> _rest;

        internal Enumerator(ReadOnlySpan<byte> run) => _rest = run;

        /// <summary>The entry, its length word included.</summary>
        public ReadOnlySpan<byte> Current { get; private set; }

        /// <summary>Steps to the next entry.</summary>
        /// <returns>False after the last.</returns>
        public bool MoveNext()
        {
            if (_rest.Length < EntryWord.Alignment)
            {
                return false;
            }

            int length = Unsafe.As<byte, int>(ref Unsafe.AsRef(in _rest[0]));
            if (!EntryWord.IsPlausible(length, _rest.Length))
            {
                _rest = default; // Overwritten under a reader without a gate.
                return false;
            }

            Current = _rest[..length];
            _rest = _rest[length..];
            return true;
        }
    }
}
