using LightQ.Storage.Files;

namespace LightQ.Storage.Segments;

/// <summary>
/// One segment file: opened and mapped when needed, closed when it was not used for a while or when it is retired.
/// </summary>
/// <remarks>
/// Counted: the list holds one reference, every run in flight and every write one more. The writer alone moves
/// <see cref="EndPosition"/>.
/// </remarks>
internal sealed class Segment
{
    /// <summary>
    /// In place of the reference count while the file is taken out: callers that want a reference try again.
    /// </summary>
    private const int Resting = int.MinValue;

    private readonly IFileSystem _files;
    private readonly Lock _lock = new();
    private IStorageFile? _file;
    private FileMapping? _mapping;
    private SegmentIndex? _index;
    private Action? _closed;
    private long _endPosition;
    private int _references = 1;
    private int _idleLooks;
    private bool _unmappable;
    private bool _used;

    public Segment(
        IFileSystem files,
        string path,
        in SegmentHeader header,
        long fileBytes,
        IStorageFile? file = null,
        SegmentIndex? index = null
    )
    {
        _files = files;
        _file = file;
        _index = index;
        Path = path;
        Header = header;
        Crc = header.Crc();
        FileBytes = fileBytes;
        _endPosition = header.BasePosition;
    }

    public string Path { get; }

    public SegmentHeader Header { get; }

    /// <summary>The header page's checksum, which the first batch refers to.</summary>
    public uint Crc { get; }

    /// <summary>Length of the file.</summary>
    public long FileBytes { get; }

    /// <summary>What its first page says of how much there must be, when it was opened.</summary>
    public SegmentExtent Extent { get; init; }

    public long BaseOffset => Header.BaseOffset;

    public long BasePosition => Header.BasePosition;

    /// <summary>Log position up to which batches were written; final once there is a next segment.</summary>
    public long EndPosition
    {
        get => Volatile.Read(ref _endPosition);
        set => Volatile.Write(ref _endPosition, value);
    }

    /// <summary>Log position that no batch of this segment can pass.</summary>
    public long Limit => BasePosition + FileBytes - SegmentHeader.PageSize;

    /// <summary>The log whose housekeeping closes it when it is unused; null while only recovery has it.</summary>
    public ILogHost? Owner { get; set; }

    /// <summary>Whether its file or mapping is open.</summary>
    public bool IsOpen => Volatile.Read(ref _file) is not null || Volatile.Read(ref _mapping) is not null;

    /// <summary>The open file. The caller holds a reference, or is recovery.</summary>
    public IStorageFile File
    {
        get
        {
            IStorageFile? file = Volatile.Read(ref _file);
            if (file is not null)
                return file;
            lock (_lock)
                file = _file ??= _files.Open(Path, OpenMode.ReadWrite);
            Owner?.RequestLook();
            return file;
        }
    }

    /// <summary>The mapping, or null where files cannot be mapped. The caller holds a reference.</summary>
    public FileMapping? Mapping
    {
        get
        {
            FileMapping? mapping = Volatile.Read(ref _mapping);
            if (mapping is not null || _unmappable)
                return mapping;
            IStorageFile file = File;
            lock (_lock)
            {
                mapping = _mapping ??= file.TryMap(FileBytes);
                _unmappable = mapping is null;
            }
            Owner?.RequestLook();
            return mapping;
        }
    }

    /// <summary>The index in memory, if it was needed yet.</summary>
    public SegmentIndex? Index
    {
        get => Volatile.Read(ref _index);
        set => Volatile.Write(ref _index, value);
    }

    /// <summary>Held while the index of a sealed segment is loaded or rebuilt.</summary>
    public Lock IndexLock { get; } = new();

    /// <summary>Where a log position is in the file.</summary>
    public long FilePosition(long position) => position - BasePosition + SegmentHeader.PageSize;

    /// <summary>Keeps the file and the mapping open until <see cref="Release"/>.</summary>
    /// <returns>False when the segment is gone.</returns>
    public bool TryAcquire()
    {
        int seen = Volatile.Read(ref _references);
        while (seen is > 0 or Resting)
        {
            int now =
                seen == Resting
                    ? Volatile.Read(ref _references)
                    : Interlocked.CompareExchange(ref _references, seen + 1, seen);
            if (now == seen && seen != Resting)
            {
                Volatile.Write(ref _used, true);
                return true;
            }
            seen = now;
        }
        return false;
    }

    /// <summary>As <see cref="TryAcquire"/>, for the writer: its segment is never retired.</summary>
    public void Acquire() => ObjectDisposedException.ThrowIf(!TryAcquire(), this);

    /// <summary>
    /// Closes file and mapping if they were not used for so many looks in a row; the next user opens them again.
    /// </summary>
    /// <remarks>
    /// One thread at a time, and not beside <see cref="Retire"/>. A file with bytes that are not synced stays open:
    /// closing it could hide an error.
    /// </remarks>
    public void Rest(int looks, PublishedEnd durable)
    {
        if (!IsOpen)
            return;
        _idleLooks = Volatile.Read(ref _used) ? 0 : _idleLooks + 1;
        Volatile.Write(ref _used, false);
        if (_idleLooks < looks || Interlocked.CompareExchange(ref _references, Resting, 1) != 1)
            return;
        IStorageFile? file = null;
        FileMapping? mapping = null;
        if (EndPosition <= durable.Position)
        {
            (file, _file) = (_file, null);
            (mapping, _mapping) = (_mapping, null);
        }
        Volatile.Write(ref _references, 1);
        (mapping as IDisposable)?.Dispose();
        file?.Dispose();
    }

    public void Release()
    {
        if (Interlocked.Decrement(ref _references) == 0)
            Close();
    }

    /// <summary>Gives up the list's reference. The name must be gone already.</summary>
    /// <param name="closed">Called when the file has no reader any more.</param>
    public void Retire(Action? closed = null)
    {
        _closed = closed;
        Release();
    }

    private void Close()
    {
        IStorageFile? file;
        lock (_lock)
        {
            (_mapping as IDisposable)?.Dispose();
            _mapping = null;
            _unmappable = true;
            file = _file;
            _file = null;
        }
        file?.Dispose();
        _closed?.Invoke();
    }
}
