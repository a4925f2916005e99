using LightQ.Storage;
using LightQ.Storage.Files;
using Xunit;

namespace LightQ.Tests.Storage;

public sealed class JournalTests
{
    [Fact]
    public async Task Appended_batches_are_read_back_over_many_segments()
    {
        await using var host = new JournalHost();
        host.Open();
        host.AppendDurable(0, 500, records: 3);
        Assert.Equal(1500, host.Journal.DurableOffset);
        Assert.True(host.FileNames("*.seg").Length > 5);
        Assert.Equal(Enumerable.Range(0, 500), host.ReadAll());
    }

    [Fact]
    public async Task An_append_says_where_the_batch_is_and_durable_follows()
    {
        await using var host = new JournalHost();
        Journal journal = host.Open();
        byte[] batch = TestBatch.Make(1, records: 4);
        Assert.Equal(AppendResult.Appended, journal.TryAppend(batch, out long first, out _));
        Assert.Equal(AppendResult.Appended, journal.TryAppend(batch, out long second, out long position));
        Assert.Equal((0, 4, 2 * batch.Length), (first, second, position));
        Assert.Equal(0, journal.DurableOffset);
        journal.Signal();
        host.Wait(() => journal.DurablePosition == position);
        Assert.Equal(
            (8, 8, 8, 8),
            (journal.DurableOffset, journal.WrittenOffset, journal.ReadableOffset, journal.EndOffset)
        );
        Assert.Equal(position, journal.StoredBytes);
    }

    [Fact]
    public async Task A_full_ring_says_Full_and_progress_makes_room()
    {
        await using var host = new JournalHost();
        Journal journal = host.Open();
        byte[] batch = TestBatch.Make(1, bodyBytes: 8000);
        int appended = 0;
        while (journal.TryAppend(batch, out _, out _) == AppendResult.Appended)
            appended++;
        Assert.InRange(appended, 6, 8);
        journal.Signal();
        host.WaitDurable();
        Assert.Equal(AppendResult.Appended, journal.TryAppend(batch, out _, out _));
    }

    [Fact]
    public async Task What_only_appending_needs_is_made_at_the_first_append_and_given_back_at_rest()
    {
        await using var host = new JournalHost();
        Journal journal = host.Open();
        Assert.False(journal.IsActive);
        int appended = 0;
        for (int round = 0; round < 3; round++)
        {
            host.AppendDurable(appended, 300); // Over several segments each time.
            appended += 300;
            Assert.True(journal.IsActive);
            host.Wait(() => journal.IsIdle);
            for (int i = 0; i < 2; i++)
            {
                host.Clock.Advance(host.EnvironmentOptions.CheckpointInterval);
                host.RunHousekeeping();
            }
            Assert.False(journal.IsActive);
            Assert.Equal((appended, appended), (journal.EndOffset, journal.DurableOffset));
            Assert.Equal(journal.DurablePosition, journal.StoredBytes);
        }
        Assert.Equal(Enumerable.Range(0, appended), host.ReadAll());
        await host.CloseAsync();
        host.Open();
        Assert.Equal(Enumerable.Range(0, appended), host.ReadAll());
    }

    [Fact]
    public async Task Nothing_is_given_back_while_something_appended_is_not_on_the_disk()
    {
        await using var host = new JournalHost();
        Journal journal = host.Open();
        Assert.Equal(AppendResult.Appended, journal.TryAppend(TestBatch.Make(1), out _, out _));
        Assert.False(journal.TryReleaseMemory());
        Assert.True(journal.IsActive);
        host.WaitDurable(); // Without a signal of its own: trying has noticed that there is work.
        host.Wait(() => journal.TryReleaseMemory());
        Assert.Equal([1], host.ReadAll());
    }

    [Fact]
    public async Task A_reader_at_the_end_sees_only_durable_batches()
    {
        await using var host = new JournalHost();
        host.Open();
        host.AppendDurable(0, 1);
        using JournalReader reader = host.Reader(1);
        Assert.Equal(ReadResult.AtEnd, reader.TryRead(4096, out _));
        using var gate = new ManualResetEventSlim();
        host.Files.Before = (operation, path) =>
        {
            if (operation == "sync" && path.Contains(".seg", StringComparison.Ordinal))
                gate.Wait();
        };
        host.Append(1);
        try
        {
            host.Wait(() => host.Journal.WrittenOffset == 2);
            Assert.Equal(ReadResult.AtEnd, reader.TryRead(4096, out _));
        }
        finally
        {
            gate.Set();
        }
        host.WaitDurable();
        Assert.Equal([1], host.ReadOn(reader));
    }

    [Fact]
    public async Task A_sync_error_fails_the_journal_for_good_and_reads_go_on()
    {
        await using var host = new JournalHost();
        host.Open();
        host.AppendDurable(0, 3);
        bool failed = false;
        host.Files.Before = (operation, path) =>
        {
            if (operation != "sync" || failed)
                return;
            failed = true;
            throw new StorageIOException("fdatasync", path, 5);
        };
        host.Append(3);
        host.Wait(() => host.Journal.Failure is not null);
        Assert.Equal(3, host.Journal.DurableOffset);
        Assert.Equal(AppendResult.Failed, host.Journal.TryAppend(TestBatch.Make(4), out _, out _));
        host.Journal.Signal();
        Assert.Equal([0, 1, 2], host.ReadAll());
        await host.KillAsync();
        host.Open();
        host.AppendDurable(10, 1);
        List<int> all = host.ReadAll();
        Assert.Equal([0, 1, 2], all[..3]);
        Assert.Equal(10, all[^1]);
    }

    [Fact]
    public async Task A_full_disk_refuses_at_the_roll_and_clears_when_space_returns()
    {
        await using var host = new JournalHost();
        Journal journal = host.Open();
        host.AppendDurable(0, 50);
        host.Files.Free = 0;
        byte[] batch = TestBatch.Make(1);
        AppendResult result = AppendResult.Appended;
        host.Wait(() =>
        {
            while ((result = journal.TryAppend(batch, out _, out _)) == AppendResult.Appended)
                journal.Signal();
            return journal.DiskFull;
        });
        host.Wait(() =>
        {
            result = journal.TryAppend(batch, out _, out _);
            journal.Signal(); // What is accepted without a signal is written with the next one, and none follows here.
            return result != AppendResult.Appended;
        });
        Assert.Null(journal.Failure);
        Assert.Equal(0, host.ReadAll()[0]);
        host.Files.Free = null;
        host.Wait(() =>
        {
            // It looks again until all is written: the writer may find the disk full just behind a look.
            host.RunHousekeeping();
            return !journal.DiskFull && journal.DurableOffset == journal.EndOffset;
        });
        host.AppendDurable(7, 100);
        Assert.Null(journal.Failure);
    }

    [Fact]
    public async Task What_was_accepted_before_the_disk_was_known_to_be_full_is_written_into_the_reserve()
    {
        await using var host = new JournalHost();
        Journal journal = host.Open();
        host.AppendDurable(0, 1);
        host.Files.Free = host.Options.SegmentBytes;
        byte[] batch = TestBatch.Make(1, bodyBytes: 4000);
        for (int i = 0; i < 5; i++)
            // Into the next segment, before the writer looks.
            Assert.Equal(AppendResult.Appended, journal.TryAppend(batch, out _, out _));
        journal.Signal();
        host.WaitDurable();
        Assert.True(journal.DiskFull);
        AppendResult result;
        while ((result = journal.TryAppend(batch, out _, out _)) == AppendResult.Appended)
            journal.Signal();
        Assert.Equal(AppendResult.DiskFull, result);
        host.WaitDurable();
        Assert.Null(journal.Failure);
    }

    [Fact]
    public async Task Background_flushing_moves_written_at_once_and_durable_with_housekeeping()
    {
        await using var host = new JournalHost(options =>
            options with
            {
                Flush = LightQ.Client.Durability.Written,
                ReadLevel = LightQ.Client.Durability.Written,
            }
        );
        host.Open();
        host.Append(1);
        host.Wait(() => host.Journal.ReadableOffset == 1);
        Assert.Equal(0, host.Journal.DurableOffset);
        Assert.Equal([1], host.ReadAll());
        host.RunHousekeeping();
        host.WaitDurable();
    }

    [Fact]
    public async Task A_deleted_journal_leaves_nothing_behind_and_closes_its_readers()
    {
        await using var host = new JournalHost();
        Journal journal = host.Open();
        host.AppendDurable(0, 300);
        using JournalReader reader = host.Reader(250);
        Assert.Equal(ReadResult.Run, host.Next(reader, 4096, out LogRun run));
        await journal.DeleteAsync();
        Assert.False(Directory.Exists(host.Options.Directory));
        Assert.Equal(250, run.FirstOffset);
        Assert.True(new LightQ.Protocol.Batches.BatchView(run.Span).VerifyHeader());
        reader.Advance();
        Assert.Equal(ReadResult.Closed, reader.TryRead(4096, out _));
        Assert.Equal(AppendResult.Failed, journal.TryAppend(TestBatch.Make(1), out _, out _));
    }

    [Fact]
    public async Task Append_times_never_go_back()
    {
        await using var host = new JournalHost();
        host.Open();
        host.Append(1);
        host.Clock.Advance(TimeSpan.FromHours(-1));
        host.AppendDurable(2, 1);
        using JournalReader reader = host.Reader();
        Assert.Equal(ReadResult.Run, host.Next(reader, 4096, out LogRun run));
        long last = 0;
        foreach (LightQ.Protocol.Batches.BatchView batch in new LightQ.Protocol.Batches.BatchRun(run.Span))
        {
            Assert.True(batch.AppendTime >= last);
            last = batch.AppendTime;
        }
        reader.Advance();
    }
}
