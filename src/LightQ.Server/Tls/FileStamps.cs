namespace LightQ.Server.Tls;

/// <summary>When files were last written, and how long they are: whether they must be read again.</summary>
internal sealed class FileStamps(IEnumerable<string> files)
{
    private readonly string[] _files = [.. files];
    private (DateTime Written, long Length)[] _stamps = [];

    /// <summary>Notes what the files are like, before they are read: what is written meanwhile is a change.</summary>
    /// <returns>Whether they are other than they were at the last call.</returns>
    public bool Update()
    {
        (DateTime Written, long Length)[] stamps = [.. _files.Select(StampOf)];
        bool changed = !stamps.AsSpan().SequenceEqual(_stamps);
        _stamps = stamps;
        return changed;
    }

    private static (DateTime Written, long Length) StampOf(string file)
    {
        try
        {
            // Links are followed: a mounted secret changes by its link alone.
            var info = new FileInfo(file);
            FileSystemInfo target = info.ResolveLinkTarget(returnFinalTarget: true) ?? info;
            return target is FileInfo { Exists: true } found ? (found.LastWriteTimeUtc, found.Length) : default;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return default; // Gone, which is one of the things that a file can be; reading it says so.
        }
    }
}
