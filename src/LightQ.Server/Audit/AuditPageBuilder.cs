namespace LightQ.Server.Audit;

/// <summary>Collects a page piece by piece, and finds what is not as it was written.</summary>
internal sealed class AuditPageBuilder(AuditQuery query)
{
    private readonly List<AuditLine> _lines = [];
    private readonly List<AuditDamage> _damages = [];
    private AuditPiece? _neighbour;
    private int _damagedBetween;

    /// <summary>Lines and damages so far.</summary>
    public int Count => _lines.Count + _damages.Count;

    /// <summary>The piece that was taken last.</summary>
    public AuditPiece? Last { get; private set; }

    /// <summary>The page.</summary>
    public AuditPage Build(AuditPosition? next) => new(_lines, _damages, next);

    /// <summary>Adds a damage, if there is one.</summary>
    public void Add(AuditDamage? damage)
    {
        if (damage is not null)
            _damages.Add(damage);
    }

    /// <summary>Takes the next piece.</summary>
    /// <param name="piece">The piece.</param>
    /// <param name="isSeen">Whether it was the last one of the page before.</param>
    /// <returns>Its bytes that the page has more.</returns>
    public int Take(AuditPiece piece, bool isSeen)
    {
        AuditPiece? before = Last;
        Last = piece;
        if (piece.Line is not { } line)
        {
            _damagedBetween++;
            if (!isSeen)
                AddUnreadable(piece, before);
            return 0;
        }
        if (_neighbour is { } neighbour)
            Add(query.IsOldestFirst ? Compare(neighbour, piece) : Compare(piece, neighbour));
        (_neighbour, _damagedBetween) = (piece, 0);
        if (isSeen || !query.Matches(line))
            return 0;
        _lines.Add(line);
        return piece.Bytes.Length;
    }

    /// <summary>Bytes of damages that lie side by side are one damage.</summary>
    private void AddUnreadable(AuditPiece piece, AuditPiece? before)
    {
        (long begin, long bytes) = (piece.Begin, piece.Bytes.Length);
        if (
            _damages is [.., { Bytes: > 0 } last]
            && before is { Line: null, First: var first }
            && first == piece.First
            && (last.Offset + last.Bytes == piece.Begin || last.Offset == piece.End)
        )
        {
            _damages.RemoveAt(_damages.Count - 1);
            (begin, bytes) = (Math.Min(begin, last.Offset), bytes + last.Bytes);
        }
        _damages.Add(
            new AuditDamage(
                AuditFault.Altered,
                piece.File,
                begin,
                bytes,
                "what stands there is no line that has the hash it names"
            )
        );
    }

    private AuditDamage? Compare(AuditPiece older, AuditPiece newer)
    {
        AuditLine one = older.Line!,
            other = newer.Line!;
        long gone = other.Sequence - one.Sequence - 1;
        string lines = gone == 1 ? $"line {one.Sequence + 1}" : $"lines {one.Sequence + 1} to {other.Sequence - 1}";
        return gone switch
        {
            < 0 => Between(
                AuditFault.Reordered,
                newer,
                $"line {other.Sequence} stands behind line {one.Sequence}, where line {one.Sequence + 1} belongs"
            ),
            0 when other.Previous != one.Hash => Between(
                AuditFault.Altered,
                newer,
                $"line {other.Sequence} was written behind another line {one.Sequence} than stands there now"
            ),
            > 0 when _damagedBetween == 0 => Between(AuditFault.Missing, newer, $"{lines}: gone"),
            _ when gone > _damagedBetween => Between(
                AuditFault.Missing,
                newer,
                $"{lines}: gone, or among what cannot be read"
            ),
            _ => null,
        };
    }

    private static AuditDamage Between(AuditFault fault, AuditPiece newer, string detail) =>
        new(fault, newer.File, newer.Begin, 0, detail);
}
