// Unsafe: batches are written and read at addresses of a mapped file.
using System.IO.MemoryMappedFiles;

namespace LightQ.Storage.Mapped;

/// <summary>A segment file, mapped as a whole by its writer or by a reader. Its creator disposes it.</summary>
internal sealed unsafe class MappedSegment : IDisposable
{
    private readonly MemoryMappedFile _file;
    private readonly MemoryMappedViewAccessor _view;
    private byte* _origin;

    /// <param name="path">The file, with blocks behind all of it: a page without one would end the process.</param>
    /// <param name="writable">Whether it is written to.</param>
    public MappedSegment(string path, bool writable)
    {
        FileAccess access = writable ? FileAccess.ReadWrite : FileAccess.Read;
        MemoryMappedFileAccess mapped = writable ? MemoryMappedFileAccess.ReadWrite : MemoryMappedFileAccess.Read;
        var stream = new FileStream(path, FileMode.Open, access, FileShare.ReadWrite | FileShare.Delete, bufferSize: 0);
        FileBytes = stream.Length;
        try
        {
            _file = MemoryMappedFile.CreateFromFile(
                stream,
                null,
                FileBytes,
                mapped,
                HandleInheritability.None,
                leaveOpen: false
            );
        }
        catch
        {
            stream.Dispose();
            throw;
        }
        _view = _file.CreateViewAccessor(0, FileBytes, mapped);
        _view.SafeMemoryMappedViewHandle.AcquirePointer(ref _origin);
        _origin += _view.PointerOffset;
    }

    /// <summary>Length of the file.</summary>
    public long FileBytes { get; }

    /// <summary>Where a byte of the file is.</summary>
    public byte* At(long filePosition) => _origin + filePosition;

    /// <summary>Makes every page present and writable, so that no store waits for one.</summary>
    public void Populate()
    {
        for (long at = 0; at < FileBytes; at += Environment.SystemPageSize)
            Volatile.Write(ref *At(at), Volatile.Read(ref *At(at)));
    }

    /// <summary>Puts what was stored on the disk.</summary>
    public void Sync() => _view.Flush();

    public void Dispose()
    {
        if (_origin == null)
            return;
        _origin = null;
        _view.SafeMemoryMappedViewHandle.ReleasePointer();
        _view.Dispose();
        _file.Dispose();
    }
}
