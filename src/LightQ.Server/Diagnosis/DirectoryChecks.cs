using System.Globalization;
using LightQ.Server.Security;
using LightQ.Storage;
using LightQ.Storage.Backups;
using LightQ.Storage.Files;
using LightQ.Storage.Inspection;

namespace LightQ.Server.Diagnosis;

/// <summary>The data directory and the disk it lies on.</summary>
internal sealed class DirectoryChecks(string path)
{
    private const int Syncs = 200;
    private const long LeastSpace = 256L << 20,
        LittleSpace = 2L << 30;
    private const int LeastInodes = 1000,
        FewInodes = 100_000;
    private static readonly TimeSpan SyncLimit = TimeSpan.FromSeconds(3),
        TooFast = TimeSpan.FromMicroseconds(20),
        Slow = TimeSpan.FromMilliseconds(20);

    /// <summary>Formats of file systems in memory: nothing on them survives.</summary>
    private static readonly string[] InMemory = ["tmpfs", "ramfs"];

    /// <summary>
    /// File systems that do not show as network drives and whose locks or syncs another machine may handle.
    /// </summary>
    private static readonly string[] Remote =
    [
        "fuse",
        "fuseblk",
        "9p",
        "v9fs",
        "virtiofs",
        "vboxsf",
        "vmhgfs",
        "ceph",
        "afs",
    ];

    /// <summary>The directory, or what is nearest to it while it does not exist.</summary>
    private readonly string _existing = NearestExisting(Path.GetFullPath(path));

    private string Full { get; } = Path.GetFullPath(path);

    /// <summary>Whether a broker works in it.</summary>
    public bool IsInUse { get; private set; }

    public IEnumerable<Finding> Run()
    {
        foreach (Finding finding in DirectoryItself())
            yield return finding;
        DriveInfo drive = new(_existing);
        bool inMemory = InMemory.Contains(drive.DriveFormat);
        yield return FileSystem(drive.DriveFormat, drive.DriveType);
        yield return Space(drive.AvailableFreeSpace, drive.TotalSize);
        if (FileSystemStatus.Inodes(_existing) is { } inodes)
            yield return Inodes(inodes.Free, inodes.All);
        yield return Sync(inMemory);
    }

    public static Finding FileSystem(string format, DriveType type)
    {
        const string Check = "file system";
        if (InMemory.Contains(format))
        {
            return Finding.Warning(
                Check,
                $"{format}: in memory, gone when the machine restarts",
                "Choose a directory on a disk with --data, unless nothing has to last."
            );
        }

        if (type == DriveType.Network || Remote.Contains(format))
        {
            return Finding.Warning(
                Check,
                $"{format}: files on another machine, or of another program",
                "Choose a local disk with --data: a sync there may promise less, and two brokers may not see each "
                    + "other's lock."
            );
        }

        return format.StartsWith("overlay", StringComparison.Ordinal)
            ? Finding.Warning(
                Check,
                $"{format}: the layer of a container, gone with it",
                "Mount a volume for the data directory."
            )
            : Finding.Ok(Check, format);
    }

    public static Finding Space(long free, long all)
    {
        const string Check = "free space";
        string found = $"{Short(free)} of {Short(all)}";
        const string Fix =
            "Make room, give topics retention (lightq topic ensure NAME --retention-bytes 10GiB), or choose another "
            + "disk with --data.";
        return free < LeastSpace ? Finding.Failed(Check, found, Fix)
            : free < LittleSpace ? Finding.Warning(Check, found, Fix)
            : Finding.Ok(Check, found);
    }

    public static Finding Inodes(long free, long all)
    {
        const string Check = "free inodes";
        string found = string.Create(CultureInfo.InvariantCulture, $"{free:N0} of {all:N0}");
        const string Fix =
            "Remove small files, or make the file system with more inodes: a durable topic takes a handful a "
            + "partition and three a segment.";
        return free < LeastInodes ? Finding.Failed(Check, found, Fix)
            : free < FewInodes ? Finding.Warning(Check, found, Fix)
            : Finding.Ok(Check, found);
    }

    /// <summary>What the time of a sync says about the disk.</summary>
    public static Finding JudgeSync(SyncTimes times, bool inMemory)
    {
        const string Check = "sync";
        string found = string.Create(
            CultureInfo.InvariantCulture,
            $"median {times.Median.TotalMilliseconds:0.000} ms, p99 {times.P99.TotalMilliseconds:0.000} ms, of "
                + $"{times.Count} syncs of 4 KiB"
        );
        if (!inMemory && times.Median < TooFast)
        {
            return Finding.Warning(
                Check,
                found + ": faster than a disk can be",
                "The disk, its controller or the hypervisor says that data are safe when they are not: turn its write "
                    + "cache off unless a battery protects it, and virtual disks to write-through."
            );
        }
        return times.P99 > Slow
            ? Finding.Warning(
                Check,
                found,
                "A durable publish waits for a sync: choose a faster disk, or one that others do not use. Or ack at "
                    + "written where a power cut may lose the last messages."
            )
            : Finding.Ok(Check, found);
    }

    private IEnumerable<Finding> DirectoryItself()
    {
        const string Check = "data directory";
        if (File.Exists(Full))
        {
            yield return Finding.Failed(Check, $"'{Full}' is a file", "Choose a directory with --data.");
            yield break;
        }
        if (_existing != Full)
        {
            yield return Finding.Ok(Check, $"'{Full}' will be made at the first start");
            yield break;
        }
        yield return InUse(Check);
        if (CatalogConfirmation.IsPending(Full))
        {
            yield return Finding.Warning(
                "catalog",
                "it was repaired and has lost changes: only admin may log in",
                $"Read '{Path.Combine(Full, CatalogConfirmation.FileName)}', put users, rights, tokens and topics "
                    + $"right, then lightq server confirm-catalog."
            );
        }

        foreach (string records in IsInUse ? [] : new[] { "catalog", "groups" })
        {
            if (JournalInspector.FindRecordDamage(Path.Combine(Full, records)) is { } damage)
            {
                yield return Finding.Failed(
                    records,
                    damage,
                    $"Put '{Path.Combine(Full, records)}' back, or see what 'lightq journal repair {Full}' can mend: "
                        + "no broker starts until then."
                );
            }
        }

        if (FilePermissions.IsWrittenByOthers(Full))
        {
            yield return Finding.Warning(
                "permissions",
                $"others may write into '{Full}' ({FilePermissions.TextOf(Full)})",
                $"chmod 700 '{Full}'"
            );
        }

        string password = Path.Combine(Full, AdminPassword.FileName);
        if (!File.Exists(password))
            yield break;
        yield return Password(password);
    }

    private static Finding Password(string path)
    {
        const string Check = "admin password";
        if (FilePermissions.IsReadByOthers(path))
        {
            return Finding.Failed(
                Check,
                $"others may read '{path}' ({FilePermissions.TextOf(path)})",
                $"chmod 600 '{path}', and delete it to have a new one made at the next start."
            );
        }

        try
        {
            string password = File.ReadAllText(path).Trim();
            if (AdminPassword.FindMistake(password) is { } mistake)
            {
                return Finding.Failed(
                    Check,
                    $"'{path}' {mistake}",
                    $"Write a password into it, or rm '{path}' to have a good one made at the next start."
                );
            }
            return password.Length switch
            {
                < AdminPassword.ShortPassword => Finding.Warning(
                    Check,
                    $"that in '{path}' has fewer than {AdminPassword.ShortPassword} characters",
                    $"rm '{path}': the next start makes a good one."
                ),
                _ => Finding.Ok(Check, "for its owner alone"),
            };
        }
        catch (UnauthorizedAccessException)
        {
            return Finding.Ok(Check, "for its owner alone, who is another user");
        }
    }

    private Finding InUse(string check)
    {
        try
        {
            BackupRestore.ThrowIfUnfinished(Full);
        }
        catch (DataDirectoryException e)
        {
            return Finding.Failed(check, e.Message, "Delete what is in it and restore again.");
        }
        try
        {
            using DataDirectoryLock? held = DataDirectoryLock.AcquireExisting(Full);
            return Finding.Ok(
                check,
                held is null ? $"'{Full}', no broker has worked in it" : $"'{Full}', no broker works in it now"
            );
        }
        catch (DataDirectoryException)
        {
            IsInUse = true;
            return Finding.Ok(check, $"'{Full}', a broker works in it");
        }
        catch (UnauthorizedAccessException e)
        {
            return Finding.Failed(
                check,
                OneLine(e.Message),
                "Run the broker, and this, as the user whom the directory belongs to."
            );
        }
    }

    private Finding Sync(bool inMemory)
    {
        try
        {
            return JudgeSync(SyncProbe.Measure(_existing, Syncs, SyncLimit), inMemory);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return Finding.Failed(
                "sync",
                OneLine(e.Message),
                "The broker must be able to write there: see to the directory's owner, the mount and the space, or "
                    + "choose another with --data."
            );
        }
    }

    private static string NearestExisting(string path)
    {
        string at = path;
        while (!Directory.Exists(at) && Path.GetDirectoryName(at) is { } parent)
            at = parent;
        return at;
    }

    /// <summary>A size in B, K, M, G or T, which are powers of 1024.</summary>
    private static string Short(double bytes)
    {
        const string Units = "BKMGT";
        int unit = 0;
        for (; bytes >= 1024 && unit < Units.Length - 1; unit++)
            bytes /= 1024;
        return string.Create(CultureInfo.InvariantCulture, $"{bytes:0.#}{Units[unit]}");
    }

    private static string OneLine(string text) => text.ReplaceLineEndings(" ").Trim();
}
