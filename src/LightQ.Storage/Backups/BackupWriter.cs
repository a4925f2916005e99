using System.Security.Cryptography;
using LightQ.Storage.Files;

namespace LightQ.Storage.Backups;

/// <summary>
/// Writes a backup into a folder of its own, so that only its owner can read it: it holds messages and the hashes of
/// passwords.
/// </summary>
/// <remarks>
/// One thread at a time. Until <see cref="Complete"/> has returned, the folder holds no backup, whatever is in it.
/// </remarks>
public sealed class BackupWriter : IBackupSink, IDisposable
{
    private readonly IFileSystem _files = PlatformFileSystem.Choose();
    private readonly string _folder;
    private readonly List<BackupFile> _written = [];
    private readonly IncrementalHash _hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
    private IStorageFile? _file;
    private string _path = "";
    private long _length;
    private long _position;

    private BackupWriter(string folder) => _folder = folder;

    /// <summary>The folder.</summary>
    public string Folder => _folder;

    /// <summary>Bytes written so far.</summary>
    public long Bytes { get; private set; }

    /// <summary>Makes the folder, or takes an empty one.</summary>
    /// <exception cref="BackupException">There is something in it.</exception>
    public static BackupWriter Create(string folder)
    {
        string full = Path.GetFullPath(folder);
        if (File.Exists(full))
            throw new BackupException(full, $"'{full}' is a file; name a folder for the backup.");
        if (OwnedDirectory.HasContent(full))
        {
            string what = File.Exists(Path.Combine(full, BackupManifest.FileName))
                ? "holds a backup already"
                : "is not empty, or holds a backup that was not finished";
            throw new BackupException(full, $"'{full}' {what}; name a new folder.");
        }
        OwnedDirectory.Create(full);
        return new BackupWriter(full);
    }

    /// <inheritdoc/>
    public ValueTask BeginFileAsync(string path, long length, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        ArgumentNullException.ThrowIfNull(path);
        if (!BackupLayout.IsFile(path) || length < 0 || _written.Exists(f => f.Path == path))
        {
            throw new BackupException(
                _folder,
                $"The broker sent what is no file of a backup: '{path[..Math.Min(path.Length, 200)]}', {length} bytes."
            );
        }

        ThrowIfUnfinished();
        string target = BackupLayout.PathOf(_folder, path);
        Guarded(() =>
        {
            OwnedDirectory.Create(Path.GetDirectoryName(target)!);
            _file = OwnedDirectory.CreateFile(_files, target);
            (_path, _length, _position) = (path, length, 0);
            FinishFileIfWhole();
        });
        return ValueTask.CompletedTask;
    }

    /// <inheritdoc/>
    public ValueTask WriteAsync(ReadOnlyMemory<byte> bytes, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        if (_file is null || bytes.Length > _length - _position)
        {
            throw new BackupException(
                _folder,
                $"The broker sent more than the {_length} bytes that '{_path}' was announced with."
            );
        }

        Guarded(() =>
        {
            _file.Write(bytes.Span, _position);
            _hash.AppendData(bytes.Span);
            _position += bytes.Length;
            Bytes += bytes.Length;
            FinishFileIfWhole();
        });
        return ValueTask.CompletedTask;
    }

    /// <summary>Removes what belongs to none of the topics: they were deleted while they were copied.</summary>
    public void KeepOnly(IEnumerable<BackupTopic> topics)
    {
        HashSet<string> kept = [.. topics.Select(t => t.Id)];
        foreach (
            string gone in _written
                .Select(f => BackupLayout.TopicOf(f.Path))
                .OfType<string>()
                .Where(id => !kept.Contains(id))
                .Distinct()
                .ToArray()
        )
        {
            _written.RemoveAll(f => BackupLayout.TopicOf(f.Path) == gone);
            Directory.Delete(Path.Combine(_folder, BackupLayout.Topics, gone), recursive: true);
        }
    }

    /// <summary>Puts all files on the disk and lists them.</summary>
    /// <exception cref="BackupException">The last file is not whole.</exception>
    public IReadOnlyList<BackupFile> Finish()
    {
        ThrowIfUnfinished();
        Guarded(() => OwnedDirectory.Sync(_files, _folder, _written));
        return [.. _written.OrderBy(f => f.Path, StringComparer.Ordinal)];
    }

    /// <summary>Writes the manifest: now the folder holds a backup.</summary>
    public void Complete(BackupManifest manifest)
    {
        ArgumentNullException.ThrowIfNull(manifest);
        Guarded(() =>
            Recovery.ReplacedFile.Write(_files, Path.Combine(_folder, BackupManifest.FileName), manifest.Encode())
        );
    }

    /// <summary>Closes a file that was left unfinished.</summary>
    public void Dispose()
    {
        _file?.Dispose();
        _hash.Dispose();
    }

    private void FinishFileIfWhole()
    {
        if (_position < _length)
            return;
        _file!.Dispose(); // Synced together with all others: one by one, thousands of small files would take minutes.
        _file = null;
        _written.Add(new BackupFile(_path, _length, Convert.ToHexStringLower(_hash.GetHashAndReset())));
    }

    private void ThrowIfUnfinished()
    {
        if (_file is not null)
            throw new BackupException(_folder, $"The broker sent {_position} of the {_length} bytes of '{_path}'.");
    }

    /// <summary>Says what it means when the disk is full.</summary>
    private void Guarded(Action write)
    {
        try
        {
            write();
        }
        catch (IOException e) when (StorageIOException.IsDiskFull(e))
        {
            throw new BackupException(
                _folder,
                $"The disk of '{_folder}' is full: {Bytes} bytes of the backup were written. It is not complete; "
                    + $"delete the folder, and make room or name another.",
                e
            );
        }
    }
}
