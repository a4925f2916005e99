using LightQ.Protocol.Batches;
using LightQ.Storage;
using Xunit;

namespace LightQ.Tests.Storage;

/// <summary>Journals that begin at an offset above 0, as a copy of a log does whose front is gone.</summary>
public sealed class FirstOffsetTests
{
    private const long First = 1_000;

    [Fact]
    public async Task A_new_journal_begins_at_its_first_offset_and_keeps_it_over_close_and_kill()
    {
        await using JournalHost host = Make();
        host.Open();
        Assert.Equal(
            (First, First, First),
            (host.Journal.StartOffset, host.Journal.EndOffset, host.Journal.ReadableOffset)
        );
        await host.CloseAsync();

        host.Options = host.Options with { FirstOffset = 0 };
        host.Open(); // Nothing was appended, and it is the same journal.
        Assert.Equal((First, First), (host.Journal.StartOffset, host.Journal.EndOffset));
        Assert.Equal(First, host.Append(0));
        host.AppendDurable(1, 499, records: 3);
        Assert.Equal(First + 1 + (3 * 499), host.Journal.EndOffset);
        await host.KillAsync();

        host.Options = host.Options with { FirstOffset = 7 };
        host.Open();
        Assert.Equal((First, First + 1 + (3 * 499)), (host.Journal.StartOffset, host.Journal.DurableOffset));
        Assert.Equal(Enumerable.Range(0, 500), host.ReadAll(First));
        host.AppendDurable(500, 1);
        Assert.Equal(Enumerable.Range(0, 501), host.ReadAll(First));
    }

    [Fact]
    public async Task It_is_found_again_without_its_checkpoint()
    {
        await using JournalHost host = Make();
        host.Open();
        host.AppendDurable(0, 200, records: 2);
        await host.KillAsync();
        foreach (string file in Directory.GetFiles(host.Options.Directory))
        {
            if (!file.EndsWith(".seg", StringComparison.Ordinal))
                File.Delete(file);
        }
        host.Options = host.Options with { FirstOffset = 0 };
        host.Open();
        Assert.Equal((First, First + 400), (host.Journal.StartOffset, host.Journal.DurableOffset));
        Assert.Equal(Enumerable.Range(0, 200), host.ReadAll(First));
    }

    [Fact]
    public async Task A_copy_must_begin_there()
    {
        await using JournalHost host = Make();
        host.Open();
        byte[] batch = TestBatch.Make(1);
        BatchWriter.Stamp(batch, new BatchStamp(First - 1, 1, 1, 0, 0));
        Assert.Throws<ArgumentException>(() => host.Journal.TryAppendCopy(new BatchView(batch), out _));
        BatchWriter.Stamp(batch, new BatchStamp(First, 1, 1, 0, 0));
        Assert.Equal(AppendResult.Appended, host.Journal.TryAppendCopy(new BatchView(batch), out _));
        host.Journal.Signal();
        host.WaitDurable();
        Assert.Equal([1], host.ReadAll(First));
    }

    [Fact]
    public void Below_0_is_refused() =>
        Assert.Throws<ArgumentOutOfRangeException>(() =>
            new JournalOptions
            {
                Directory = "x",
                TopicId = Guid.Empty,
                FirstOffset = -1,
            }
        );

    private static JournalHost Make() => new(options => options with { FirstOffset = First });
}
