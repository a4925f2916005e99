using System.Security.Cryptography;
using LightQ.Storage.Files;
using LightQ.Storage.Inspection;

namespace LightQ.Storage.Backups;

/// <summary>
/// Reads everything that a backup's folder holds and compares it with what it must hold. Changes nothing.
/// </summary>
public static class BackupVerification
{
    private const int ReadBytes = 1 << 20;

    /// <summary>
    /// Verifies a finished backup: every file is there with its length and SHA-256, and every batch in it is whole and
    /// in its place.
    /// </summary>
    /// <param name="folder">The backup's folder.</param>
    /// <param name="progress">Gets each file or journal before it is read; may be null.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="BackupException">It is not complete, or something is damaged: the message names it.</exception>
    /// <returns>What it holds.</returns>
    public static BackupManifest Verify(
        string folder,
        Action<string>? progress = null,
        CancellationToken cancellationToken = default
    )
    {
        string full = Path.GetFullPath(folder);
        var manifest = BackupManifest.Read(full);
        VerifyHashes(full, manifest, progress, cancellationToken);
        string[] damaged =
        [
            .. FindDamage(full, manifest, progress, cancellationToken)
                .Where(d => !manifest.Damaged.Contains(d.Directory))
                .Select(d => d.Detail),
        ];
        return damaged.Length == 0
            ? manifest
            : throw new BackupException(
                full,
                $"The backup in '{full}' is damaged: {string.Join("; ", damaged.Take(10))}."
            );
    }

    /// <summary>Looks for damage that the hashes cannot show, because the files were copied with it.</summary>
    /// <param name="folder">The backup's folder.</param>
    /// <param name="manifest">What it holds.</param>
    /// <param name="progress">Gets each journal before it is read; may be null.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <returns>Directories in the folder, and what is wrong there.</returns>
    public static IReadOnlyList<(string Directory, string Detail)> FindDamage(
        string folder,
        BackupManifest manifest,
        Action<string>? progress = null,
        CancellationToken cancellationToken = default
    )
    {
        ArgumentNullException.ThrowIfNull(manifest);
        manifest.ThrowIfImpossible(folder);
        var found = new List<(string, string)>();
        foreach (string directory in new[] { BackupLayout.Catalog, BackupLayout.Groups })
            Note(directory, directory, () => JournalInspector.InspectRecords(BackupLayout.PathOf(folder, directory)));
        foreach (BackupTopic topic in manifest.Topics.Where(t => t.Durable))
        {
            for (int i = 0; i < topic.Partitions; i++)
            {
                cancellationToken.ThrowIfCancellationRequested();
                string directory = $"{BackupLayout.Topics}/{topic.Id}/{i}",
                    title = topic.Partitions == 1 ? topic.Name : $"{topic.Name}/{i}";
                progress?.Invoke(title);
                string path = BackupLayout.PathOf(folder, directory);
                Note(
                    directory,
                    $"topic {title}",
                    () =>
                        JournalInspector.Inspect(
                            path,
                            Guid.ParseExact(topic.Id, "N"),
                            _ => cancellationToken.ThrowIfCancellationRequested()
                        )
                );
            }
        }
        return found;

        void Note(string directory, string title, Func<JournalReport> inspect)
        {
            if (!JournalInspector.IsJournal(BackupLayout.PathOf(folder, directory)))
            {
                found.Add((directory, $"{title}: its files are missing"));
                return;
            }
            JournalReport report = inspect();
            if (report.Findings.FirstOrDefault(f => f.Kind == FindingKind.Damage) is not { } finding)
                return;
            string offsets = finding.FirstOffset < 0 ? "" : $", offsets {finding.FirstOffset} to {finding.LastOffset}";
            found.Add(
                (
                    directory,
                    $"{title}: {directory}/{finding.File} at byte {finding.Position}{offsets}: {finding.Detail}"
                )
            );
        }
    }

    /// <summary>
    /// Compares every file with its length and SHA-256, and refuses files of a data directory that the manifest does
    /// not list.
    /// </summary>
    /// <param name="folder">The backup's folder.</param>
    /// <param name="manifest">What it holds.</param>
    /// <param name="progress">Gets each file before it is read; may be null.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="BackupException">One is missing, another or one too many: the message names it.</exception>
    public static void VerifyHashes(
        string folder,
        BackupManifest manifest,
        Action<string>? progress = null,
        CancellationToken cancellationToken = default
    )
    {
        ArgumentNullException.ThrowIfNull(manifest);
        manifest.ThrowIfImpossible(folder);
        ThrowIfUnlisted(folder, manifest);
        IFileSystem files = PlatformFileSystem.Choose();
        byte[] buffer = new byte[ReadBytes];
        foreach (BackupFile entry in manifest.Files)
        {
            cancellationToken.ThrowIfCancellationRequested();
            progress?.Invoke(entry.Path);
            using IStorageFile file = Open(files, folder, entry);
            using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
            int read;
            for (long position = 0; (read = file.Read(buffer, position)) > 0; position += read)
                hash.AppendData(buffer, 0, read);
            ThrowIfOther(folder, entry, hash);
        }
    }

    /// <summary>
    /// What a broker would read must be what was verified. Anything else, such as what a file system keeps in its root,
    /// is nobody's business.
    /// </summary>
    private static void ThrowIfUnlisted(string folder, BackupManifest manifest)
    {
        HashSet<string> listed = [.. manifest.Files.Select(f => f.Path)];
        foreach (string file in Directory.EnumerateFiles(folder, "*", SearchOption.AllDirectories))
        {
            string path = Path.GetRelativePath(folder, file).Replace(Path.DirectorySeparatorChar, '/');
            if (BackupLayout.IsFile(path) && !listed.Contains(path))
            {
                throw new BackupException(
                    folder,
                    $"The backup in '{folder}' is damaged: '{path}' is there, and its manifest does not list it."
                );
            }
        }
    }

    /// <summary>Opens a file that a manifest lists.</summary>
    /// <exception cref="BackupException">It is not there, or has another length.</exception>
    internal static IStorageFile Open(IFileSystem files, string folder, BackupFile entry)
    {
        string path = BackupLayout.PathOf(folder, entry.Path);
        if (!files.Exists(path))
            throw new BackupException(folder, $"The backup in '{folder}' is damaged: '{entry.Path}' is missing.");
        IStorageFile file = files.Open(path, OpenMode.Read);
        long length = file.Length;
        if (length == entry.Length)
            return file;
        file.Dispose();
        throw new BackupException(
            folder,
            $"The backup in '{folder}' is damaged: '{entry.Path}' has {length} bytes, not {entry.Length}."
        );
    }

    /// <exception cref="BackupException">The file's bytes are others than they were.</exception>
    internal static void ThrowIfOther(string folder, BackupFile entry, IncrementalHash hash)
    {
        if (!Convert.ToHexStringLower(hash.GetHashAndReset()).Equals(entry.Sha256, StringComparison.OrdinalIgnoreCase))
        {
            throw new BackupException(
                folder,
                $"The backup in '{folder}' is damaged: the bytes of '{entry.Path}' are not those that were written "
                    + $"(SHA-256)."
            );
        }
    }
}
