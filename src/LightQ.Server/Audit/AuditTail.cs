using System.Text;
using LightQ.Storage.Files;

namespace LightQ.Server.Audit;

/// <summary>Where a log ends and how it goes on, read when the broker starts.</summary>
/// <param name="File">The file that goes on; null when another is begun.</param>
/// <param name="Length">Bytes of it that are whole lines.</param>
/// <param name="TornBytes">Bytes behind them: a part of a line that a crash has left.</param>
/// <param name="Next">The next line's number.</param>
/// <param name="Previous">The hash that the next line names.</param>
/// <param name="Problem">What is not as it was written; null when all is.</param>
internal sealed record AuditTail(string? File, long Length, long TornBytes, long Next, string Previous, string? Problem)
{
    private const byte NewLine = (byte)'\n';

    /// <summary>Reads the end of a log.</summary>
    /// <remarks>
    /// A missing or altered line leaves a hole in the chain that a verification finds: the next line's number is one
    /// that was never used.
    /// </remarks>
    public static AuditTail Read(IFileSystem files, string directory)
    {
        (long First, string Name)[] all = AuditFiles.Among(files.List(directory));
        AuditHead? head = ReadHead(files, directory, out bool isHeadDamaged);
        LastLine newest = default,
            found = default;
        // A file without a whole line was begun just before a crash: the line before it is in another.
        for (int i = all.Length - 1; i >= 0 && found.Head is null && !found.IsDamaged; i--)
        {
            found = ReadFile(files, Path.Combine(directory, all[i].Name));
            newest = i == all.Length - 1 ? found : newest;
        }
        long counted = found.Head?.Sequence ?? (all.Length == 0 ? 0 : all[^1].First - 1 + newest.Lines);
        AuditHead last =
            head is { } known && known.Sequence > counted
                ? known
                : found.Head ?? new AuditHead(counted, AuditLine.NoHash);
        string? problem =
            found.IsDamaged ? $"the last line of {Path.GetFileName(found.Path)} is not as it was written"
            : isHeadDamaged ? $"the file {AuditHead.FileName} is not as it was written"
            : head is null ? (found.Head is not null ? $"the file {AuditHead.FileName} is gone" : null)
            : head.Value.Sequence > counted ? $"lines {counted + 1} to {head.Value.Sequence} are missing at the end"
            : head.Value.Sequence == counted && head.Value.Hash != last.Hash
                ? $"line {counted} is not the one that was written"
            : null;
        return problem is null && newest.Path is not null
            ? new AuditTail(newest.Path, newest.Whole, newest.Torn, last.Sequence + 1, last.Hash, null)
            : new AuditTail(null, 0, 0, last.Sequence + 1, last.Hash, problem);
    }

    /// <summary>Reads the file <c>head</c>; null when there is none.</summary>
    public static AuditHead? ReadHead(IFileSystem files, string directory, out bool isDamaged)
    {
        isDamaged = false;
        string path = Path.Combine(directory, AuditHead.FileName);
        if (!files.Exists(path))
            return null;
        using IStorageFile file = files.Open(path, OpenMode.Read);
        if (file.Length == 0)
            return null; // Made just before a crash.
        byte[] bytes = new byte[AuditHead.FileBytes];
        int read = file.Read(bytes, 0);
        bool isHead = AuditHead.TryParse(Encoding.ASCII.GetString(bytes, 0, read).TrimEnd(), out AuditHead head);
        isDamaged = !isHead || file.Length > AuditHead.FileBytes;
        return isDamaged ? null : head;
    }

    /// <summary>The last whole line of a file.</summary>
    public static AuditHead? LastOf(IFileSystem files, string path) => ReadFile(files, path).Head;

    private static LastLine ReadFile(IFileSystem files, string path)
    {
        using IStorageFile file = files.Open(path, OpenMode.Read);
        byte[] bytes = new byte[file.Length];
        ReadOnlySpan<byte> text = bytes.AsSpan(0, file.Read(bytes, 0));
        int whole = text.LastIndexOf(NewLine) + 1,
            torn = text.Length - whole;
        if (whole == 0)
            return new LastLine(path, 0, torn, 0, null, IsDamaged: torn > AuditLine.MaxBytes);
        int begin = text[..(whole - 1)].LastIndexOf(NewLine) + 1;
        AuditHead? head = AuditLine.TryRead(text[begin..(whole - 1)], out AuditLine? line)
            ? new AuditHead(line!.Sequence, line.Hash)
            : null;
        return new LastLine(path, whole, torn, text.Count(NewLine), head, IsDamaged: head is null);
    }

    private readonly record struct LastLine(
        string? Path,
        long Whole,
        long Torn,
        long Lines,
        AuditHead? Head,
        bool IsDamaged
    );
}
