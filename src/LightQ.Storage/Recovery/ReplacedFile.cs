using LightQ.Storage.Files;
using LightQ.Storage.Segments;

namespace LightQ.Storage.Recovery;

/// <summary>
/// Small files that are replaced as a whole: a temporary name, a sync, a rename, a sync of the directory.
/// </summary>
internal static class ReplacedFile
{
    public static void Write(IFileSystem files, string path, ReadOnlySpan<byte> content)
    {
        string temporary = path + SegmentName.Temporary;
        using (IStorageFile file = files.Open(temporary, OpenMode.Create))
        {
            file.Write(content, 0);
            file.Sync();
        }
        files.Rename(temporary, path);
        files.SyncDirectory(Path.GetDirectoryName(path)!);
    }

    /// <summary>The whole file; null when there is none or it is longer than it can be.</summary>
    public static byte[]? Read(IFileSystem files, string path, int maxBytes)
    {
        if (!files.Exists(path))
            return null;
        using IStorageFile file = files.Open(path, OpenMode.Read);
        long length = file.Length;
        if (length > maxBytes)
            return null;
        byte[] content = new byte[length];
        return file.Read(content, 0) == content.Length ? content : null;
    }
}
