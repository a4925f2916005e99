using LightQ.Storage.Files;

namespace LightQ.Tests.Shared;

/// <summary>The real file system, with faults planted per operation.</summary>
internal sealed class FaultyFileSystem(IFileSystem inner) : IFileSystem
{
    /// <summary>Called with the operation and the path before each; throws to make it fail.</summary>
    public Action<string, string> Before { get; set; } = (_, _) => { };

    /// <summary>
    /// Held by each operation but a read, with what comes before it: whoever looks at the files in
    /// <see cref="Before"/> sees none half done. Null: nothing is.
    /// </summary>
    public Lock? Turn { get; set; }

    /// <summary>What the disk says it has left; null asks the disk.</summary>
    public long? Free { get; set; }

    /// <summary>Whether a sync waits for no disk: for a test in which no power is cut, and which has many.</summary>
    public bool IsUnsynced { get; init; }

    public IStorageFile Open(string path, OpenMode mode)
    {
        using Scope turn = Begin("open", path);
        return new FaultyFile(this, path, inner.Open(path, mode));
    }

    public void Rename(string from, string to)
    {
        using Scope turn = Begin("rename", to);
        inner.Rename(from, to);
    }

    public void Delete(string path)
    {
        using Scope turn = Begin("delete", path);
        inner.Delete(path);
    }

    public void DeleteDirectory(string path) => inner.DeleteDirectory(path);

    public void MakeDirectory(string path) => inner.MakeDirectory(path);

    public bool HasEntries(string directory) => inner.HasEntries(directory);

    public void SyncDirectory(string path)
    {
        if (!IsUnsynced)
            inner.SyncDirectory(path);
    }

    public bool Exists(string path) => inner.Exists(path);

    public IReadOnlyList<string> List(string directory) => inner.List(directory);

    public long FreeBytes(string directory) => Free ?? inner.FreeBytes(directory);

    private Scope Begin(string operation, string path)
    {
        Lock? turn = Turn;
        turn?.Enter();
        try
        {
            Before(operation, path);
        }
        catch
        {
            turn?.Exit();
            throw;
        }
        return new Scope(turn);
    }

    private readonly ref struct Scope(Lock? turn)
    {
        public void Dispose() => turn?.Exit();
    }

    private sealed class FaultyFile(FaultyFileSystem owner, string path, IStorageFile inner) : IStorageFile
    {
        public long Length => inner.Length;

        public int Read(Span<byte> destination, long position)
        {
            owner.Before("read", path);
            return inner.Read(destination, position);
        }

        public void Write(ReadOnlySpan<byte> source, long position)
        {
            using Scope turn = owner.Begin("write", path);
            inner.Write(source, position);
        }

        public void Sync()
        {
            using Scope turn = owner.Begin("sync", path);
            if (!owner.IsUnsynced)
                inner.Sync();
        }

        public void Allocate(long length)
        {
            using Scope turn = owner.Begin("allocate", path);
            inner.Allocate(length);
        }

        public long NextData(long position) => inner.NextData(position);

        public void SetLength(long length) => inner.SetLength(length);

        public FileMapping? TryMap(long length) => inner.TryMap(length);

        public void IsNow(string path) => inner.IsNow(path);

        public void Dispose() => inner.Dispose();
    }
}
