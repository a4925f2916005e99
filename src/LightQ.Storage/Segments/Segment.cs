using LightQ.Storage.Files;

namespace LightQ.Storage.Segments;

/// <summary>One segment file: opened and mapped when first needed, closed when it is retired and the last reader has let go.</summary>
/// <remarks>
/// Counted: the list holds one reference, every run in flight one more. The writer alone moves <see cref="EndPosition"/>.
/// </remarks>
internal sealed class Segment
{
    private readonly IFileSystem _files;
    private readonly Lock _lock = new();
    private IStorageFile? _file;
    private FileMapping? _mapping;
    private SegmentIndex? _index;
    private Action<Segment, IStorageFile>? _recycle;
    private long _endPosition;
    private int _references = 1;
    private bool _unmappable;

    public Segment(IFileSystem files, string path, in SegmentHeader header, long fileBytes, IStorageFile? file = null, SegmentIndex? index = null)
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

    /// <summary>The open file. The caller holds a reference, or is the writer.</summary>
    public IStorageFile File
    {
        get
        {
            IStorageFile? file = Volatile.Read(ref _file);
            if (file is not null)
                return file;
            lock (_lock)
                return _file ??= _files.Open(Path, OpenMode.ReadWrite);
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
                _mapping ??= file.TryMap(FileBytes);
                _unmappable = _mapping is null;
                return _mapping;
            }
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
        while (seen > 0)
        {
            int now = Interlocked.CompareExchange(ref _references, seen + 1, seen);
            if (now == seen)
                return true;
            seen = now;
        }
        return false;
    }

    public void Release()
    {
        if (Interlocked.Decrement(ref _references) == 0)
            Close();
    }

    /// <summary>Gives up the list's reference. The name must be gone already.</summary>
    /// <param name="recycle">Gets the open file, instead of it being closed, when nobody reads it any more.</param>
    public void Retire(Action<Segment, IStorageFile>? recycle = null)
    {
        _recycle = recycle;
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
        if (file is null)
            return;
        if (_recycle is { } recycle)
            recycle(this, file);
        else
            file.Dispose();
    }
}
