using LightQ.Storage.Files;

namespace LightQ.Server.Audit;

/// <summary>
/// Reads an audit log from its beginning and reports the first place where it differs from what was written.
/// </summary>
/// <remarks>
/// The verifier finds every change, removal or exchange of lines that leaves the other lines as they are. An attacker
/// who may write the files can also compute the whole chain anew; only a head that was noted elsewhere reveals that.
/// The broker may be running: the line that it is writing is then a torn line at the end.
/// </remarks>
public sealed class AuditVerifier
{
    private const byte NewLine = (byte)'\n';

    private readonly AuditHead? _expected;
    private readonly Action<AuditLine>? _read;
    private readonly IFileSystem _disk = PlatformFileSystem.Choose();
    private readonly List<RemovedFile> _removed = [];
    private AuditFinding? _finding;
    private AuditHead? _last;
    private long _lines,
        _first,
        _torn;
    private string _firstPrevious = "";
    private bool _isExpectedSeen;

    private AuditVerifier(AuditHead? expected, Action<AuditLine>? read) => (_expected, _read) = (expected, read);

    /// <summary>Verifies a data directory, the directory <c>audit</c> in it, or one file. Changes nothing.</summary>
    /// <param name="path">What to verify.</param>
    /// <param name="expected">
    /// A line that must be there with that hash, from an earlier report's <see cref="AuditReport.Head"/>; null for
    /// none.
    /// </param>
    /// <param name="read">
    /// Called with every line that is as it was written, oldest first, up to the first that was changed; null for no
    /// call.
    /// </param>
    /// <exception cref="FileNotFoundException">There is no audit log there.</exception>
    /// <exception cref="IOException">The files cannot be read.</exception>
    public static AuditReport Verify(string path, AuditHead? expected = null, Action<AuditLine>? read = null) =>
        new AuditVerifier(expected, read).Run(path);

    private AuditReport Run(string path)
    {
        string? directory = DirectoryOf(path);
        string[] files = directory is null
            ? [path]
            : [.. AuditFiles.Among(_disk.List(directory)).Select(f => Path.Combine(directory, f.Name))];
        bool isHeadDamaged = false;
        AuditHead? head = directory is null ? null : AuditTail.ReadHead(_disk, directory, out isHeadDamaged);
        if (files.Length == 0 && head is null && !isHeadDamaged)
        {
            throw new FileNotFoundException(
                $"There is no audit log in '{path}'; allowed: a data directory, its directory "
                    + $"{AuditFiles.DirectoryName}, or a file of it."
            );
        }

        bool isHeadSeen = false;
        for (int i = 0; i < files.Length && _finding is null; i++)
        {
            ReadFile(
                files[i],
                isLast: i == files.Length - 1,
                line => isHeadSeen |= line.Sequence == head?.Sequence && line.Hash == head?.Hash
            );
        }

        if (_finding is null && directory is not null)
            CheckEnds(files, head, isHeadDamaged, isHeadSeen);
        if (_finding is null && _expected is { } wanted && !_isExpectedSeen)
        {
            _finding = new AuditFinding(
                AuditFault.Missing,
                "",
                0,
                $"line {wanted.Sequence} with the hash {wanted.Hash} is not there, or another is in its place"
            );
        }

        return new AuditReport(files.Length, _lines, _first, _last, _torn, _finding);
    }

    private static string? DirectoryOf(string path)
    {
        if (!Directory.Exists(path))
            return File.Exists(path) ? null : throw new FileNotFoundException($"There is no '{path}'.");
        string inside = Path.Combine(path, AuditFiles.DirectoryName);
        return Directory.Exists(inside) ? inside : path;
    }

    /// <summary>What no line can say of itself: whether lines are gone at the beginning or at the end.</summary>
    private void CheckEnds(string[] files, AuditHead? head, bool isHeadDamaged, bool isHeadSeen)
    {
        if (_first > 1 && !_removed.Exists(r => r.Last == _first - 1 && r.LastHash == _firstPrevious))
        {
            _finding = new AuditFinding(
                AuditFault.Missing,
                Path.GetFileName(files[0]),
                1,
                $"lines 1 to {_first - 1} are gone, and the log does not say that the broker has removed them"
            );
        }
        else if (isHeadDamaged)
        {
            _finding = new AuditFinding(AuditFault.Altered, AuditHead.FileName, 1, "the file is not as it was written");
        }
        else if (head is not { } known)
        {
            _finding = new AuditFinding(
                AuditFault.Missing,
                AuditHead.FileName,
                0,
                "the file is gone, so that lines missing at the end would not be noticed"
            );
        }
        else if (known.Sequence > (_last?.Sequence ?? 0))
        {
            _finding = new AuditFinding(
                AuditFault.Missing,
                files.Length == 0 ? "" : Path.GetFileName(files[^1]),
                0,
                $"lines {(_last?.Sequence ?? 0) + 1} to {known.Sequence} are gone at the end"
            );
        }
        else if (!isHeadSeen && known.Sequence >= _first && known.Sequence != 0)
        {
            _finding = new AuditFinding(
                AuditFault.Altered,
                AuditHead.FileName,
                1,
                $"line {known.Sequence} has another hash than the file says: one of them is not as it was written"
            );
        }
    }

    private void ReadFile(string path, bool isLast, Action<AuditLine> seen)
    {
        string name = Path.GetFileName(path);
        ReadOnlySpan<byte> left = File.ReadAllBytes(path);
        long promised = AuditFiles.TryParse(name, out long first) ? first : 0;
        for (long number = 1; left.Length != 0; number++)
        {
            int end = left.IndexOf(NewLine);
            if (end < 0)
            {
                if (isLast)
                {
                    _torn = left.Length;
                }
                else
                {
                    _finding = new AuditFinding(
                        AuditFault.Altered,
                        name,
                        number,
                        "the line has no end, and there are others behind it"
                    );
                }

                return;
            }
            if (!AuditLine.TryRead(left[..end], out AuditLine? line))
            {
                _finding = new AuditFinding(
                    AuditFault.Altered,
                    name,
                    number,
                    "the line is not as it was written: it does not have the hash that it names"
                );
                return;
            }
            left = left[(end + 1)..];
            if (Check(line!, name, number, left, promised) is { } finding)
            {
                _finding = finding;
                return;
            }
            Take(line!);
            seen(line!);
            if (line!.Event == AuditLine.NameOf(AuditEvent.ChainBroken))
            {
                _finding = new AuditFinding(
                    AuditFault.Broken,
                    name,
                    number,
                    $"when it started at {line.Time:u}, the broker found that {line.Detail}"
                );
                return;
            }
        }
    }

    private AuditFinding? Check(AuditLine line, string name, long number, ReadOnlySpan<byte> behind, long promised)
    {
        if (_last is not { } last)
        {
            if (promised != 0 && line.Sequence != promised)
            {
                return new AuditFinding(
                    AuditFault.Missing,
                    name,
                    number,
                    $"the file begins with line {line.Sequence}, and its name says {promised}"
                );
            }

            return line.Sequence == 1 && line.Previous != AuditLine.NoHash
                ? new AuditFinding(AuditFault.Altered, name, number, "the first line of a chain names a line before it")
                : null;
        }
        long next = last.Sequence + 1;
        if (line.Sequence < next)
        {
            return new AuditFinding(
                AuditFault.Reordered,
                name,
                number,
                $"line {line.Sequence} stands where line {next} belongs"
            );
        }

        if (line.Sequence > next)
        {
            return IsAmong(behind, next)
                ? new AuditFinding(
                    AuditFault.Reordered,
                    name,
                    number,
                    $"line {line.Sequence} stands where line {next} belongs, which comes later"
                )
                : new AuditFinding(
                    AuditFault.Missing,
                    name,
                    number,
                    next == line.Sequence - 1 ? $"line {next} is gone" : $"lines {next} to {line.Sequence - 1} are gone"
                );
        }
        return line.Previous != last.Hash
            ? new AuditFinding(
                AuditFault.Altered,
                name,
                number,
                $"line {line.Sequence} was written behind another line {last.Sequence} than stands there now"
            )
            : null;
    }

    private void Take(AuditLine line)
    {
        if (_lines++ == 0)
            (_first, _firstPrevious) = (line.Sequence, line.Previous);
        _last = new AuditHead(line.Sequence, line.Hash);
        _isExpectedSeen |= _expected == _last;
        if (
            line.Event == AuditLine.NameOf(AuditEvent.FileRemoved)
            && RemovedFile.TryParse(line.Detail, out RemovedFile removed)
        )
        {
            _removed.Add(removed);
        }

        _read?.Invoke(line);
    }

    private static bool IsAmong(ReadOnlySpan<byte> text, long sequence)
    {
        while (text.Length != 0)
        {
            int end = text.IndexOf(NewLine);
            if (end < 0)
                return false;
            if (AuditLine.TryRead(text[..end], out AuditLine? line) && line!.Sequence == sequence)
                return true;
            text = text[(end + 1)..];
        }
        return false;
    }
}
