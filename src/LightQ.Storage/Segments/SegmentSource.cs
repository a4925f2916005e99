using LightQ.Storage.Files;

namespace LightQ.Storage.Segments;

/// <summary>
/// Makes one journal's segment files, ahead of need: real blocks under a temporary name, synced, then named.
/// </summary>
/// <remarks>
/// The supply thread prepares; the writer takes, and makes the file itself if it comes first. Files of expired segments
/// are used again, because overwriting blocks that are already written is what a disk does fastest: a commit then
/// changes no metadata.
/// </remarks>
internal sealed class SegmentSource(JournalOptions options, IFileSystem files) : IDisposable
{
    /// <summary>
    /// Make no file ahead unless so many of its size would fit: room for deletions and for the segment of batches that
    /// were accepted before the disk was known to be full.
    /// </summary>
    private const int Reserve = 3;

    /// <summary>Expired files kept for use again: what a busy topic expires in one round of housekeeping.</summary>
    private const int MaxSpares = 4;

    /// <summary>
    /// Files up to this size are filled with zeros at once; it costs less than a commit or two on unwritten blocks.
    /// </summary>
    private const int ZeroAtOnceBytes = 1 << 20;

    private static readonly byte[] Zeros = new byte[256 * 1024];

    private readonly JournalOptions _options = options;
    private readonly IFileSystem _files = files;
    private readonly object _lock = new();
    private readonly List<(string Path, long Bytes)> _spares = [];
    private long _wanted;
    private int _wantedBytes;
    private long _readyOrdinal;
    private long _readyBytes;
    private long _zeroedTo;
    private bool _preparing;
    private bool _disposed;

    /// <summary>Whether a prepared file waits that is not filled yet.</summary>
    public bool IsUnfilled
    {
        get
        {
            lock (_lock)
                return _readyOrdinal != 0 && _zeroedTo < _readyBytes;
        }
    }

    /// <summary>Asks for a file to be made ahead; <see cref="Prepare"/> then does it.</summary>
    /// <returns>False when it is asked for or made already.</returns>
    public bool Request(long ordinal, int bytes)
    {
        lock (_lock)
        {
            if (_disposed || _wanted == ordinal || _readyOrdinal == ordinal)
                return false;
            (_wanted, _wantedBytes) = (ordinal, bytes);
            return true;
        }
    }

    /// <summary>
    /// On the supply thread: makes the file that was asked for, unless the writer has taken that on itself.
    /// </summary>
    /// <exception cref="IOException">
    /// It cannot be made; <see cref="StorageIOException.IsDiskFull"/> shows the harmless case.
    /// </exception>
    public void Prepare()
    {
        long ordinal;
        int bytes;
        lock (_lock)
        {
            if (_disposed || _wanted == 0 || _preparing)
                return;
            (ordinal, bytes) = (_wanted, _wantedBytes);
            _preparing = true;
        }
        bool made = false,
            isWritten = false;
        try
        {
            // Opened again when it is needed: a topic that rests meanwhile holds no descriptor for it.
            Make(ordinal, bytes, Wanted(bytes), out isWritten).Dispose();
            made = true;
        }
        finally
        {
            lock (_lock)
            {
                _preparing = false;
                _wanted = 0;
                if (made)
                {
                    (_readyOrdinal, _readyBytes, _zeroedTo) = (
                        ordinal,
                        bytes,
                        isWritten ? bytes : SegmentHeader.PageSize
                    );
                }

                Monitor.PulseAll(_lock);
            }
        }
    }

    /// <summary>
    /// On the writer's thread: the file of that name, prepared or made now, if need be from the reserve: its batches
    /// were accepted.
    /// </summary>
    public IStorageFile Take(long ordinal, int bytes)
    {
        lock (_lock)
        {
            while (_preparing)
                Monitor.Wait(_lock);
            _wanted = 0;
            bool isReady = _readyOrdinal == ordinal && _readyBytes == bytes;
            _readyOrdinal = 0; // One of another size is made anew under the same name.
            if (isReady)
                return _files.Open(PathOf(ordinal), OpenMode.ReadWrite);
        }
        return Make(ordinal, bytes, bytes, out _);
    }

    /// <summary>
    /// Writes zeros into some more of the prepared file, so that its blocks are written ones when they are needed.
    /// </summary>
    /// <returns>True if there is more to fill.</returns>
    public bool FillStep()
    {
        lock (_lock)
        {
            // The lock keeps the writer from taking the file in the middle of a step.
            if (_readyOrdinal == 0 || _zeroedTo >= _readyBytes)
                return false;
            ReadOnlySpan<byte> zeros = Zeros.AsSpan(0, (int)Math.Min(Zeros.Length, _readyBytes - _zeroedTo));
            using IStorageFile file = _files.Open(PathOf(_readyOrdinal), OpenMode.ReadWrite);
            file.Write(zeros, _zeroedTo);
            file.Sync();
            _zeroedTo += zeros.Length;
            return _zeroedTo < _readyBytes;
        }
    }

    /// <summary>
    /// Takes away a segment's name; keeps its file for use again if there is a use, once the last reader has let go.
    /// </summary>
    public void Remove(Segment segment)
    {
        bool keep;
        lock (_lock)
        {
            keep =
                !_disposed
                && _spares.Count < MaxSpares
                && segment.FileBytes == SegmentGrowth.Next(segment.FileBytes, _options);
        }

        if (_files.Exists(segment.Path))
            _ = segment.File; // Open it while it still has its old name: a reader may be about to.
        if (!keep)
        {
            _files.Delete(segment.Path);
            segment.Retire();
            return;
        }
        string spare = segment.Path + SegmentName.Temporary;
        _files.Rename(segment.Path, spare);
        segment.Retire(() => Keep(spare, segment.FileBytes));
    }

    /// <summary>What must be free for a file of so many bytes, the reserve with it.</summary>
    public static long Wanted(int bytes) => (long)bytes * Reserve;

    /// <summary>Whether a file of so many bytes could be made now without touching the reserve.</summary>
    public bool HasRoom(int bytes)
    {
        lock (_lock)
        {
            if (_spares.Exists(spare => spare.Bytes == bytes))
                return true;
        }
        return _files.FreeBytes(_options.Directory) >= Wanted(bytes);
    }

    public void Dispose()
    {
        lock (_lock)
        {
            _disposed = true;
            while (_preparing)
                Monitor.Wait(_lock);
            if (_readyOrdinal != 0)
                _files.Delete(PathOf(_readyOrdinal));
            _readyOrdinal = 0;
            foreach ((string path, _) in _spares)
                _files.Delete(path);
            _spares.Clear();
        }
    }

    /// <param name="ordinal">Its number.</param>
    /// <param name="bytes">Its length.</param>
    /// <param name="freeBytes">How much must be free for it to be made.</param>
    /// <param name="isWritten">
    /// Whether its blocks are written ones: those of a file that is used again, or of a small one.
    /// </param>
    private IStorageFile Make(long ordinal, int bytes, long freeBytes, out bool isWritten)
    {
        string path = PathOf(ordinal);
        string? temporary = TakeSpare(bytes);
        isWritten = temporary is not null || IsZeroed(bytes);
        IStorageFile? file = null;
        try
        {
            if (temporary is null)
            {
                if (_files.FreeBytes(_options.Directory) < freeBytes)
                    throw StorageIOException.DiskFull(path);
                temporary = path + SegmentName.Temporary;
                file = _files.Open(temporary, OpenMode.Create);
                file.Allocate(bytes);
                for (int at = 0; IsZeroed(bytes) && at < bytes; at += Zeros.Length)
                    file.Write(Zeros.AsSpan(0, Math.Min(Zeros.Length, bytes - at)), at);
            }
            else
            {
                file = _files.Open(temporary, OpenMode.ReadWrite);
                // An old header page must not be taken for this segment's; old batches have old offsets.
                file.Write(Zeros.AsSpan(0, SegmentHeader.PageSize), 0);
            }
            file.Sync();
            _files.Rename(temporary, path);
            file.IsNow(path);
            if (!Mutation.NoDirectoryFsync)
                _files.SyncDirectory(_options.Directory);
            return file;
        }
        catch
        {
            file?.Dispose();
            if (temporary is not null)
                _files.Delete(temporary);
            throw;
        }
    }

    private string? TakeSpare(int bytes)
    {
        lock (_lock)
        {
            int index = _spares.FindIndex(spare => spare.Bytes == bytes);
            if (index < 0)
                return null;
            string path = _spares[index].Path;
            _spares.RemoveAt(index);
            return path;
        }
    }

    private void Keep(string path, long bytes)
    {
        lock (_lock)
        {
            if (!_disposed)
            {
                _spares.Add((path, bytes));
                return;
            }
        }
        _files.Delete(path);
    }

    private static bool IsZeroed(int bytes) => bytes <= ZeroAtOnceBytes;

    private string PathOf(long ordinal) => Path.Combine(_options.Directory, SegmentName.Of(ordinal, SegmentName.Log));
}
