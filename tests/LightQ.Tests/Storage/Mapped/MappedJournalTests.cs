using LightQ.Protocol.Batches;
using LightQ.Storage;
using LightQ.Storage.Mapped;
using Xunit;

namespace LightQ.Tests.Storage.Mapped;

/// <summary>
/// A journal written through its mapping: a reader sees whole batches and no others, and the files are those of every
/// other journal.
/// </summary>
public sealed class MappedJournalTests
{
    private const int SegmentBytes = 16 * 1024;

    [Fact]
    public async Task A_reader_gets_each_batch_as_soon_as_it_is_appended_across_segments()
    {
        await using var host = new JournalHost();
        using MappedJournalWriter writer = MappedJournalWriter.Open(host.Options);
        using MappedJournalReader reader = MappedJournalReader.Open(host.Options.Directory);
        Assert.Empty(Read(reader, until: 0));

        for (int i = 0; i < 1000; i++)
        {
            Assert.Equal(i, writer.Append(TestBatch.Make(i)));
            Assert.Equal([i], Read(reader, until: i + 1));
        }

        Assert.Equal(1000, reader.NextOffset);
        Assert.True(host.FileNames("*.seg").Length > 1000 * 200 / SegmentBytes);
    }

    [Fact]
    public async Task A_reader_on_another_thread_sees_only_whole_batches()
    {
        const int Batches = 20_000;
        await using var host = new JournalHost(o => o with { SegmentBytes = 256 * 1024 });
        using MappedJournalWriter writer = MappedJournalWriter.Open(host.Options);
        using MappedJournalReader reader = MappedJournalReader.Open(host.Options.Directory);

        Task<List<int>> reading = Task.Run(() => Read(reader, until: Batches), TestContext.Current.CancellationToken);
        for (int i = 0; i < Batches; i++)
            writer.Append(TestBatch.Make(i, bodyBytes: 4 + (i % 300)));

        Assert.Equal(Enumerable.Range(0, Batches), await reading);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task What_it_leaves_when_it_is_closed_or_killed_is_a_journal_like_any_other(bool killed)
    {
        await using var host = new JournalHost();
        MappedJournalWriter writer = MappedJournalWriter.Open(host.Options);
        for (int i = 0; i < 300; i++)
            writer.Append(TestBatch.Make(i));
        if (killed)
            writer.Abandon();
        else
            writer.Dispose();

        Journal journal = host.Open();
        Assert.Equal(300, journal.EndOffset);
        Assert.Equal(killed ? 2u : 1u, journal.LeaderEpoch);
        host.AppendDurable(300, 50);
        Assert.Equal(Enumerable.Range(0, 350), host.ReadAll());
        await host.CloseAsync();
    }

    [Fact]
    public async Task It_goes_on_where_a_journal_has_ended_and_its_reader_begins_with_that_segment()
    {
        await using var host = new JournalHost();
        host.Open();
        host.AppendDurable(0, 10);
        await host.CloseAsync();

        using (MappedJournalWriter writer = MappedJournalWriter.Open(host.Options))
        {
            using MappedJournalReader reader = MappedJournalReader.Open(host.Options.Directory);
            Assert.Equal(10, writer.NextOffset);
            for (int i = 10; i < 2000; i++)
                writer.Append(TestBatch.Make(i));
            Assert.Equal(Enumerable.Range(0, 2000), Read(reader, until: 2000));
            Assert.True(writer.DurableOffset is > 0 and < 2000, "Full segments are on the disk, the last is not.");
        }

        host.Open();
        Assert.Equal(Enumerable.Range(0, 2000), host.ReadAll());
    }

    [Fact]
    public async Task What_an_older_file_has_left_behind_the_end_is_not_read()
    {
        await using var host = new JournalHost();
        using (MappedJournalWriter first = MappedJournalWriter.Open(host.Options))
            first.Append(TestBatch.Make(0));
        byte[] file = await File.ReadAllBytesAsync(
            host.PathOf("00000000000000000001.seg"),
            TestContext.Current.CancellationToken
        );
        int end = 4096 + TestBatch.Make(0).Length;
        for (int copy = 0; copy < 3; copy++)
            TestBatch.Make(0).CopyTo(file, end + (copy * TestBatch.Make(0).Length));
        await File.WriteAllBytesAsync(
            host.PathOf("00000000000000000001.seg"),
            file,
            TestContext.Current.CancellationToken
        );

        using MappedJournalWriter writer = MappedJournalWriter.Open(host.Options);
        using MappedJournalReader reader = MappedJournalReader.Open(host.Options.Directory);
        Assert.Equal([0], Read(reader, until: 1));
        Assert.False(reader.TryRead(4096, out _));
        writer.Append(TestBatch.Make(1));
        Assert.Equal([1], Read(reader, until: 2));
        Assert.False(reader.TryRead(4096, out _));
    }

    [Fact]
    public async Task A_batch_that_does_not_belong_there_is_no_batch()
    {
        await using var host = new JournalHost();
        using MappedJournalWriter writer = MappedJournalWriter.Open(host.Options);
        using MappedJournalReader reader = MappedJournalReader.Open(host.Options.Directory);
        writer.Append(TestBatch.Make(0));
        using (
            FileStream file = new(
                host.PathOf("00000000000000000001.seg"),
                FileMode.Open,
                FileAccess.Write,
                FileShare.ReadWrite
            )
        )
        {
            file.Position = 4096 + BatchLayout.BaseOffset;
            file.WriteByte(9);
        }

        JournalCorruptException error = Assert.Throws<JournalCorruptException>(() => reader.TryRead(4096, out _));
        Assert.Equal((4096, 0), (error.Position, error.FirstOffset));
    }

    [Fact]
    public async Task A_second_writer_is_refused_and_so_is_a_reader_without_a_journal()
    {
        await using var host = new JournalHost();
        Assert.Throws<JournalMissingException>(() => MappedJournalReader.Open(host.Options.Directory));
        using MappedJournalWriter writer = MappedJournalWriter.Open(host.Options);

        Assert.Throws<DataDirectoryException>(() => MappedJournalWriter.Open(host.Options));
        Assert.Throws<ArgumentException>(() => writer.Append(new byte[host.Options.MaxBatchBytes + 8]));
        Assert.Throws<ArgumentException>(() => writer.Append(TestBatch.Make(0).AsSpan(0, 104)));
    }

    [Fact]
    public async Task A_closed_writer_takes_no_more()
    {
        await using var host = new JournalHost();
        MappedJournalWriter writer = MappedJournalWriter.Open(host.Options);
        writer.Dispose();
        writer.Dispose();

        Assert.Throws<InvalidOperationException>(() => writer.Append(TestBatch.Make(0)));
    }

    /// <summary>Reads until an offset and gives the batches' numbers; each is verified.</summary>
    private static List<int> Read(MappedJournalReader reader, long until)
    {
        var numbers = new List<int>();
        while (reader.NextOffset < until)
        {
            TestContext.Current.CancellationToken.ThrowIfCancellationRequested();
            if (!reader.TryRead(4096, out ReadOnlySpan<byte> run))
                continue;
            foreach (BatchView batch in new BatchRun(run))
                numbers.Add(TestBatch.NumberOf(batch));
        }
        return numbers;
    }
}
