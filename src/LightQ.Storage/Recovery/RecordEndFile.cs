using LightQ.Storage.Files;

namespace LightQ.Storage.Recovery;

/// <summary>Notes the end of a journal of records whenever it has moved: two slots, written in turn.</summary>
/// <remarks>
/// A note is written behind the sync of what it stands for, and synced only when it is made and when the journal is
/// closed. So it may be behind the journal, after a power cut by more than one record, and is never ahead of it. What
/// it lacks makes nothing wrong: a note that the disk refuses waits for the next one. One thread at a time.
/// </remarks>
internal sealed class RecordEndFile : IDisposable
{
    private readonly IFileSystem _files;
    private readonly string _path;
    private RecordEnd? _last;
    private ulong _count;
    private IStorageFile? _file;

    /// <param name="files">Where.</param>
    /// <param name="directory">The journal's directory.</param>
    /// <exception cref="JournalFormatException">The file is of a later version.</exception>
    public RecordEndFile(IFileSystem files, string directory)
    {
        (_files, _path) = (files, RecordEnd.PathOf(directory));
        _last = RecordEnd.Read(files, directory, out _count);
    }

    /// <summary>What is noted; null for nothing.</summary>
    public RecordEnd? Last => _last;

    /// <summary>Notes where the journal ends.</summary>
    public void Note(in RecordEnd end)
    {
        if (_last == end)
            return;
        Span<byte> slot = stackalloc byte[RecordEnd.SlotSize];
        slot.Clear();
        end.Write(slot, _count + 1);
        try
        {
            IStorageFile file = _file ??= Open();
            file.Write(slot, (long)((_count + 1) % 2) * RecordEnd.SlotSize);
            (_last, _count) = (end, _count + 1);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            // The one before stays, which says less and nothing wrong.
        }
    }

    /// <summary>Puts the note on the disk.</summary>
    public void Sync()
    {
        try
        {
            _file?.Sync();
        }
        catch (IOException)
        {
            // As above: the journal itself is on the disk.
        }
    }

    public void Dispose() => _file?.Dispose();

    private IStorageFile Open()
    {
        bool isNew = !_files.Exists(_path);
        IStorageFile file = _files.Open(_path, OpenMode.OpenOrCreate);
        try
        {
            if (file.Length < 2 * RecordEnd.SlotSize)
                file.Allocate(2 * RecordEnd.SlotSize);
            if (isNew)
            {
                file.Sync();
                _files.SyncDirectory(Path.GetDirectoryName(_path)!);
            }
            return file;
        }
        catch
        {
            file.Dispose();
            throw;
        }
    }
}
