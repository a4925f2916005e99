using System.Security.Cryptography;
using LightQ.Storage.Files;
using LightQ.Storage.Inspection;
using LightQ.Storage.Recovery;

namespace LightQ.Storage.Backups;

/// <summary>Makes a data directory of a backup.</summary>
public static class BackupRestore
{
    /// <summary>The file that says that a directory is only half restored; no broker starts on it.</summary>
    public const string UnfinishedName = "RESTORING";

    /// <summary>
    /// How much higher a restored log's epoch is. The broker that the backup is of may have raised its own since, once
    /// for each unclean start, and a consumer that saw what came after the backup must not take what is now published
    /// at those offsets for it.
    /// </summary>
    internal const uint EpochStep = 1000;

    private const int CopyBytes = 1 << 20;

    /// <summary>
    /// Verifies a backup and copies it into a directory that is missing or empty. A broker starts on it as after a
    /// clean stop.
    /// </summary>
    /// <param name="folder">The backup's folder.</param>
    /// <param name="directory">The data directory to make.</param>
    /// <param name="progress">Gets each file or journal before it is read; may be null.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="BackupException">
    /// The backup is damaged: nothing was written. Or the directory is not empty, or its disk is full.
    /// </exception>
    /// <exception cref="DataDirectoryException">A broker holds the directory, or it cannot be written.</exception>
    /// <returns>What was restored.</returns>
    public static BackupManifest Run(
        string folder,
        string directory,
        Action<string>? progress = null,
        CancellationToken cancellationToken = default
    )
    {
        string from = Path.GetFullPath(folder),
            to = Path.GetFullPath(directory);
        ThrowIfUsed(from, to);
        BackupManifest manifest = BackupVerification.Verify(from, progress, cancellationToken);
        OwnedDirectory.Create(to);
        using var held = DataDirectoryLock.Acquire(to);
        try
        {
            Copy(from, to, manifest, progress, cancellationToken);
        }
        catch (IOException e) when (StorageIOException.IsDiskFull(e))
        {
            throw new BackupException(
                from,
                $"The disk of '{to}' is full: the backup has {manifest.Bytes} bytes. Delete what is in it, make room "
                    + $"and restore again.",
                e
            );
        }
        return manifest;
    }

    /// <summary>Refuses a directory that is only half restored.</summary>
    /// <exception cref="DataDirectoryException">It is.</exception>
    public static void ThrowIfUnfinished(string directory)
    {
        if (File.Exists(Path.Combine(directory, UnfinishedName)))
        {
            throw new DataDirectoryException(
                directory,
                $"A backup was not restored to its end into '{directory}': delete what is in it and restore again.",
                new IOException(UnfinishedName)
            );
        }
    }

    private static void ThrowIfUsed(string from, string to)
    {
        if (File.Exists(to))
            throw new BackupException(from, $"'{to}' is a file; name a directory for the broker's data.");
        if (File.Exists(Path.Combine(to, UnfinishedName)))
        {
            throw new BackupException(
                from,
                $"A backup was not restored to its end into '{to}': delete what is in it first."
            );
        }

        if (OwnedDirectory.HasContent(to))
            throw new BackupException(from, $"'{to}' is not empty; name a directory that is missing or empty.");
    }

    private static void Copy(
        string from,
        string to,
        BackupManifest manifest,
        Action<string>? progress,
        CancellationToken cancellationToken
    )
    {
        IFileSystem files = PlatformFileSystem.Choose();
        string unfinished = Path.Combine(to, UnfinishedName);
        ReplacedFile.Write(files, unfinished, []);
        byte[] buffer = new byte[CopyBytes];
        foreach (BackupFile entry in manifest.Files)
        {
            cancellationToken.ThrowIfCancellationRequested();
            progress?.Invoke(entry.Path);
            CopyFile(files, from, to, entry, buffer);
        }
        foreach (
            string partition in manifest.Files.Select(f => BackupLayout.PartitionOf(f.Path)).OfType<string>().Distinct()
        )
        {
            BeginEpoch(files, BackupLayout.PathOf(to, partition));
        }

        foreach (string records in new[] { BackupLayout.Catalog, BackupLayout.Groups })
            NoteEnd(files, Path.Combine(to, records));
        OwnedDirectory.Sync(files, to, manifest.Files);
        files.Delete(unfinished);
        files.SyncDirectory(to);
    }

    private static void CopyFile(IFileSystem files, string from, string to, BackupFile entry, byte[] buffer)
    {
        string target = BackupLayout.PathOf(to, entry.Path);
        OwnedDirectory.Create(Path.GetDirectoryName(target)!);
        using IStorageFile source = BackupVerification.Open(files, from, entry);
        using IStorageFile copy = OwnedDirectory.CreateFile(files, target);
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        int read;
        for (long position = 0; (read = source.Read(buffer, position)) > 0; position += read)
        {
            copy.Write(buffer.AsSpan(0, read), position);
            hash.AppendData(buffer, 0, read);
        }
        BackupVerification.ThrowIfOther(from, entry, hash); // It may have changed since it was verified.
    }

    /// <summary>Notes where a journal of records ends, as the broker would that made it.</summary>
    private static void NoteEnd(IFileSystem files, string directory)
    {
        if (!JournalInspector.IsJournal(directory, files))
            return;
        (LogSurvey survey, JournalReport report) = JournalInspector.InspectRecords(directory, files);
        if (report.IsDamaged)
            return; // As below.
        using var noted = new RecordEndFile(files, directory);
        noted.Note(RecordEnd.Of(survey.End));
        noted.Sync();
    }

    private static void BeginEpoch(IFileSystem files, string directory)
    {
        CheckpointFile.Open(files, directory, out Checkpoint? last, out _);
        if (last is not { } checkpoint || EpochFile.Read(files, directory) is not { } epochs)
            return; // Damaged on the broker and kept as it was: the broker reports it at its start.
        uint epoch = checkpoint.Epoch + EpochStep;
        epochs.Add((epoch, checkpoint.Durable.Offset));
        Replace(files, Path.Combine(directory, EpochFile.Name), EpochFile.Encode(epochs));
        Replace(
            files,
            Path.Combine(directory, CheckpointFile.Name),
            CheckpointFile.Encode(checkpoint with { Generation = checkpoint.Generation + 1, Epoch = epoch })
        );
    }

    /// <summary>Writes a small file over itself; it is synced with all others.</summary>
    private static void Replace(IFileSystem files, string path, byte[] content)
    {
        using IStorageFile file = files.Open(path, OpenMode.Create);
        file.Write(content, 0);
    }
}
