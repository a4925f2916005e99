using LightQ.Storage;
using LightQ.Storage.Backups;
using Xunit;

namespace LightQ.Tests.Storage.Backups;

public sealed class JournalSnapshotTests
{
    private const int BodyBytes = 2000;

    [Fact]
    public async Task A_restored_journal_holds_what_was_written_at_the_moment_and_goes_on_in_a_later_epoch()
    {
        await using var host = new JournalHost();
        using var folder = new BackupFolder();
        host.Open();
        host.AppendDurable(0, 30, BodyBytes);
        JournalSnapshot snapshot = host.Journal.Capture();
        folder.OnFile = _ => host.Append(1000, BodyBytes); // The journal goes on while it is copied.
        Assert.True(await folder.TryCopyAsync(snapshot));
        await folder.CompleteAsync();

        folder.Restore();
        DateTime segmentsBefore = NewestSegment(folder);
        await using Journal restored = Journal.Open(
            host.Options with
            {
                Directory = folder.RestoredJournal,
            },
            host.Environment
        );
        Assert.Equal(segmentsBefore, NewestSegment(folder)); // Nothing was scanned, cut or repaired.
        Assert.Equal((0, 30), (restored.StartOffset, restored.EndOffset));
        Assert.Equal(host.Journal.LeaderEpoch + BackupRestore.EpochStep, restored.LeaderEpoch);
        // Who saw more of the old epoch learns that it is gone.
        Assert.Equal(30, restored.EndOfEpoch(host.Journal.LeaderEpoch));
        Assert.Equal(Enumerable.Range(0, 30), host.Numbers(restored, 0));
        Assert.Equal(AppendResult.Appended, restored.TryAppend(TestBatch.Make(77, BodyBytes), out long offset, out _));
        restored.Signal();
        host.Wait(() => restored.DurableOffset == 31);
        Assert.Equal(30, offset);
        Assert.Equal([.. Enumerable.Range(0, 30), 77], host.Numbers(restored, 0));
    }

    [Fact]
    public async Task An_empty_journal_is_restored_empty()
    {
        await using var host = new JournalHost();
        using var folder = new BackupFolder();
        host.Open();
        Assert.True(await folder.TryCopyAsync(host.Journal.Capture()));
        await folder.CompleteAsync();
        folder.Restore();
        await using Journal restored = Journal.Open(
            host.Options with
            {
                Directory = folder.RestoredJournal,
            },
            host.Environment
        );
        Assert.Equal((0, 0), (restored.StartOffset, restored.EndOffset));
    }

    [Fact]
    public async Task What_retention_takes_while_the_rest_is_copied_is_missing_at_the_start_only()
    {
        await using var host = new JournalHost();
        using var folder = new BackupFolder();
        host.Open();
        host.AppendDurable(0, 60, BodyBytes);
        JournalSnapshot snapshot = host.Journal.Capture();
        int files = 0;
        folder.OnFile = path =>
        {
            if (path.EndsWith(".seg", StringComparison.Ordinal) && ++files == 2)
                host.Journal.TruncateBefore(45);
        };
        Assert.True(await folder.TryCopyAsync(snapshot));
        await folder.CompleteAsync();

        folder.Restore();
        await using Journal restored = Journal.Open(
            host.Options with
            {
                Directory = folder.RestoredJournal,
            },
            host.Environment
        );
        Assert.Equal(60, restored.EndOffset);
        Assert.InRange(restored.StartOffset, 1, 59);
        Assert.Equal(
            Enumerable.Range(0, 60).Skip((int)restored.StartOffset),
            host.Numbers(restored, restored.StartOffset)
        );
    }

    [Fact]
    public async Task When_all_of_it_has_expired_before_it_was_copied_a_later_moment_is_taken()
    {
        await using var host = new JournalHost();
        using var folder = new BackupFolder();
        host.Open();
        host.AppendDurable(0, 10, BodyBytes);
        JournalSnapshot snapshot = host.Journal.Capture();
        host.AppendDurable(10, 60, BodyBytes);
        host.Journal.TruncateBefore(65);
        Assert.True(await folder.TryCopyAsync(snapshot));
        await folder.CompleteAsync();
        Assert.Equal(70, snapshot.EndOffset);

        folder.Restore();
        await using Journal restored = Journal.Open(
            host.Options with
            {
                Directory = folder.RestoredJournal,
            },
            host.Environment
        );
        Assert.Equal((65, 70), (restored.StartOffset, restored.EndOffset));
        Assert.Equal(Enumerable.Range(65, 5), host.Numbers(restored, 65));
    }

    [Fact]
    public async Task A_journal_that_is_deleted_meanwhile_cannot_be_copied_and_what_was_is_forgotten()
    {
        await using var host = new JournalHost();
        using var folder = new BackupFolder();
        host.Open();
        host.AppendDurable(0, 60, BodyBytes);
        JournalSnapshot before = host.Journal.Capture(),
            during = host.Journal.Capture();
        Journal journal = host.Journal;
        folder.OnFile = _ => journal.DeleteAsync().Wait();
        Assert.True(await folder.TryCopyAsync(during)); // The newest was open when it went: it is whole, and useless.
        Assert.False(await folder.TryCopyAsync(before));
        BackupManifest manifest = await folder.CompleteAsync(
            new BackupTopic("another", Guid.NewGuid().ToString("N"), 1, Durable: false)
        );
        Assert.DoesNotContain(manifest.Files, f => f.Path.StartsWith("topics/", StringComparison.Ordinal));
        Assert.Empty(Directory.GetDirectories(Path.Combine(folder.Folder, "topics")));
        folder.Verify();
    }

    private static DateTime NewestSegment(BackupFolder folder) =>
        Directory.GetFiles(folder.RestoredJournal, "*.seg").Max(File.GetLastWriteTimeUtc);
}
