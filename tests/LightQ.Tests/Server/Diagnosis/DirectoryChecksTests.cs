using LightQ.Server.Diagnosis;
using LightQ.Storage.Backups;
using LightQ.Storage.Files;
using LightQ.Storage.Inspection;
using Xunit;

namespace LightQ.Tests.Server.Diagnosis;

public sealed class DirectoryChecksTests : IDisposable
{
    private readonly string _root = Directory.CreateTempSubdirectory("lightq-doctor-").FullName;

    [Theory]
    [InlineData("ext4", DriveType.Fixed, CheckResult.Ok)]
    [InlineData("xfs", DriveType.Fixed, CheckResult.Ok)]
    [InlineData("tmpfs", DriveType.Ram, CheckResult.Warning)]
    [InlineData("nfs", DriveType.Network, CheckResult.Warning)]
    [InlineData("cifs", DriveType.Network, CheckResult.Warning)]
    [InlineData("9p", DriveType.Unknown, CheckResult.Warning)]
    [InlineData("overlayfs", DriveType.Unknown, CheckResult.Warning)]
    public void File_systems_that_forget_or_are_elsewhere_are_warnings(string format, DriveType type, object result) =>
        Assert.Equal((CheckResult)result, DirectoryChecks.FileSystem(format, type).Result);

    [Fact]
    public void Space_and_inodes_are_told_before_they_end()
    {
        Assert.Equal(
            [CheckResult.Ok, CheckResult.Warning, CheckResult.Failed],
            new[] { 100L << 30, 1L << 30, 1L << 20 }.Select(free => DirectoryChecks.Space(free, 200L << 30).Result)
        );
        Assert.Equal(
            [CheckResult.Ok, CheckResult.Warning, CheckResult.Failed],
            new[] { 1_000_000L, 50_000, 10 }.Select(free => DirectoryChecks.Inodes(free, 2_000_000).Result)
        );
    }

    [Fact]
    public void A_disk_that_is_faster_than_disks_are_lies_and_one_that_is_slow_is_named()
    {
        static SyncTimes Times(double median, double p99) =>
            new(200, TimeSpan.FromMilliseconds(median), TimeSpan.FromMilliseconds(p99));
        Assert.Equal(CheckResult.Ok, DirectoryChecks.JudgeSync(Times(0.1, 2), inMemory: false).Result);
        Finding lies = DirectoryChecks.JudgeSync(Times(0.005, 0.01), inMemory: false);
        Assert.Equal(CheckResult.Warning, lies.Result);
        Assert.Contains("faster than a disk can be", lies.Found, StringComparison.Ordinal);
        // That it is no disk is said elsewhere.
        Assert.Equal(CheckResult.Ok, DirectoryChecks.JudgeSync(Times(0.005, 0.01), inMemory: true).Result);
        Assert.Equal(CheckResult.Warning, DirectoryChecks.JudgeSync(Times(5, 80), inMemory: false).Result);
    }

    [Fact]
    public void Syncs_are_measured_and_leave_nothing_behind()
    {
        SyncTimes times = SyncProbe.Measure(_root, 20, TimeSpan.FromSeconds(5));
        Assert.InRange(times.Count, 1, 20);
        Assert.InRange(times.Median, TimeSpan.FromTicks(1), times.P99);
        Assert.Empty(Directory.GetFileSystemEntries(_root));
    }

    [Fact]
    public void A_directory_that_is_used_half_restored_or_a_file_is_told()
    {
        Assert.Contains(
            "will be made",
            Check("data directory", Path.Combine(_root, "new", "one")).Found,
            StringComparison.Ordinal
        );
        string data = Path.Combine(_root, "data");
        using (DataDirectoryLock.Acquire(data))
        {
            Assert.Contains("a broker works in it", Check("data directory", data).Found, StringComparison.Ordinal);
            var checks = new DirectoryChecks(data);
            Assert.NotEmpty(checks.Run().ToArray());
            Assert.True(checks.IsInUse);
        }
        Assert.Contains("no broker works in it now", Check("data directory", data).Found, StringComparison.Ordinal);
        File.WriteAllText(Path.Combine(data, BackupRestore.UnfinishedName), "");
        Assert.Equal(CheckResult.Failed, Check("data directory", data).Result);
        string file = Path.Combine(_root, "file");
        File.WriteAllText(file, "");
        Assert.Equal(CheckResult.Failed, Check("data directory", file).Result);
    }

    [Fact]
    public void A_password_that_others_may_read_fails_and_a_directory_that_they_may_write_is_a_warning()
    {
        if (OperatingSystem.IsWindows())
            return; // It has no such permissions.
        string password = Path.Combine(_root, "admin-password");
        File.WriteAllText(password, "secret words");
        File.SetUnixFileMode(password, (UnixFileMode)0b110_000_000);
        Assert.Equal(CheckResult.Ok, Check("admin password", _root).Result);
        Assert.DoesNotContain(new DirectoryChecks(_root).Run(), f => f.Check == "permissions");
        File.SetUnixFileMode(password, (UnixFileMode)0b110_100_000);
        Finding open = Check("admin password", _root);
        Assert.Equal(
            (CheckResult.Failed, $"chmod 600 '{password}', and delete it to have a new one made at the next start."),
            (open.Result, open.Fix)
        );
        Assert.DoesNotContain("secret words", open.Found, StringComparison.Ordinal);
        File.SetUnixFileMode(_root, (UnixFileMode)0b111_111_000);
        Assert.Equal(CheckResult.Warning, Check("permissions", _root).Result);
    }

    [Theory]
    [InlineData("", CheckResult.Failed)]
    [InlineData("seven..\n", CheckResult.Warning)]
    [InlineData("eight...\n", CheckResult.Ok)]
    [InlineData("half of it\0\0\0\0", CheckResult.Failed)]
    [InlineData("two lines\nof text\n", CheckResult.Failed)]
    public void A_password_that_is_missing_or_short_is_told(string password, object result)
    {
        string file = Path.Combine(_root, "admin-password");
        File.WriteAllText(file, password);
        if (!OperatingSystem.IsWindows())
            File.SetUnixFileMode(file, (UnixFileMode)0b110_000_000);
        Assert.Equal(result, Check("admin password", _root).Result);
    }

    public void Dispose() => Directory.Delete(_root, recursive: true);

    private static Finding Check(string check, string directory) =>
        new DirectoryChecks(directory).Run().Single(f => f.Check == check);
}
