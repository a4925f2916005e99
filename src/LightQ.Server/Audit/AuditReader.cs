using LightQ.Storage.Files;

namespace LightQ.Server.Audit;

/// <summary>Reads pages of a log while it is written. Thread-safe.</summary>
/// <remarks>
/// It checks each line that it reads, and whether neighbours belong together. Whether the log is whole from its first
/// line to its last is what <see cref="AuditVerifier"/> finds.
/// </remarks>
internal sealed class AuditReader(IFileSystem disk, string directory)
{
    /// <summary>Most bytes read for a page, so that no call keeps a thread for long.</summary>
    private const int MostRead = 4 * 1024 * 1024;

    /// <summary>Most bytes of the lines on a page, so that it fits into a message of gRPC.</summary>
    private const int MostTaken = 1024 * 1024;

    /// <summary>Reads a page.</summary>
    /// <param name="query">What is asked for.</param>
    /// <param name="end">How far the log is written.</param>
    /// <exception cref="IOException">The files cannot be read.</exception>
    public AuditPage Read(AuditQuery query, AuditEnd end)
    {
        var walk = new AuditWalk(disk, directory, end);
        var page = new AuditPageBuilder(query);
        long read = 0,
            taken = 0;
        bool isFirst = true,
            isEnd = true;
        if (query is { IsOldestFirst: false, Position: null })
            page.Add(walk.CheckEnd());
        foreach (AuditPiece piece in Pieces(walk, query))
        {
            if (page.Count >= query.Size || read >= MostRead || taken >= MostTaken)
            {
                isEnd = false;
                break;
            }
            bool isSeen = isFirst && query.Position is { } position && PositionOf(query, piece) == position;
            taken += page.Take(piece, isSeen);
            read += piece.Bytes.Length;
            isFirst = false;
            if (piece.Line is { } line && query.IsBeyond(line))
                return page.Build(null);
        }
        if (isEnd && query.IsOldestFirst)
            page.Add(walk.CheckEnd());
        return page.Build(isEnd ? null : PositionOf(query, page.Last!.Value));
    }

    private static IEnumerable<AuditPiece> Pieces(AuditWalk walk, AuditQuery query) =>
        query.After is { } after
            ? walk.Forwards(query.Position ?? walk.StartOf(after + 1))
            : walk.Backwards(query.Position);

    private static AuditPosition PositionOf(AuditQuery query, AuditPiece piece) =>
        new(query.IsOldestFirst, piece.First, query.IsOldestFirst ? piece.Begin : piece.End);
}
