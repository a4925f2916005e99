using LightQ.Protocol.Batches;
using LightQ.Storage;
using LightQ.Storage.Files;
using Xunit;

namespace LightQ.Tests.Storage;

public sealed class JournalRecoveryTests
{
    [Fact]
    public async Task A_clean_stop_keeps_everything_and_the_epoch()
    {
        await using var host = new JournalHost();
        host.Open();
        for (int i = 0; i < 200; i++)
            host.Append(i);
        await host.CloseAsync();
        Journal journal = host.Open();
        Assert.Equal((1u, 200, 200), (journal.LeaderEpoch, journal.EndOffset, journal.DurableOffset));
        host.AppendDurable(200, 100);
        Assert.Equal(Enumerable.Range(0, 300), host.ReadAll());
    }

    [Fact]
    public async Task A_killed_journal_keeps_what_was_durable_and_raises_the_epoch()
    {
        await using var host = new JournalHost();
        host.Open();
        host.AppendDurable(0, 200);
        await host.KillAsync();
        Journal journal = host.Open();
        Assert.Equal((2u, 200), (journal.LeaderEpoch, journal.EndOffset));
        host.AppendDurable(200, 100);
        Assert.Equal(Enumerable.Range(0, 300), host.ReadAll());
        await host.KillAsync();
        Assert.Equal(3u, host.Open().LeaderEpoch);
        Assert.Equal(Enumerable.Range(0, 300), host.ReadAll());
    }

    [Fact]
    public async Task A_start_on_a_full_disk_reads_and_appends_when_the_epoch_is_on_the_disk()
    {
        await using var host = new JournalHost();
        host.Open();
        host.AppendDurable(0, 100);
        for (uint epoch = 2; epoch <= 3; epoch++)
        {
            await host.KillAsync();
            host.Files.Before = (operation, path) =>
            {
                if (operation == "write" && path.EndsWith("epochs.tmp", StringComparison.Ordinal))
                    throw StorageIOException.DiskFull(path);
            };
            Assert.Equal(epoch, host.Open().LeaderEpoch);
            host.RunHousekeeping();
            Assert.True(host.Journal.DiskFull);
            Assert.Equal(AppendResult.DiskFull, host.Journal.TryAppend(TestBatch.Make(100), out _, out _));
            Assert.Equal(Enumerable.Range(0, 100), host.ReadAll());
            Assert.Null(host.Journal.Failure);
        }
        host.Files.Before = (_, _) => { };
        host.RunHousekeeping();
        Assert.False(host.Journal.DiskFull);
        host.AppendDurable(100, 50);
        await host.CloseAsync();
        Journal journal = host.Open();
        Assert.Equal(3u, journal.LeaderEpoch);
        Assert.Equal((100, 100, 150), (journal.EndOfEpoch(1), journal.EndOfEpoch(2), journal.EndOfEpoch(3)));
        Assert.Equal(Enumerable.Range(0, 150), host.ReadAll());
    }

    [Fact]
    public async Task An_empty_journal_can_be_closed_and_killed()
    {
        await using var host = new JournalHost();
        Assert.Equal(1u, host.Open().LeaderEpoch);
        await host.CloseAsync();
        Assert.Equal(1u, host.Open().LeaderEpoch);
        await host.KillAsync();
        Assert.Equal(1u, host.Open().LeaderEpoch);
        host.AppendDurable(0, 1);
        Assert.Equal([0], host.ReadAll());
        await host.KillAsync();
        Assert.Equal(2u, host.Open().LeaderEpoch);
    }

    [Fact]
    public async Task A_journal_that_rested_when_it_was_killed_opens_as_after_a_clean_stop()
    {
        await using var host = new JournalHost();
        host.Open();
        host.AppendDurable(0, 100);
        host.Wait(() => host.Journal.IsIdle);
        for (int i = 0; i < 2; i++)
        {
            host.Clock.Advance(host.EnvironmentOptions.CheckpointInterval);
            host.RunHousekeeping();
        }
        await host.KillAsync();
        Assert.Equal(1u, host.Open().LeaderEpoch);
        Assert.Equal(Enumerable.Range(0, 100), host.ReadAll());
        host.AppendDurable(100, 1);
        await host.KillAsync();
        Assert.Equal(2u, host.Open().LeaderEpoch);
        Assert.Equal(Enumerable.Range(0, 101), host.ReadAll());
    }

    [Fact]
    public async Task A_tail_torn_at_any_byte_of_the_last_batch_is_cut_there()
    {
        await using var host = new JournalHost();
        host.Open();
        host.AppendDurable(0, 5);
        host.AppendDurable(5, 1);
        await host.KillAsync();
        int batch = TestBatch.Make(5).Length;
        string segment = host.PathOf(host.FileNames("*.seg")[0]);
        byte[] intact = await File.ReadAllBytesAsync(segment, TestContext.Current.CancellationToken);
        int end = 4096 + (6 * batch);
        for (int kept = 0; kept < batch; kept++)
        {
            byte[] torn = (byte[])intact.Clone();
            // A byte that is zero anyway does not count as lost.
            torn.AsSpan(end - batch + kept, batch - kept).Clear();
            bool isWhole = torn.AsSpan().SequenceEqual(intact);
            await File.WriteAllBytesAsync(segment, torn, TestContext.Current.CancellationToken);
            Journal journal = host.Open();
            Assert.Equal(isWhole ? 6 : 5, journal.EndOffset);
            Assert.Equal(Enumerable.Range(0, isWhole ? 6 : 5), host.ReadAll());
            await host.KillAsync();
        }
    }

    [Fact]
    public async Task Whole_batches_behind_a_torn_one_are_cut_with_it_when_nothing_shows_that_they_were_durable()
    {
        await using var host = new JournalHost();
        host.Open();
        host.AppendDurable(0, 2);
        // Three batches of one commit: each says that the log was durable up to 2.
        for (int i = 2; i < 5; i++)
            Assert.Equal(AppendResult.Appended, host.Journal.TryAppend(TestBatch.Make(i), out _, out _));
        host.Journal.Signal();
        host.WaitDurable();
        await host.KillAsync();
        Damage(host, batch: 2);
        Assert.Equal(2, host.Open().EndOffset);
        host.AppendDurable(20, 1);
        Assert.Equal([0, 1, 20], host.ReadAll());
        await host.KillAsync();
        host.Open();
        Assert.Equal([0, 1, 20], host.ReadAll());
    }

    [Fact]
    public async Task A_broken_header_of_what_had_been_durable_refuses_to_open_and_names_the_range()
    {
        await using var host = new JournalHost();
        host.Open();
        for (int i = 0; i < 5; i++)
            host.AppendDurable(i, 1);
        await host.KillAsync();
        Damage(host, batch: 2, at: 40);
        byte[] before = await File.ReadAllBytesAsync(
            host.PathOf(host.FileNames("*.seg")[0]),
            TestContext.Current.CancellationToken
        );
        JournalCorruptException error = Assert.Throws<JournalCorruptException>(() => host.Open());
        // The last batch says that those in front of it had been synced.
        Assert.Equal((2, 3), (error.FirstOffset, error.LastOffset));
        Assert.Equal(
            before,
            await File.ReadAllBytesAsync(host.PathOf(error.File), TestContext.Current.CancellationToken)
        );
        Assert.Equal(
            before,
            await File.ReadAllBytesAsync(
                host.PathOf(Path.Combine("quarantine", error.File)),
                TestContext.Current.CancellationToken
            )
        );
    }

    [Fact]
    public async Task A_broken_header_in_a_sealed_segment_is_found_when_there_is_no_checkpoint_to_start_from()
    {
        await using var host = new JournalHost();
        host.Open();
        host.AppendDurable(0, 300);
        await host.KillAsync();
        Damage(host, batch: 3, at: 40);
        JournalCorruptException error = Assert.Throws<JournalCorruptException>(() => host.Open());
        Assert.Equal(3, error.FirstOffset);
    }

    /// <summary>
    /// In the last segment and in a sealed one: the batch is lost, those around it and behind it are not.
    /// </summary>
    [Theory]
    [InlineData(5)]
    [InlineData(300)]
    public async Task A_wrong_payload_of_what_had_been_durable_is_a_gap_that_is_told_at_once(int batches)
    {
        await using var host = new JournalHost();
        host.Open();
        for (int i = 0; i < batches; i++)
        {
            host.Append(i, producerId: 5);
            host.WaitDurable();
        }
        await host.KillAsync();
        Damage(host, batch: 2);
        Damage(host, batch: 3);
        var visitor = new Visitor();
        Assert.Equal(batches, host.Open(visitor).EndOffset);
        JournalDamage damage = Assert.Single(host.Journal.Damage);
        Assert.Equal((2, 3, 2 * TestBatch.Make(0).Length), (damage.FirstOffset, damage.LastOffset, damage.Bytes));
        Assert.Equal([damage], host.Damage);
        // Of no producer that may believe them stored.
        Assert.Equal(Enumerable.Range(0, batches).Except([2, 3]), visitor.Numbers);

        using (JournalReader reader = host.Reader())
        {
            var numbers = new List<int>();
            var gaps = new List<(long, long)>();
            for (ReadResult result = ReadResult.Run; result != ReadResult.AtEnd; )
            {
                result = host.Next(reader, 4096, out LogRun run);
                if (result == ReadResult.Gap)
                    gaps.Add((reader.Gap.FirstOffset, reader.Gap.LastOffset));
                foreach (BatchView batch in new BatchRun(result == ReadResult.Run ? run.Span : default))
                    numbers.Add(TestBatch.NumberOf(batch));
                if (result == ReadResult.Run)
                    reader.Advance();
            }
            Assert.Equal(Enumerable.Range(0, batches).Except([2, 3]), numbers);
            Assert.Equal([(2, 3)], gaps);
        }
        host.AppendDurable(batches, 10);
        await host.KillAsync();
        Assert.Equal(batches + 10, host.Open().EndOffset);
    }

    /// <summary>
    /// Of the last commit nothing shows that it had been synced, so the log ends at its first batch that is not whole.
    /// </summary>
    [Fact]
    public async Task A_wrong_payload_of_the_last_commit_ends_the_log()
    {
        await using var host = new JournalHost();
        host.Open();
        for (int i = 0; i < 5; i++)
            host.AppendDurable(i, 1);
        await host.KillAsync();
        Damage(host, batch: 4);
        Assert.Equal(4, host.Open().EndOffset);
        Assert.Empty(host.Journal.Damage);
        host.AppendDurable(10, 1);
        Assert.Equal([0, 1, 2, 3, 10], host.ReadAll());
    }

    [Fact]
    public async Task Files_that_are_all_overwritten_are_not_taken_for_an_empty_log()
    {
        await using var host = new JournalHost();
        host.Open();
        host.AppendDurable(0, 5);
        await host.KillAsync();
        foreach (string name in host.FileNames("*"))
        {
            byte[] garbage = await File.ReadAllBytesAsync(host.PathOf(name), TestContext.Current.CancellationToken);
            garbage.AsSpan().Fill(0xFF);
            await File.WriteAllBytesAsync(host.PathOf(name), garbage, TestContext.Current.CancellationToken);
        }
        Assert.Throws<JournalCorruptException>(() => host.Open());
    }

    [Fact]
    public async Task A_missing_segment_refuses_to_open()
    {
        await using var host = new JournalHost();
        host.Open();
        host.AppendDurable(0, 500);
        await host.CloseAsync();
        string[] segments = host.FileNames("*.seg");
        File.Delete(host.PathOf(segments[1]));
        Assert.Throws<JournalCorruptException>(() => host.Open());
    }

    [Fact]
    public async Task A_file_of_another_topic_is_refused()
    {
        await using var host = new JournalHost();
        host.Open();
        host.AppendDurable(0, 1);
        await host.CloseAsync();
        host.Options = host.Options with { TopicId = Guid.NewGuid() };
        Assert.Throws<JournalFormatException>(() => host.Open());
    }

    [Fact]
    public async Task Zeros_where_the_last_commit_should_be_are_a_torn_tail()
    {
        await using var host = new JournalHost();
        host.Open();
        host.AppendDurable(0, 4);
        await host.KillAsync();
        string segment = host.PathOf(host.FileNames("*.seg")[0]);
        byte[] bytes = await File.ReadAllBytesAsync(segment, TestContext.Current.CancellationToken);
        bytes.AsSpan(4096).Clear();
        await File.WriteAllBytesAsync(segment, bytes, TestContext.Current.CancellationToken);
        Assert.Equal(0, host.Open().EndOffset);
        host.AppendDurable(9, 1);
        Assert.Equal([9], host.ReadAll());
    }

    [Fact]
    public async Task A_missing_index_is_made_anew()
    {
        await using var host = new JournalHost(options =>
            options with
            {
                SegmentBytes = 512 * 1024,
                MaxBatchBytes = 8 * 1024,
            }
        );
        host.Open();
        host.AppendDurable(0, 200, bodyBytes: 4000);
        await host.CloseAsync();
        Assert.NotEmpty(host.FileNames("*.idx"));
        foreach (string name in host.FileNames("*.idx"))
            File.Delete(host.PathOf(name));
        host.Open();
        Assert.Equal(Enumerable.Range(150, 50), host.ReadAll(offset: 150, maxBytes: 64 * 1024));
        Assert.Equal(Enumerable.Range(3, 197), host.ReadAll(offset: 3, maxBytes: 64 * 1024));
    }

    [Fact]
    public async Task The_newest_snapshot_of_producers_and_every_later_header_reach_the_visitor()
    {
        int boundary = 0;
        await using var host = new JournalHost(options =>
            options with
            {
                ProducerSnapshot = () => BitConverter.GetBytes(Volatile.Read(ref boundary)),
            }
        );
        host.Open();
        for (int i = 0; i < 200; i++)
        {
            Volatile.Write(ref boundary, i);
            host.Append(i, producerId: 5);
        }
        host.WaitDurable();
        // Written in the background: the newest may be under way.
        host.Wait(() => host.FileNames("*.producers").Length > 1);
        await host.KillAsync();
        var visitor = new Visitor();
        host.Open(visitor);
        Assert.True(visitor.Snapshot > 0);
        Assert.Equal(Enumerable.Range(visitor.Snapshot, 200 - visitor.Snapshot), visitor.Numbers);

        Volatile.Write(ref boundary, 200);
        await host.CloseAsync();
        visitor = new Visitor();
        host.Open(visitor);
        Assert.Equal(200, visitor.Snapshot);
        Assert.Empty(visitor.Numbers);

        await host.CloseAsync();
        foreach (string name in host.FileNames("*.producers"))
            await File.WriteAllTextAsync(host.PathOf(name), "damaged", TestContext.Current.CancellationToken);
        visitor = new Visitor();
        host.Open(visitor);
        Assert.Equal(-1, visitor.Snapshot);
        Assert.Equal(Enumerable.Range(0, 200), visitor.Numbers);
    }

    private static void Damage(JournalHost host, int batch, int at = 120)
    {
        int length = TestBatch.Make(0).Length;
        using var file = new FileStream(host.PathOf(host.FileNames("*.seg")[0]), FileMode.Open);
        file.Position = 4096 + (batch * length) + at;
        int value = file.ReadByte();
        file.Position--;
        file.WriteByte((byte)(value ^ 0x10));
    }

    private sealed class Visitor : IRecoveredBatchVisitor
    {
        public int Snapshot { get; private set; } = -1;

        public List<int> Numbers { get; } = [];

        public void OnSnapshot(ReadOnlySpan<byte> snapshot) => Snapshot = BitConverter.ToInt32(snapshot);

        public void OnBatch(in BatchView header)
        {
            Assert.Equal(5ul, header.ProducerId);
            Numbers.Add((int)header.BaseSequence);
        }
    }
}
