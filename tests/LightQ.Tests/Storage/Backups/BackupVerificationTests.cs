using LightQ.Storage;
using LightQ.Storage.Backups;
using LightQ.Storage.Files;
using Xunit;

namespace LightQ.Tests.Storage.Backups;

/// <summary>Whatever is wrong with a backup is found, named, and not restored.</summary>
public sealed class BackupVerificationTests
{
    private const string Journal = "topics/" + BackupFolder.TopicId + "/0/";

    [Fact]
    public async Task A_changed_byte_anywhere_a_missing_and_a_shortened_file_are_each_named()
    {
        using BackupFolder folder = await MakeAsync();
        BackupManifest manifest = folder.Verify();
        Assert.Contains(manifest.Files, f => f.Path.EndsWith(".seg", StringComparison.Ordinal));
        foreach (BackupFile file in manifest.Files)
        {
            string path = Path.Combine(folder.Folder, file.Path);
            byte[] good = File.ReadAllBytes(path);
            byte[] bad = (byte[])good.Clone();
            bad[Random.Shared.Next(bad.Length)] ^= 1;
            File.WriteAllBytes(path, bad);
            AssertRefused(folder, $"'{file.Path}'", "SHA-256");
            File.WriteAllBytes(path, good[..^1]);
            AssertRefused(folder, $"'{file.Path}' has {good.Length - 1} bytes, not {good.Length}");
            File.Delete(path);
            AssertRefused(folder, $"'{file.Path}' is missing");
            File.WriteAllBytes(path, good);
        }
        folder.Restore();
    }

    [Fact]
    public async Task Without_a_manifest_it_is_incomplete_and_a_damaged_or_later_manifest_is_refused()
    {
        using BackupFolder folder = await MakeAsync();
        string path = Path.Combine(folder.Folder, BackupManifest.FileName);
        string manifest = File.ReadAllText(path);
        File.WriteAllText(path, manifest[..(manifest.Length / 2)]);
        AssertRefused(folder, "backup.json' is not a valid manifest: it is wrong or incomplete at line ");
        File.WriteAllText(path, manifest.Replace("\"format\": 1", "\"format\": 2", StringComparison.Ordinal));
        AssertRefused(folder, "has format 2; this program knows format 1");
        File.WriteAllText(path, manifest.Replace("\"catalog/", "\"../catalog/", StringComparison.Ordinal));
        AssertRefused(folder, "'../catalog/");
        File.WriteAllText(
            path,
            manifest.Replace("\"partitions\": 1", "\"partitions\": 2000000000", StringComparison.Ordinal)
        );
        AssertRefused(folder, "2000000000 partitions", "1 to 1024");
        File.WriteAllText(
            path,
            manifest.Replace($"\"id\": \"{BackupFolder.TopicId}\"", "\"id\": \"../../etc\"", StringComparison.Ordinal)
        );
        AssertRefused(folder, "the id '../../etc'");
        File.WriteAllText(path, manifest.Replace("\"files\": [", "\"files\": [null,", StringComparison.Ordinal));
        AssertRefused(folder, "a file that is null");
        File.Delete(path);
        AssertRefused(folder, "holds no complete backup");
    }

    [Theory]
    [InlineData("", 1, 1)]
    [InlineData("garbage", 1, 1)]
    [InlineData("{\n  \"format\": \"one\"", 2, 18)]
    [InlineData("{\n  \"format\": 1\n}", 3, 2)]
    [InlineData("{\n  \"format\": 1,\n  \"files\": null\n}", 3, 16)]
    public async Task A_manifest_that_is_none_is_refused_with_the_place_and_not_in_terms_of_the_program(
        string text,
        int line,
        int position
    )
    {
        using BackupFolder folder = await MakeAsync();
        string path = Path.Combine(folder.Folder, BackupManifest.FileName);
        File.WriteAllText(path, text);
        AssertRefused(
            folder,
            $"'{path}' is not a valid manifest: it is wrong or incomplete at line {line}, byte {position}."
        );
        File.WriteAllText(path, "null");
        AssertRefused(folder, $"'{path}' is not a valid manifest: it is null.");
    }

    [Fact]
    public async Task A_manifest_that_was_changed_is_refused_though_it_could_be_right()
    {
        using BackupFolder folder = await MakeAsync();
        string path = Path.Combine(folder.Folder, BackupManifest.FileName);
        string manifest = File.ReadAllText(path);
        string[] lines = manifest.Split('\n');
        foreach (
            (string from, string to) in new[]
            {
                ("\"orders\"", "\"bills\""),
                ("\"version\": \"1\"", "\"version\": \"2\""),
                ("1970-", "1971-"),
                ("\"damaged\": []", "\"damaged\": [\"catalog\"]"),
            }
        )
        {
            string changed = manifest.Replace(from, to, StringComparison.Ordinal);
            Assert.NotEqual(manifest, changed);
            File.WriteAllText(path, changed);
            AssertRefused(folder, "backup.json' is damaged: it is not as it was written (SHA-256)");
        }
        File.WriteAllText(
            path,
            string.Join('\n', lines.Where(l => !l.Contains("manifest_sha256", StringComparison.Ordinal)))
        );
        AssertRefused(folder, "it is not as it was written (SHA-256)");
        File.WriteAllText(path, manifest);
        folder.Verify();
    }

    [Fact]
    public async Task What_is_listed_twice_is_refused()
    {
        using BackupFolder folder = await MakeAsync();
        BackupManifest manifest = folder.Verify();
        folder.Writer.Complete(
            manifest with
            {
                Topics = [BackupFolder.Topic, BackupFolder.Topic with { Name = "again" }],
            }
        );
        AssertRefused(folder, "topic 'again'", "another with that name or id");
        folder.Writer.Complete(
            manifest with
            {
                Topics = [BackupFolder.Topic, BackupFolder.Topic with { Id = new string('a', 32), Durable = false }],
            }
        );
        AssertRefused(folder, "topic 'orders'", "another with that name or id");
        folder.Writer.Complete(manifest with { Files = [.. manifest.Files, manifest.Files[0]] });
        AssertRefused(folder, $"'{manifest.Files[0].Path}' twice");
    }

    [Theory]
    [InlineData(Journal)]
    [InlineData("catalog/")]
    [InlineData("groups/")]
    public async Task Files_that_the_manifest_does_not_list_are_missed_whether_they_are_there_or_not(string unlisted)
    {
        using BackupFolder folder = await MakeAsync();
        BackupManifest manifest = folder.Verify();
        manifest = manifest with
        {
            Files = [.. manifest.Files.Where(f => !f.Path.StartsWith(unlisted, StringComparison.Ordinal))],
        };
        folder.Writer.Complete(manifest);
        AssertRefused(folder, $"'{unlisted}", "its manifest does not list it");
        Directory.Delete(Path.Combine(folder.Folder, unlisted), recursive: true);
        AssertRefused(folder, "its files are missing");
    }

    [Fact]
    public async Task Damage_that_was_copied_with_its_hash_is_found_by_the_checksums_of_batches()
    {
        using BackupFolder folder = await MakeAsync(damage: true);
        await folder.CompleteAsync();
        AssertRefused(folder, "topic orders: " + Journal, "offsets");
    }

    [Fact]
    public async Task A_lost_partition_is_missed_though_no_file_of_it_is_listed()
    {
        using BackupFolder folder = await MakeAsync(complete: false);
        await folder.CompleteAsync(BackupFolder.Topic with { Partitions = 2 });
        AssertRefused(folder, "topic orders/1: its files are missing");
    }

    [Theory]
    [InlineData("../escape")]
    [InlineData("/etc/passwd")]
    [InlineData("admin-password")]
    [InlineData("topics/../catalog/00000000000000000001.seg")]
    [InlineData("topics/" + BackupFolder.TopicId + "/0/../../x")]
    [InlineData("catalog/00000000000000000001.seg\n")]
    [InlineData("")]
    public async Task A_broker_cannot_have_files_written_elsewhere(string path)
    {
        using var folder = new BackupFolder();
        BackupException refused = await Assert.ThrowsAsync<BackupException>(async () =>
            await folder.BeginFileAsync(path, 1, CancellationToken.None)
        );
        Assert.Contains("no file of a backup", refused.Message, StringComparison.Ordinal);
        Assert.Empty(Directory.GetFileSystemEntries(folder.Folder));
    }

    [Fact]
    public async Task More_or_less_bytes_than_announced_are_refused()
    {
        using var folder = new BackupFolder();
        await folder.BeginFileAsync("broker-id", 4, CancellationToken.None);
        await folder.WriteAsync(new byte[3], CancellationToken.None);
        Assert.Throws<BackupException>(folder.Writer.Finish);
        await Assert.ThrowsAsync<BackupException>(async () =>
            await folder.WriteAsync(new byte[2], CancellationToken.None)
        );
    }

    [Fact]
    public async Task Only_an_empty_directory_is_restored_into_and_no_broker_starts_on_half_of_one()
    {
        using BackupFolder folder = await MakeAsync();
        Directory.CreateDirectory(Path.Combine(folder.Data, "lost+found")); // As a new file system has it.
        string mine = Path.Combine(folder.Data, "mine");
        File.WriteAllText(mine, "");
        Assert.Contains(
            "is not empty",
            Assert.Throws<BackupException>(() => folder.Restore()).Message,
            StringComparison.Ordinal
        );
        Assert.True(File.Exists(mine));
        File.Delete(mine);

        using var interrupted = new CancellationTokenSource();
        int files = 0;
        void CancelInTheMiddle(string what)
        {
            if (
                what.Contains('/', StringComparison.Ordinal)
                && File.Exists(Path.Combine(folder.Data, BackupRestore.UnfinishedName))
                && ++files == 2
            )
            {
                interrupted.Cancel();
            }
        }
        Assert.ThrowsAny<OperationCanceledException>(() =>
            BackupRestore.Run(folder.Folder, folder.Data, CancelInTheMiddle, interrupted.Token)
        );
        Assert.Contains(
            "not restored to its end",
            Assert.Throws<DataDirectoryException>(() => BackupRestore.ThrowIfUnfinished(folder.Data)).Message,
            StringComparison.Ordinal
        );
        Assert.Contains(
            "not restored to its end",
            Assert.Throws<BackupException>(() => folder.Restore()).Message,
            StringComparison.Ordinal
        );
        Directory.Delete(folder.Data, recursive: true);

        folder.Restore();
        BackupRestore.ThrowIfUnfinished(folder.Data);
    }

    [Fact]
    public async Task Only_the_owner_can_read_a_backup_and_what_is_restored()
    {
        if (OperatingSystem.IsWindows())
            return; // It has no such permissions.
        using BackupFolder folder = await MakeAsync();
        folder.Restore();
        foreach (string root in new[] { folder.Folder, folder.Data })
        {
            Assert.All(
                Directory.GetDirectories(root, "*", SearchOption.AllDirectories).Append(root),
                d => Assert.Equal("rwx------", TextOf(d))
            );
            Assert.All(
                Directory
                    .GetFiles(root, "*", SearchOption.AllDirectories)
                    .Where(f => Path.GetFileName(f) is not (DataDirectoryLock.FileName or BackupManifest.FileName)),
                f => Assert.Equal("rw-------", TextOf(f))
            );
        }
    }

    private static string TextOf(string path)
    {
        int mode = OperatingSystem.IsWindows() ? 0 : (int)File.GetUnixFileMode(path);
        return string.Concat(Enumerable.Range(0, 9).Select(i => (mode & (1 << (8 - i))) == 0 ? '-' : "rwx"[i % 3]));
    }

    private static void AssertRefused(BackupFolder folder, params string[] says)
    {
        string message = Assert.Throws<BackupException>(() => folder.Verify()).Message;
        Assert.All(says, text => Assert.Contains(text, message, StringComparison.Ordinal));
        Assert.Equal(message, Assert.Throws<BackupException>(() => folder.Restore()).Message);
        Assert.False(Directory.Exists(folder.Data));
    }

    private static async Task<BackupFolder> MakeAsync(bool damage = false, bool complete = true)
    {
        await using var host = new JournalHost();
        var folder = new BackupFolder();
        host.Open();
        host.AppendDurable(0, 30, bodyBytes: 2000);
        if (damage)
        {
            string segment = Directory.GetFiles(host.Options.Directory, "*.seg").Order().First();
            using var file = new FileStream(segment, FileMode.Open, FileAccess.Write, FileShare.ReadWrite);
            file.Position = 4096 + 1000;
            file.WriteByte(0xA5);
        }
        Assert.True(await folder.TryCopyAsync(host.Journal.Capture()));
        if (complete && !damage)
            await folder.CompleteAsync();
        return folder;
    }
}
