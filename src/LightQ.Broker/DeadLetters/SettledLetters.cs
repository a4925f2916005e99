using System.Buffers.Binary;
using LightQ.Broker.Groups;
using LightQ.Broker.Topics;

namespace LightQ.Broker.DeadLetters;

/// <summary>
/// Which letters of a group are settled: all in front of a position, and single ones behind it. Immutable.
/// </summary>
/// <remarks>
/// Behind the position, as the state of its entry: u8 version, 7 bytes of zero, then n x { i64 first, i64 end }. A
/// broker that knows only the position takes the single ones for letters that wait.
/// </remarks>
internal sealed class SettledLetters
{
    /// <summary>Most pieces behind the position: 64 KiB.</summary>
    public const int MostPieces = 4096;

    private const byte Version = 1;
    private const int HeadSize = 8,
        PieceSize = 16;

    private readonly (long First, long End)[] _pieces;

    private SettledLetters(long next, (long First, long End)[] pieces) => (Next, _pieces) = (next, pieces);

    /// <summary>Before anything is settled.</summary>
    public static SettledLetters None { get; } = new(0, []);

    /// <summary>All letters in front of this offset are settled.</summary>
    public long Next { get; }

    /// <summary>How many pieces lie behind the position.</summary>
    public int Pieces => _pieces.Length;

    /// <summary>What is kept of a group.</summary>
    /// <param name="store">Where it is kept.</param>
    /// <param name="place">Beside the groups of which partition; see <see cref="Redrive.PlaceOf"/>.</param>
    /// <param name="group">The group.</param>
    public static SettledLetters Of(GroupStore store, Partition place, string group) =>
        store.TryGet(place, Redrive.NameOf(group), out long next, out ReadOnlyMemory<byte> state)
            ? Decode(next, state.Span)
            : None;

    /// <summary>
    /// Reads what was kept. A state that contradicts itself, or is of a later version, counts as the position alone.
    /// </summary>
    public static SettledLetters Decode(long next, ReadOnlySpan<byte> state)
    {
        if (state.Length < HeadSize || state[0] != Version || (state.Length - HeadSize) % PieceSize != 0)
            return new SettledLetters(next, []);
        var pieces = new (long First, long End)[(state.Length - HeadSize) / PieceSize];
        long last = next;
        for (int i = 0; i < pieces.Length; i++)
        {
            ReadOnlySpan<byte> piece = state.Slice(HeadSize + (i * PieceSize), PieceSize);
            pieces[i] = (
                BinaryPrimitives.ReadInt64LittleEndian(piece),
                BinaryPrimitives.ReadInt64LittleEndian(piece[8..])
            );
            if (pieces[i].First < last || pieces[i].End <= pieces[i].First)
                return new SettledLetters(next, []);
            last = pieces[i].End;
        }
        return new SettledLetters(next, pieces);
    }

    /// <summary>Bytes behind the position.</summary>
    public byte[] Encode()
    {
        if (_pieces.Length == 0)
            return [];
        byte[] state = new byte[HeadSize + (_pieces.Length * PieceSize)];
        state[0] = Version;
        for (int i = 0; i < _pieces.Length; i++)
        {
            Span<byte> piece = state.AsSpan(HeadSize + (i * PieceSize), PieceSize);
            BinaryPrimitives.WriteInt64LittleEndian(piece, _pieces[i].First);
            BinaryPrimitives.WriteInt64LittleEndian(piece[8..], _pieces[i].End);
        }
        return state;
    }

    /// <summary>Whether a letter is settled.</summary>
    public bool Contains(long offset)
    {
        if (offset < Next)
            return true;
        int low = 0,
            high = _pieces.Length;
        while (low < high)
        {
            int middle = (low + high) / 2;
            if (_pieces[middle].End <= offset)
                low = middle + 1;
            else
                high = middle;
        }
        return low < _pieces.Length && _pieces[low].First <= offset;
    }

    /// <summary>With more letters.</summary>
    /// <param name="offsets">Single ones, in any order.</param>
    public SettledLetters With(IEnumerable<long> offsets) =>
        Merge(Next, _pieces.Concat(offsets.Select(offset => (First: offset, End: offset + 1))));

    /// <summary>With all in front of a position; an earlier one than now changes nothing.</summary>
    public SettledLetters WithNext(long next) => next <= Next ? this : Merge(next, _pieces);

    private static SettledLetters Merge(long next, IEnumerable<(long First, long End)> pieces)
    {
        var merged = new List<(long First, long End)>();
        foreach ((long first, long end) in pieces.Where(p => p.End > next).OrderBy(p => p.First))
        {
            if (first <= next)
                next = Math.Max(next, end);
            else if (merged.Count != 0 && first <= merged[^1].End)
                merged[^1] = (merged[^1].First, Math.Max(merged[^1].End, end));
            else
                merged.Add((first, end));
        }
        return new SettledLetters(next, [.. merged]);
    }
}
