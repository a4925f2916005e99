using LightQ.Client;
using LightQ.Protocol.Batches;
using LightQ.Storage;
using Xunit;

namespace LightQ.Tests.Storage;

public sealed class JournalReaderTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);

    [Fact]
    public async Task A_run_is_whole_batches_up_to_the_limit_or_one_longer_batch()
    {
        await using var host = new JournalHost();
        host.Open();
        host.AppendDurable(0, 10);
        int length = TestBatch.Make(0).Length;
        using JournalReader reader = host.Reader();
        Assert.Equal(ReadResult.Run, host.Next(reader, (3 * length) + 1, out LogRun run));
        Assert.Equal((3 * length, 0, 3), (run.Length, run.FirstOffset, run.NextOffset));
        reader.Release();
        Assert.Equal(ReadResult.Run, host.Next(reader, 1, out run));
        Assert.Equal((length, 0, 1), (run.Length, run.FirstOffset, run.NextOffset));
        Assert.Throws<InvalidOperationException>(() => reader.TryRead(1, out _));
        reader.Advance();
        Assert.Equal(1, reader.NextOffset);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(long.MaxValue)]
    public async Task Old_data_comes_through_the_reader_threads_and_the_tail_from_the_mapping(long tailBytes)
    {
        await using var host = new JournalHost(
            environment: new JournalEnvironmentOptions
            {
                Writers = 1,
                Readers = 1,
                ReadBufferBytes = 4096,
                ReadBudgetBytes = 16 * 1024,
                TailBytes = tailBytes,
            }
        );
        host.Open();
        host.AppendDurable(0, 400, records: 2);
        host.AppendDurable(400, 3, bodyBytes: 7000);
        Assert.Equal(Enumerable.Range(0, 403), host.ReadAll());
        Assert.Equal(Enumerable.Range(150, 253), host.ReadAll(offset: 301));
        await host.CloseAsync();
        host.Open();
        Assert.Equal(Enumerable.Range(0, 403), host.ReadAll(maxBytes: 100));
    }

    [Fact]
    public async Task Many_readers_share_a_small_budget_of_buffers()
    {
        await using var host = new JournalHost(
            environment: new JournalEnvironmentOptions
            {
                Writers = 1,
                Readers = 2,
                ReadBufferBytes = 4096,
                ReadBudgetBytes = 8 * 1024,
                TailBytes = 0,
            }
        );
        host.Open();
        host.AppendDurable(0, 300);
        await Task.WhenAll(
            Enumerable.Range(0, 6).Select(_ => Task.Run(() => Assert.Equal(Enumerable.Range(0, 300), host.ReadAll())))
        );
    }

    [Fact]
    public async Task An_overtaken_reader_gets_a_gap_and_goes_on_at_the_start()
    {
        await using var host = new JournalHost(options => options with { RetentionBytes = 20 * 1024 });
        Journal journal = host.Open();
        host.AppendDurable(0, 500);
        using JournalReader reader = host.Reader();
        Assert.Equal(ReadResult.Run, host.Next(reader, 1, out LogRun run));
        int segments = host.FileNames("*.seg").Length;
        host.RunHousekeeping();
        Assert.True(host.FileNames("*.seg").Length < segments);
        Assert.True(journal.StartOffset > 1);
        Assert.Equal(0, TestBatch.NumberOf(new BatchView(run.Span)));
        reader.Advance();
        ReadResult result;
        while ((result = host.Next(reader, 4096, out _)) == ReadResult.Run)
            reader.Advance(); // What had been read from the disk already, where nothing is mapped.
        Assert.Equal(ReadResult.Gap, result);
        Assert.InRange(reader.Gap.FirstOffset, 1, journal.StartOffset - 1);
        Assert.Equal((journal.StartOffset - 1, GapReason.Retention), (reader.Gap.LastOffset, reader.Gap.Reason));
        Assert.Equal(Enumerable.Range((int)journal.StartOffset, 500 - (int)journal.StartOffset), host.ReadOn(reader));
    }

    [Fact]
    public async Task What_retention_takes_between_the_asking_and_the_reading_is_a_gap()
    {
        await using var host = new JournalHost(
            options => options with { RetentionBytes = 20 * 1024 },
            new JournalEnvironmentOptions
            {
                Writers = 1,
                Readers = 1,
                TailBytes = 0,
            }
        );
        Journal journal = host.Open();
        host.AppendDurable(0, 500);
        using ManualResetEventSlim isReading = new(),
            goOn = new();
        host.Files.Before = (operation, _) =>
        {
            if (operation == "read" && !isReading.IsSet)
            {
                isReading.Set();
                Assert.True(goOn.Wait(Patience, TestContext.Current.CancellationToken));
            }
        };
        using JournalReader first = host.Reader(),
            second = host.Reader(1);
        Assert.Equal(ReadResult.Pending, first.TryRead(4096, out _)); // Keeps the only thread.
        Assert.True(isReading.Wait(Patience, TestContext.Current.CancellationToken));
        Assert.Equal(ReadResult.Pending, second.TryRead(4096, out _));
        host.RunHousekeeping();
        Assert.True(journal.StartOffset > 1);
        goOn.Set();

        Assert.Equal(ReadResult.Gap, host.Next(second, 4096, out _));
        Assert.Equal(new LogGap(1, journal.StartOffset - 1, GapReason.Retention), second.Gap);
        Assert.Equal(Enumerable.Range((int)journal.StartOffset, 500 - (int)journal.StartOffset), host.ReadOn(second));
    }

    [Fact]
    public async Task Expired_segments_are_used_again_and_their_old_batches_never_come_back()
    {
        await using var host = new JournalHost(options => options with { RetentionBytes = 20 * 1024 });
        host.Open();
        for (int round = 0; round < 10; round++)
        {
            host.AppendDurable(round * 100, 100);
            host.RunHousekeeping();
        }
        await host.KillAsync();
        Journal journal = host.Open();
        Assert.Equal(1000, journal.EndOffset);
        Assert.Equal(
            Enumerable.Range((int)journal.StartOffset, 1000 - (int)journal.StartOffset),
            host.ReadAll(journal.StartOffset)
        );
        Assert.Empty(host.FileNames("*.tmp"));
    }

    [Fact]
    public async Task Old_messages_go_by_age()
    {
        await using var host = new JournalHost(options => options with { RetentionAge = TimeSpan.FromHours(1) });
        Journal journal = host.Open();
        host.AppendDurable(0, 200);
        host.Clock.Advance(TimeSpan.FromMinutes(50));
        host.AppendDurable(200, 200);
        host.RunHousekeeping();
        Assert.Equal(0, journal.StartOffset);
        host.Clock.Advance(TimeSpan.FromMinutes(20));
        host.RunHousekeeping();
        Assert.InRange(journal.StartOffset, 100, 200);
        host.Clock.Advance(TimeSpan.FromHours(2));
        host.RunHousekeeping();
        Assert.Equal(400, journal.StartOffset);
        host.AppendDurable(400, 1);
        Assert.Equal([400], host.ReadAll(400));
    }

    [Fact]
    public async Task Truncation_moves_the_start_and_survives_a_restart()
    {
        await using var host = new JournalHost();
        Journal journal = host.Open();
        host.AppendDurable(0, 300);
        journal.TruncateBefore(250);
        Assert.Equal(250, journal.StartOffset);
        await host.KillAsync();
        journal = host.Open();
        Assert.Equal(250, journal.StartOffset);
        using JournalReader reader = host.Reader(0);
        Assert.Equal(ReadResult.Gap, host.Next(reader, 4096, out _));
        Assert.Equal((0, 249), (reader.Gap.FirstOffset, reader.Gap.LastOffset));
        Assert.Equal(Enumerable.Range(250, 50), host.ReadOn(reader));
        journal.TruncateBefore(long.MaxValue);
        Assert.Equal(300, journal.StartOffset);
        host.AppendDurable(300, 1);
        Assert.Equal([300], host.ReadAll(300));
    }

    [Fact]
    public async Task A_reader_finds_the_first_batch_of_a_time()
    {
        await using var host = new JournalHost();
        host.Open();
        var times = new List<long>();
        for (int i = 0; i < 300; i++)
        {
            times.Add(host.Clock.UnixMicroseconds);
            host.Append(i);
            host.Clock.Advance(TimeSpan.FromMilliseconds(10));
        }
        host.WaitDurable();
        using JournalReader reader = host.Reader();
        foreach (int wanted in new[] { 0, 1, 99, 150, 299 })
        {
            reader.SeekToTime(times[wanted]);
            Assert.Equal(ReadResult.Run, host.Next(reader, 1, out LogRun run));
            Assert.Equal(wanted, run.FirstOffset);
            reader.Advance();
        }
        reader.SeekToTime(times[^1] + 1);
        Assert.Equal(ReadResult.AtEnd, host.Next(reader, 1, out _));
        Assert.Equal(300, reader.NextOffset);
    }

    [Fact]
    public async Task A_time_sought_in_an_empty_journal_is_its_end()
    {
        await using var host = new JournalHost();
        host.Open();
        using JournalReader reader = host.Reader();
        reader.SeekToTime(5);
        Assert.Equal(ReadResult.AtEnd, host.Next(reader, 1, out _));
        host.AppendDurable(0, 1);
        Assert.Equal([0], host.ReadOn(reader));
    }

    [Fact]
    public async Task Damaged_bytes_are_a_gap_and_never_delivered()
    {
        await using var host = new JournalHost();
        host.Open();
        host.AppendDurable(0, 100);
        await host.CloseAsync();
        int length = TestBatch.Make(0).Length;
        string path = host.PathOf(host.FileNames("*.seg")[0]);
        byte[] bytes = await File.ReadAllBytesAsync(path, TestContext.Current.CancellationToken);
        bytes[4096 + (10 * length) + 130] ^= 1;
        await File.WriteAllBytesAsync(path, bytes, TestContext.Current.CancellationToken);
        host.Open();
        using JournalReader reader = host.Reader();
        Assert.Equal(ReadResult.Run, host.Next(reader, 1 << 20, out LogRun run));
        Assert.Equal(10, run.NextOffset);
        reader.Advance();
        Assert.Equal(ReadResult.Gap, host.Next(reader, 1 << 20, out _));
        Assert.Equal(new LogGap(10, 10, GapReason.Corrupt), reader.Gap);
        Assert.Equal(Enumerable.Range(11, 89), host.ReadOn(reader));
    }
}
