namespace LightQ.Storage.Files;

/// <summary>
/// Files through the runtime, for Windows and macOS; on Linux only with <c>LIGHTQ_PORTABLE_IO=1</c>, for tests.
/// </summary>
internal sealed class PortableFileSystem : DirectoryOperations
{
    public override IStorageFile Open(string path, OpenMode mode)
    {
        FileMode fileMode = mode switch
        {
            OpenMode.OpenOrCreate => FileMode.OpenOrCreate,
            OpenMode.Create => FileMode.Create,
            _ => FileMode.Open,
        };
        FileAccess access = mode == OpenMode.Read ? FileAccess.Read : FileAccess.ReadWrite;
        return new PortableFile(File.OpenHandle(path, fileMode, access, FileShare.ReadWrite | FileShare.Delete));
    }

    public override void SyncDirectory(string path)
    {
        // The runtime cannot sync a directory; these platforms journal names themselves.
    }
}
