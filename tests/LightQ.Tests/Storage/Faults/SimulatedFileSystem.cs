using LightQ.Storage.Files;

namespace LightQ.Tests.Storage.Faults;

/// <summary>
/// The storage seam on a <see cref="SimulatedDisk"/>: notes every change, in the one order in which they happened.
/// </summary>
/// <remarks>Thread-safe. Absolute paths only; renames stay within a directory, as all of ours do.</remarks>
internal sealed class SimulatedFileSystem(SimulatedDisk disk) : IFileSystem
{
    private readonly Lock _lock = new();
    private readonly List<DiskOperation> _operations = [];
    private SimulatedDisk _disk = disk;

    /// <summary>Everything done so far.</summary>
    public IReadOnlyList<DiskOperation> Operations => _operations;

    /// <summary>How many changes were made so far: the time, as far as crashes are concerned.</summary>
    public int Now
    {
        get
        {
            lock (_lock)
                return _operations.Count;
        }
    }

    /// <summary>Called before a file is synced, on the thread that syncs it.</summary>
    public Action<string> BeforeSync { get; set; } = _ => { };

    /// <summary>Called before a change is made, on the thread that makes it; throws to make it fail.</summary>
    public Action<DiskOperation> Before { get; set; } = _ => { };

    /// <summary>Says which syncs fail and lose what they should have written.</summary>
    public Func<string, bool> FailsSync { get; set; } = _ => false;

    /// <summary>What they say: EIO.</summary>
    public int SyncError { get; set; } = 5;

    /// <summary>Puts another disk in; whoever still has files of the one before goes on with those.</summary>
    public void Insert(SimulatedDisk disk)
    {
        lock (_lock)
        {
            _disk = disk;
            _operations.Clear();
        }
    }

    /// <summary>The disk as the next start finds it if the power goes now.</summary>
    public SimulatedDisk Crash(CrashKind kind, Random random)
    {
        lock (_lock)
            return _disk.Crash(kind, random);
    }

    public IStorageFile Open(string path, OpenMode mode)
    {
        lock (_lock)
        {
            bool exists = _disk.Find(path) is SimulatedFile;
            if (!exists && mode is OpenMode.Read or OpenMode.ReadWrite)
                throw new FileNotFoundException($"There is no file '{path}'.", path);
            if (!exists)
                Do(new DiskOperation(DiskOperationKind.CreateFile, path));
            int number = _disk.NumberOf(path);
            if (exists && mode == OpenMode.Create)
                Do(new DiskOperation(DiskOperationKind.SetLength, path, File: number));
            return new Handle(this, path, number, _disk.File(number));
        }
    }

    public void Rename(string from, string to)
    {
        lock (_lock)
            Do(new DiskOperation(DiskOperationKind.Rename, from, to));
    }

    public void Delete(string path)
    {
        lock (_lock)
        {
            if (_disk.Find(path) is SimulatedFile)
                Do(new DiskOperation(DiskOperationKind.Delete, path));
        }
    }

    public void DeleteDirectory(string path)
    {
        lock (_lock)
        {
            if (_disk.Find(path) is not SimulatedDirectory directory)
                return;
            if (directory.Current.Count > 0)
                throw new IOException($"The directory '{path}' is not empty.");
            Do(new DiskOperation(DiskOperationKind.DeleteDirectory, path));
        }
    }

    public void MakeDirectory(string path)
    {
        lock (_lock)
        {
            if (_disk.Find(path) is null)
                Do(new DiskOperation(DiskOperationKind.CreateDirectory, path));
        }
    }

    public bool HasEntries(string directory)
    {
        lock (_lock)
            return _disk.Find(directory) is SimulatedDirectory { Current.Count: > 0 };
    }

    public void SyncDirectory(string path)
    {
        lock (_lock)
            Do(new DiskOperation(DiskOperationKind.SyncDirectory, path));
    }

    public bool Exists(string path)
    {
        lock (_lock)
            return _disk.Find(path) is SimulatedFile;
    }

    public IReadOnlyList<string> List(string directory)
    {
        lock (_lock)
        {
            return _disk.Find(directory) is SimulatedDirectory found
                ? [.. found.Current.Where(entry => entry.Value is SimulatedFile).Select(entry => entry.Key)]
                : [];
        }
    }

    public long FreeBytes(string directory) => 1L << 40;

    private void Do(DiskOperation operation)
    {
        Before(operation);
        _disk.Apply(operation);
        _operations.Add(operation);
    }

    private sealed class Handle(SimulatedFileSystem owner, string path, int number, SimulatedFile file) : IStorageFile
    {
        public long Length
        {
            get
            {
                lock (owner._lock)
                    return file.Current.Length;
            }
        }

        public int Read(Span<byte> destination, long position)
        {
            lock (owner._lock)
            {
                ReadOnlySpan<byte> content = file.Current;
                if (position >= content.Length)
                    return 0;
                content = content[(int)position..];
                content = content[..Math.Min(content.Length, destination.Length)];
                content.CopyTo(destination);
                return content.Length;
            }
        }

        public void Write(ReadOnlySpan<byte> source, long position)
        {
            lock (owner._lock)
            {
                owner.Do(
                    new DiskOperation(
                        DiskOperationKind.Write,
                        path,
                        File: number,
                        Position: position,
                        Data: source.ToArray()
                    )
                );
            }
        }

        public void Sync()
        {
            owner.BeforeSync(path);
            lock (owner._lock)
            {
                bool fails = owner.FailsSync(path);
                owner.Do(
                    new DiskOperation(fails ? DiskOperationKind.FailedSync : DiskOperationKind.Sync, path, File: number)
                );
                if (fails)
                    throw new StorageIOException(StorageIOException.Sync, path, owner.SyncError);
            }
        }

        public void Allocate(long length)
        {
            if (length > Length)
                SetLength(length);
        }

        public void SetLength(long length)
        {
            lock (owner._lock)
                owner.Do(new DiskOperation(DiskOperationKind.SetLength, path, File: number, Position: length));
        }

        // Readers then use reads, which is also the only way that what they see is what was written.
        public FileMapping? TryMap(long length) => null;

        public void Dispose()
        {
            // Nothing is kept open.
        }
    }
}
