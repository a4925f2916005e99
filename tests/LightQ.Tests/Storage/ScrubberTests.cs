using LightQ.Client;
using LightQ.Protocol.Batches;
using LightQ.Storage;
using LightQ.Storage.Files;
using LightQ.Storage.Inspection;
using Xunit;

namespace LightQ.Tests.Storage;

public sealed class ScrubberTests
{
    private const int Messages = 500;
    private const string NotAsWritten = "the bytes there are not what was written";
    private static readonly TimeSpan Interval = TimeSpan.FromDays(7);
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);
    private static readonly int BatchBytes = TestBatch.Make(0).Length;

    [Fact]
    public async Task A_flipped_bit_is_found_without_a_reader_told_once_and_read_as_a_gap()
    {
        await using JournalHost host = Open();
        Scrub(host, Second);
        Assert.Empty(host.Damage);
        Assert.Equal(host.Journal.StoredBytes, host.Environment.ScrubbedBytes);
        Assert.Equal(1, host.Environment.ScrubPasses);

        JournalDamage damage = Flip(host);
        Scrub(host, Interval - (2 * Second));
        Assert.Empty(host.Damage);
        Scrub(host, 2 * Second);
        Scrub(host, Interval);
        Assert.Equal(3, host.Environment.ScrubPasses);
        Assert.Equal([damage], host.Damage);
        Assert.Equal([damage], host.Journal.Damage);
        AssertGap(host, damage);

        host.Journal.TruncateBefore(damage.LastOffset + 1);
        Assert.Empty(host.Journal.Damage);
        Scrub(host, Interval);
        Assert.Single(host.Damage);
    }

    [Theory]
    [InlineData(1000)]
    [InlineData(250)]
    public async Task It_reads_no_faster_than_it_may(int stepMilliseconds)
    {
        const int rate = 10 * 1024;
        await using JournalHost host = Open(options => options with { ScrubBytesPerSecond = rate });
        JournalDamage damage = Flip(host);
        int steps = 0;
        while (host.Environment.ScrubPasses == 0)
        {
            steps++;
            Scrub(host, TimeSpan.FromMilliseconds(stepMilliseconds));
            // What is damaged is looked at as a whole, with its segment; that is taken off what may be read later.
            Assert.InRange(
                host.Environment.ScrubbedBytes,
                0,
                (rate * (long)steps * stepMilliseconds / 1000) + BatchBytes + host.Options.SegmentBytes
            );
        }
        Assert.InRange(steps, (host.Journal.StoredBytes - rate) * 1000 / rate / stepMilliseconds, int.MaxValue);
        Assert.Equal([damage], host.Damage);
    }

    [Fact]
    public async Task What_a_reader_finds_is_told_also_when_nothing_is_scrubbed()
    {
        await using JournalHost host = Open(options => options with { ScrubBytesPerSecond = 0 });
        Scrub(host, Interval);
        Assert.Equal(0, host.Environment.ScrubbedBytes);
        JournalDamage damage = Flip(host);
        AssertGap(host, damage);
        Scrub(host, Second);
        AssertGap(host, damage);
        Scrub(host, Second);
        Assert.Equal([damage], host.Damage);
    }

    [Fact]
    public async Task What_was_read_wrong_once_is_told_until_it_has_been_read_right()
    {
        await using JournalHost host = Open();
        JournalDamage damage = Flip(host);
        AssertGap(host, damage);
        Flip(host);
        Scrub(host, TimeSpan.Zero);
        Assert.Equal(
            [damage with { Bytes = 0, Detail = "the disk gave wrong bytes once and the right ones later" }],
            host.Damage
        );
        Assert.Equal(host.Damage, host.Journal.Damage);
        Scrub(host, Interval);
        Assert.Empty(host.Journal.Damage);
        Assert.Equal(Enumerable.Range(0, Messages), host.ReadAll());
    }

    [Fact]
    public async Task Retention_does_not_wait_for_it_and_what_it_takes_away_is_no_damage()
    {
        await using JournalHost host = Open();
        string[] before = host.FileNames("*.seg"),
            after = [];
        host.Files.Before = (operation, path) =>
        {
            if (operation != "read" || after.Length != 0 || !path.EndsWith(before[2], StringComparison.Ordinal))
                return;
            host.Journal.TruncateBefore(400);
            after = host.FileNames("*.seg");
        };
        Scrub(host, Second);
        Assert.InRange(after.Length, 1, before.Length - 3);
        Assert.DoesNotContain(before[2], after);
        Assert.Empty(host.Damage);
        host.AppendDurable(Messages, Messages);
        Scrub(host, Interval);
        Assert.Empty(host.Damage);
    }

    [Fact]
    public async Task Deletion_does_not_wait_for_it()
    {
        await using JournalHost host = Open();
        Task? deleted = null;
        host.Files.Before = (operation, _) =>
        {
            if (operation != "read" || deleted is not null)
                return;
            deleted = host.Journal.DeleteAsync();
            host.Wait(() => deleted.IsCompleted);
            Assert.False(Directory.Exists(host.Options.Directory));
        };
        Scrub(host, Second);
        Assert.NotNull(deleted);
        await deleted;
        Scrub(host, Interval);
        Assert.Empty(host.Damage);
    }

    [Fact]
    public async Task Segments_at_rest_stay_closed()
    {
        await using JournalHost host = Open();
        await host.CloseAsync();
        host.Open();
        Scrub(host, Second);
        Assert.Equal(host.Journal.StoredBytes, host.Environment.ScrubbedBytes);
        Assert.DoesNotContain(host.Journal.Log.Segments.All.ToArray(), segment => segment.IsOpen);
    }

    [Fact]
    public async Task A_file_that_is_gone_and_one_that_cannot_be_read_are_damage()
    {
        await using JournalHost host = Open();
        string[] names = host.FileNames("*.seg");
        File.Delete(host.PathOf(names[1]));
        host.Files.Before = (operation, path) =>
        {
            if (operation == "read" && path.EndsWith(names[3], StringComparison.Ordinal))
                throw new StorageIOException("read", path, 5);
        };
        Scrub(host, Second);
        Assert.Equal([names[1], names[3]], host.Damage.Select(damage => damage.File));
        Assert.Equal("read failed: Input/output error (error 5)", host.Damage[1].Detail);
        host.Files.Before = (_, _) => { };
        Scrub(host, Interval);
        Assert.Equal([names[1]], host.Journal.Damage.Select(damage => damage.File));
        Assert.Equal(2, host.Damage.Count);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_damaged_header_costs_its_batch_alone_and_stops_no_search(bool mapped)
    {
        await using JournalHost host = Open();
        string name = host.FileNames("*.seg")[1];
        long first = FirstOffset(host.PathOf(name));
        using (FileStream file = OpenInPlace(host.PathOf(name)))
        {
            file.Position = 4096 + (5L * BatchBytes);
            file.Write(new byte[BatchLayout.HeaderSize]);
        }
        if (!mapped)
        {
            await host.CloseAsync();
            foreach (string index in host.FileNames("*.idx"))
                File.Delete(host.PathOf(index));
            host.Open();
        }
        using (JournalReader reader = host.Reader(first + 7))
        {
            // The lookup walks headers: what is behind a damaged one it finds only through the gap before it.
            ReadResult result = host.Next(reader, 4096, out LogRun run);
            Assert.True(
                result == ReadResult.Gap ? reader.Gap.LastOffset <= first + 7 : run.FirstOffset == first + 7,
                $"{result} {reader.Gap} {run.FirstOffset}"
            );
        }
        AssertGap(host, new JournalDamage(name, first + 5, first + 5, BatchBytes, NotAsWritten));
        Scrub(host, Second);
        Assert.Contains(new JournalDamage(name, first + 5, first + 5, BatchBytes, NotAsWritten), host.Damage);
    }

    [Fact]
    public async Task A_range_that_a_repair_gave_up_is_no_damage()
    {
        await using JournalHost host = Open();
        JournalDamage damage = Flip(host);
        await host.CloseAsync();
        JournalRepair.Plan(host.Options.Directory, host.Options.TopicId).Execute(host.Clock.GetUtcNow());
        host.Open();
        AssertGap(host, damage);
        Scrub(host, Second);
        Assert.Equal(1, host.Environment.ScrubPasses);
        Assert.Empty(host.Damage);
    }

    private static JournalHost Open(Func<JournalEnvironmentOptions, JournalEnvironmentOptions>? shape = null)
    {
        var environment = new JournalEnvironmentOptions
        {
            Writers = 1,
            Readers = 1,
            ScrubInterval = Interval,
        };
        var host = new JournalHost(environment: shape is null ? environment : shape(environment));
        host.Open();
        host.AppendDurable(0, Messages);
        return host;
    }

    private static void Scrub(JournalHost host, TimeSpan later)
    {
        host.Clock.Advance(later);
        host.Environment.Scrubber.RunOnce();
    }

    /// <summary>Flips a bit of a message in the second segment, in place: what is mapped shows it.</summary>
    private static JournalDamage Flip(JournalHost host)
    {
        string name = host.FileNames("*.seg")[1];
        long offset = FirstOffset(host.PathOf(name)) + 5;
        using FileStream file = OpenInPlace(host.PathOf(name));
        file.Position = 4096 + (5L * BatchBytes) + 130;
        int value = file.ReadByte();
        file.Position--;
        file.WriteByte((byte)(value ^ 2));
        return new JournalDamage(name, offset, offset, BatchBytes, NotAsWritten);
    }

    private static FileStream OpenInPlace(string path) =>
        new(path, FileMode.Open, FileAccess.ReadWrite, FileShare.ReadWrite);

    private static long FirstOffset(string path) => new BatchView(File.ReadAllBytes(path).AsSpan(4096)).BaseOffset;

    private static void AssertGap(JournalHost host, JournalDamage damage)
    {
        using JournalReader reader = host.Reader();
        var read = new List<int>();
        var gaps = new List<LogGap>();
        while (host.Next(reader, 4096, out LogRun run) is var result && result != ReadResult.AtEnd)
        {
            if (result == ReadResult.Gap)
            {
                gaps.Add(reader.Gap);
                continue;
            }
            foreach (BatchView batch in new BatchRun(run.Span))
                read.Add(TestBatch.NumberOf(batch));
            reader.Advance();
        }
        Assert.Equal([new LogGap(damage.FirstOffset, damage.LastOffset, GapReason.Corrupt)], gaps);
        Assert.Equal(Enumerable.Range(0, Messages).Where(number => number != damage.FirstOffset), read);
    }
}
