using LightQ.Storage.Files;

namespace LightQ.Server.Audit;

/// <summary>Goes through the files of a log piece by piece, block by block, in either direction.</summary>
/// <remarks>
/// A block is longer than the longest line: a block without a newline is a piece that is no line. Files that are
/// deleted meanwhile are left out.
/// </remarks>
internal sealed class AuditWalk(IFileSystem disk, string directory, AuditEnd end)
{
    /// <summary>Bytes read at once.</summary>
    internal const int BlockBytes = 2 * AuditLine.MaxBytes;

    private const byte NewLine = (byte)'\n';

    /// <summary>From the newest piece to the oldest.</summary>
    /// <param name="from">Where to begin; null for the end of the log.</param>
    public IEnumerable<AuditPiece> Backwards(AuditPosition? from)
    {
        foreach (long first in Files().Reverse().Where(f => from is null || f <= from.Value.First))
        {
            using IStorageFile? file = TryOpen(first);
            long behind = file is null ? 0 : LengthOf(file, first);
            if (first == from?.First)
                behind = Math.Min(behind, from.Value.Offset);
            while (behind != 0)
            {
                ReadOnlyMemory<byte> block = Read(file!, Math.Max(0, behind - BlockBytes), behind);
                long begin = behind - block.Length;
                // What stands in front of the first newline began in an earlier block.
                int cut = begin == 0 ? 0 : block.Span[..^1].IndexOf(NewLine) + 1;
                foreach (AuditPiece piece in Split(first, begin + cut, block[cut..]).Reverse())
                    yield return piece;
                behind = begin + cut;
            }
        }
    }

    /// <summary>From an old piece to the newest.</summary>
    /// <param name="from">Where to begin.</param>
    public IEnumerable<AuditPiece> Forwards(AuditPosition from)
    {
        foreach (long first in Files().Where(f => f >= from.First))
        {
            using IStorageFile? file = TryOpen(first);
            long length = file is null ? 0 : LengthOf(file, first),
                begin = first == from.First ? from.Offset : 0;
            while (begin < length)
            {
                ReadOnlyMemory<byte> block = Read(file!, begin, Math.Min(length, begin + BlockBytes));
                // What stands behind the last newline ends in a later block, if anywhere.
                int cut = block.Span.LastIndexOf(NewLine) + 1;
                cut = cut == 0 ? block.Length : cut;
                foreach (AuditPiece piece in Split(first, begin, block[..cut]))
                    yield return piece;
                begin += cut;
            }
        }
    }

    /// <summary>Where the file begins that holds a line by the names; the first file where none does.</summary>
    public AuditPosition StartOf(long sequence)
    {
        long[] files = [.. Files()];
        long first = files.LastOrDefault(f => f <= sequence, files.FirstOrDefault());
        return new AuditPosition(IsOldestFirst: true, first, 0);
    }

    /// <summary>What the broker has written and is not there any more; null when all is there.</summary>
    public AuditDamage? CheckEnd()
    {
        if (end.Length == 0 || !AuditFiles.TryParse(end.File, out long first))
            return null;
        using IStorageFile? file = TryOpen(first);
        long length = file?.Length ?? 0;
        return length >= end.Length
            ? null
            : new AuditDamage(
                AuditFault.Missing,
                end.File,
                length,
                0,
                $"the file has {length} bytes, and the broker has written {end.Length}"
            );
    }

    private static IEnumerable<AuditPiece> Split(long first, long begin, ReadOnlyMemory<byte> bytes)
    {
        while (!bytes.IsEmpty)
        {
            int length = bytes.Span.IndexOf(NewLine) + 1;
            length = length == 0 ? bytes.Length : length;
            yield return AuditPiece.Of(first, begin, bytes[..length]);
            (begin, bytes) = (begin + length, bytes[length..]);
        }
    }

    private static ReadOnlyMemory<byte> Read(IStorageFile file, long begin, long behind)
    {
        byte[] bytes = new byte[behind - begin];
        int read = file.Read(bytes, begin);
        return read == bytes.Length
            ? bytes
            : throw new EndOfStreamException($"The audit log was cut while it was read: {read} of {bytes.Length}.");
    }

    /// <summary>The files, oldest first, by the first line's number, up to the one that is being written.</summary>
    private IEnumerable<long> Files() =>
        AuditFiles
            .Among(disk.List(directory))
            .Select(f => f.First)
            .Where(f => string.CompareOrdinal(AuditFiles.NameOf(f), end.File) <= 0);

    /// <summary>What is behind the last whole line of the file that is being written is on its way.</summary>
    private long LengthOf(IStorageFile file, long first) =>
        AuditFiles.NameOf(first) == end.File ? Math.Min(file.Length, end.Length) : file.Length;

    private IStorageFile? TryOpen(long first)
    {
        string path = Path.Combine(directory, AuditFiles.NameOf(first));
        try
        {
            return disk.Open(path, OpenMode.Read);
        }
        catch (IOException) when (!disk.Exists(path))
        {
            return null;
        }
    }
}
