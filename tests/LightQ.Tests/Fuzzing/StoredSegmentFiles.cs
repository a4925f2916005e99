using LightQ.Storage.Files;

namespace LightQ.Tests.Fuzzing;

/// <summary>A directory with one segment in it, for reading only.</summary>
internal sealed class StoredSegmentFiles(StoredSegment segment, string name) : IFileSystem
{
    public IStorageFile Open(string path, OpenMode mode) =>
        mode == OpenMode.Read && Exists(path)
            ? segment
            : throw new FuzzInvariantException($"an inspection opens '{path}' for {mode}");

    public bool Exists(string path) => Path.GetFileName(path) == name;

    public bool HasEntries(string directory) => true;

    public IReadOnlyList<string> List(string directory) => [name];

    public void Rename(string from, string to) => throw Change();

    public void Delete(string path) => throw Change();

    public void DeleteDirectory(string path) => throw Change();

    public void MakeDirectory(string path) => throw Change();

    public void SyncDirectory(string path) => throw Change();

    public long FreeBytes(string directory) => 0;

    private static FuzzInvariantException Change() => new("an inspection changes nothing");
}
