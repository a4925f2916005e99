using System.Buffers;
using LightQ.Storage.Files;

namespace LightQ.Server.Audit;

/// <summary>Puts lines into the files of an audit log, each chained to the one before. One thread at a time.</summary>
/// <remarks>
/// Everything may throw an <see cref="IOException"/>; nothing has been done then that the same call, made again, would
/// not do.
/// </remarks>
internal sealed class AuditWriter : IDisposable
{
    private readonly IFileSystem _files;
    private readonly string _directory;
    private readonly AuditTail _tail;
    private readonly Func<DateTimeOffset> _now;
    private readonly ArrayBufferWriter<byte> _line = new(1024);
    private readonly ArrayBufferWriter<byte> _unsynced = new(1024);
    private IStorageFile? _file;
    private IStorageFile? _head;
    private string? _path;
    private long _length;
    private long _next;
    private string _previous;
    private volatile AuditEnd _end;
    private bool _isBegun;
    private bool _mustWriteAgain;

    /// <summary>Reads where the log ends; writes nothing yet.</summary>
    public AuditWriter(IFileSystem files, string directory, AuditOptions options, Func<DateTimeOffset> now)
    {
        (_files, _directory, Options, _now) = (files, directory, options, now);
        _tail = AuditTail.Read(files, directory);
        (_path, _length, _next, _previous) = (_tail.File, _tail.Length, _tail.Next, _tail.Previous);
        _end = new AuditEnd(Path.GetFileName(_path) ?? AuditFiles.NameOf(_next), _length);
    }

    /// <summary>What was found not as it was written; null when all was.</summary>
    public string? Problem => _tail.Problem;

    /// <summary>How far the log is written; may be asked for by any thread.</summary>
    public AuditEnd End => _end;

    /// <summary>How large files become, and how many there are.</summary>
    public AuditOptions Options { get; set; }

    /// <summary>Whether there is something that is not on the disk for sure.</summary>
    public bool IsDirty => _unsynced.WrittenCount != 0;

    /// <summary>Writes a line; it gets its number and hashes here.</summary>
    public void Append(AuditLine line)
    {
        EnsureOpen();
        if (!_isBegun)
            Begin();
        Write(line);
    }

    /// <summary>Writes something that the log says of itself.</summary>
    public void Append(AuditEvent happened, string subject = "", string detail = "") =>
        Append(Own(happened, subject, detail));

    /// <summary>Puts what was written on the disk, and then says in the file <c>head</c> how far that is.</summary>
    public void Sync()
    {
        if (!IsDirty)
            return;
        try
        {
            if (_mustWriteAgain)
                _file!.Write(_unsynced.WrittenSpan, _length - _unsynced.WrittenCount);
            _file!.Sync();
        }
        catch (IOException)
        {
            _mustWriteAgain = true; // The system may have dropped what it could not write.
            throw;
        }
        _mustWriteAgain = false;
        _head!.Write(new AuditHead(_next - 1, _previous).ToBytes(), 0);
        _unsynced.ResetWrittenCount();
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _file?.Dispose();
        _head?.Dispose();
    }

    private AuditLine Own(AuditEvent happened, string subject, string detail) =>
        new(0, _now(), AuditLine.NameOf(happened), "broker", "", "", subject, detail, "", "");

    private void EnsureOpen()
    {
        if (_file is not null)
            return;
        if (!_files.HasEntries(_directory))
        {
            _files.MakeDirectory(_directory);
            _files.SyncDirectory(Path.GetDirectoryName(_directory)!);
        }
        if (_head is null)
            OpenHead();
        bool isNew = _path is null;
        _path ??= Path.Combine(_directory, AuditFiles.NameOf(_next));
        IStorageFile file = _files.Open(_path, OpenMode.OpenOrCreate);
        try
        {
            file.SetLength(_length); // Cuts what a crash has left, or an attempt that failed.
            if (isNew)
                _files.SyncDirectory(_directory);
        }
        catch
        {
            file.Dispose();
            throw;
        }
        _file = file;
    }

    /// <summary>It is there before the first line is: one that is missing has been removed.</summary>
    private void OpenHead()
    {
        IStorageFile head = _files.Open(Path.Combine(_directory, AuditHead.FileName), OpenMode.OpenOrCreate);
        try
        {
            if (head.Length == 0)
            {
                head.Write(new AuditHead(_next - 1, _previous).ToBytes(), 0);
                head.Sync();
                _files.SyncDirectory(_directory);
            }
            else if (head.Length > AuditHead.FileBytes)
            {
                head.SetLength(AuditHead.FileBytes); // The first line of this start says that it was longer.
            }
        }
        catch
        {
            head.Dispose();
            throw;
        }
        _head = head;
    }

    /// <summary>The first thing that a start has to say.</summary>
    private void Begin()
    {
        if (_tail.Problem is { } problem)
            Write(Own(AuditEvent.ChainBroken, "", problem));
        else if (_tail.TornBytes != 0)
            Write(Own(AuditEvent.TailCut, "", $"{_tail.TornBytes} bytes of a line that a crash had left"));
        else if (_next == 1)
            Write(Own(AuditEvent.ChainStarted, "", "SHA-256 of each line over what stands in front of its hash"));
        _isBegun = true;
    }

    private void Write(AuditLine line)
    {
        AuditLine written = Render(line);
        if (_length != 0 && _length + _line.WrittenCount > Options.FileBytes)
        {
            Rotate();
            written = Render(line); // The removal of a file may have come between.
        }
        _file!.Write(_line.WrittenSpan, _length);
        _unsynced.Write(_line.WrittenSpan);
        (_length, _next, _previous) = (_length + _line.WrittenCount, _next + 1, written.Hash);
        _end = new AuditEnd(Path.GetFileName(_path)!, _length);
    }

    private AuditLine Render(AuditLine line)
    {
        _line.ResetWrittenCount();
        return AuditLine.Write(_line, line with { Sequence = _next, Previous = _previous });
    }

    private void Rotate()
    {
        Sync();
        _file!.Dispose();
        (_file, _path, _length) = (null, null, 0);
        EnsureOpen();
        (long First, string Name)[] all = AuditFiles.Among(_files.List(_directory));
        foreach ((long first, string name) in all.Take(all.Length - Options.MaxFiles))
        {
            string path = Path.Combine(_directory, name);
            AuditHead last = AuditTail.LastOf(_files, path) ?? new AuditHead(first, AuditLine.NoHash);
            Write(Own(AuditEvent.FileRemoved, name, new RemovedFile(first, last.Sequence, last.Hash).ToString()));
            Sync();
            _files.Delete(path);
        }
    }
}
