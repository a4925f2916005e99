using LightQ.Storage;
using LightQ.Storage.Inspection;
using LightQ.Storage.Segments;
using Xunit;

namespace LightQ.Tests.Storage;

/// <summary>
/// The files of a log's end are removed or cut. A start, a verify and a repair all see it, and nobody gets its offsets
/// again without a word.
/// </summary>
public sealed class MissingEndTests
{
    private const int Batches = 400;

    /// <summary>What is done to a log, by the numbers of its segments from the newest.</summary>
    public static TheoryData<string> Damages =>
        [
            "newest removed",
            "two newest removed",
            "all removed",
            "newest empty",
            "newest cut in its header",
            "newest cut behind its header page",
            "newest cut at a batch",
            "newest cut in a batch",
            "newest cut in its last batch",
            "newest one byte shorter than it was made",
            "the one before cut",
            "the one before removed",
        ];

    [Theory]
    [MemberData(nameof(Damages))]
    public async Task A_killed_log_without_its_end_is_refused_and_a_repair_says_what_is_lost(string damage)
    {
        await using var host = new JournalHost();
        Fill(host);
        await host.KillAsync();
        Damage(host, damage);
        await AssertRefusedAsync(host);
    }

    [Theory]
    [MemberData(nameof(Damages))]
    public async Task A_closed_log_without_its_end_is_refused(string damage)
    {
        await using var host = new JournalHost();
        Fill(host);
        await host.CloseAsync();
        string before = FileOf(host, 0);
        bool losesNothing = damage.EndsWith("made", StringComparison.Ordinal);
        Damage(host, damage);
        if (!losesNothing)
        {
            JournalCorruptException refused = await AssertRefusedAsync(host);
            if (damage.Contains("newest", StringComparison.Ordinal))
                // What the checkpoint knows to be there is named to its end, and nothing that never was.
                Assert.Equal(Batches - 1, refused.LastOffset);
            return;
        }
        // The checkpoint says where the log ends, and all of that is there.
        host.Open();
        Assert.Equal(Enumerable.Range(0, Batches), host.ReadAll());
        host.AppendDurable(Batches, 1);
        await host.KillAsync();
        host.Open();
        Assert.Equal(Enumerable.Range(0, Batches + 1), host.ReadAll());
        Assert.True(File.Exists(before));
    }

    [Theory]
    [InlineData("all removed")]
    [InlineData("newest empty")]
    [InlineData("newest cut at a batch")]
    public async Task A_log_that_was_killed_in_its_first_segment_misses_it(string damage)
    {
        await using var host = new JournalHost();
        host.Open();
        host.AppendDurable(0, 20);
        await host.KillAsync();
        Assert.Single(host.FileNames("*.seg"));
        Damage(host, damage);
        await AssertRefusedAsync(host);
    }

    [Fact]
    public async Task A_log_that_ends_before_what_groups_have_settled_is_refused_until_it_is_repaired()
    {
        await using var host = new JournalHost();
        long KnownBelow(uint epoch) => epoch == 1 ? 30 : 0;
        host.Options = host.Options with { KnownBelow = KnownBelow };
        host.Open();
        host.AppendDurable(0, 30);
        await host.KillAsync();
        string segment = FileOf(host, 0);
        await using (FileStream file = new(segment, FileMode.Open))
        {
            // As if the last commits had never reached the disk.
            int batch = TestBatch.Make(0).Length;
            file.Position = SegmentHeader.PageSize + (25 * batch);
            file.Write(new byte[5 * batch]);
        }

        var refused = Assert.Throws<JournalCorruptException>(() => host.Open());
        Assert.Equal((25, 29), (refused.FirstOffset, refused.LastOffset));
        string directory = host.Options.Directory;
        Assert.False(JournalInspector.Inspect(directory).IsDamaged);
        Assert.True(JournalInspector.Inspect(directory, knownBelow: KnownBelow).IsDamaged);
        var repair = JournalRepair.Plan(directory, knownBelow: KnownBelow);
        Assert.Equal((25, 29), (Assert.Single(repair.Losses).FirstOffset, repair.Losses[0].LastOffset));
        repair.Execute(DateTimeOffset.UtcNow);
        Assert.False(JournalInspector.Inspect(directory, knownBelow: KnownBelow).IsDamaged);
        Assert.Equal(30, host.Open().EndOffset);
    }

    [Fact]
    public async Task A_log_that_an_earlier_version_wrote_opens_without_a_word()
    {
        await using var host = new JournalHost();
        Fill(host);
        await host.KillAsync();
        foreach (string name in host.FileNames("*.seg"))
        {
            await using FileStream file = new(host.PathOf(name), FileMode.Open);
            byte[] page = new byte[SegmentHeader.PageSize];
            file.ReadExactly(page);
            SegmentExtent.Clear(page, 0);
            file.Position = 0;
            file.Write(page);
        }
        host.Open();
        Assert.Equal(Enumerable.Range(0, Batches), host.ReadAll());
    }

    [Theory]
    [InlineData("checkpoint")]
    [InlineData(".seg")]
    public async Task A_kill_while_the_next_segment_is_begun_is_no_damage(string file)
    {
        await using var host = new JournalHost();
        host.Open();
        host.AppendDurable(0, 1);
        // The file of the second segment is there, and its header page is not written.
        host.Files.Before = (operation, path) =>
        {
            if (operation == "write" && path.EndsWith("2" + file, StringComparison.Ordinal))
                throw new IOException("killed");
        };
        for (int i = 1; host.Journal.Failure is null && i < 200; i++)
        {
            host.Journal.TryAppend(TestBatch.Make(i), out _, out _);
            host.Journal.Signal();
            host.Wait(() => host.Journal.IsIdle);
        }
        await host.KillAsync();
        host.Files.Before = (_, _) => { };
        for (int start = 0; start < 3; start++)
        {
            host.Open();
            host.Append(1000 + start);
            host.WaitDurable();
            await host.KillAsync();
        }
    }

    private static void Fill(JournalHost host)
    {
        host.Open();
        for (int i = 0; i < Batches; i++)
            host.Append(i);
        host.WaitDurable();
        host.Wait(() => host.Journal.IsIdle);
        Assert.True(host.FileNames("*.seg").Length > 3);
    }

    private static async Task<JournalCorruptException> AssertRefusedAsync(JournalHost host)
    {
        string directory = host.Options.Directory;
        var refused = Assert.Throws<JournalCorruptException>(() => host.Open());
        Assert.Throws<JournalCorruptException>(() => host.Open()); // And again: nothing was changed.
        Assert.True(JournalInspector.Inspect(directory).IsDamaged, refused.Message);
        JournalRepair repair = JournalRepair.Plan(directory);
        Assert.True(repair.IsNeeded);
        if (repair.Refusal is not null)
            return refused;
        repair.Execute(DateTimeOffset.UtcNow);
        Assert.False(JournalInspector.Inspect(directory).IsDamaged);
        Journal journal = host.Open();
        Assert.True(journal.LeaderEpoch > 1);
        host.Append(5000);
        host.WaitDurable();
        await host.KillAsync();
        host.Open();
        return refused;
    }

    private static string FileOf(JournalHost host, int fromNewest) =>
        host.PathOf(host.FileNames("*.seg")[^(fromNewest + 1)]);

    private static void Damage(JournalHost host, string damage)
    {
        int batch = TestBatch.Make(0).Length;
        switch (damage)
        {
            case "newest removed":
                File.Delete(FileOf(host, 0));
                break;
            case "two newest removed":
                File.Delete(FileOf(host, 0));
                File.Delete(FileOf(host, 0));
                break;
            case "all removed":
                foreach (string name in host.FileNames("*.seg"))
                    File.Delete(host.PathOf(name));
                break;
            case "the one before removed":
                File.Delete(FileOf(host, 1));
                break;
            case "the one before cut":
                Cut(FileOf(host, 1), SegmentHeader.PageSize + (3 * batch));
                break;
            case "newest empty":
                Cut(FileOf(host, 0), 0);
                break;
            case "newest cut in its header":
                Cut(FileOf(host, 0), 50);
                break;
            case "newest cut behind its header page":
                Cut(FileOf(host, 0), SegmentHeader.PageSize);
                break;
            case "newest cut at a batch":
                Cut(FileOf(host, 0), SegmentHeader.PageSize + (3 * batch));
                break;
            case "newest cut in a batch":
                Cut(FileOf(host, 0), SegmentHeader.PageSize + (3 * batch) + 40);
                break;
            case "newest cut in its last batch":
                Cut(FileOf(host, 0), EndOf(FileOf(host, 0)) - 40);
                break;
            default:
                Cut(FileOf(host, 0), new FileInfo(FileOf(host, 0)).Length - 1);
                break;
        }
    }

    /// <summary>Where the last batch of a segment ends.</summary>
    private static long EndOf(string path)
    {
        byte[] bytes = File.ReadAllBytes(path);
        int at = SegmentHeader.PageSize;
        while (at + sizeof(int) <= bytes.Length && BitConverter.ToInt32(bytes, at) is > 0 and var length)
            at += length;
        return at;
    }

    private static void Cut(string path, long length)
    {
        using FileStream file = new(path, FileMode.Open);
        Assert.True(file.Length > length);
        file.SetLength(length);
    }
}
