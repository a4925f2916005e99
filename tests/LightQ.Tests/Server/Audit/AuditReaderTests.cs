using LightQ.Server.Audit;
using Xunit;

namespace LightQ.Tests.Server.Audit;

/// <summary>Pages of the log hold every line once, and tell what is not as it was written wherever a page ends.</summary>
public sealed class AuditReaderTests
{
    /// <summary>Long enough that a few dozen lines fill several files.</summary>
    private static readonly string Long = new('x', 900);

    [Theory]
    [InlineData(1)]
    [InlineData(7)]
    [InlineData(1000)]
    public async Task Every_line_is_on_one_page_in_either_order(int size)
    {
        using var audit = new AuditDirectory();
        await audit.WriteAsync(150, Long);
        Assert.True(audit.Files.Length > 2);
        string[] all = [.. audit.Lines().Select(l => l.Hash)];
        await using AuditLog log = audit.Open();

        List<AuditPage> newest = Pages(log, new AuditQuery(size)),
            oldest = Pages(log, new AuditQuery(size, After: 0)),
            behind = Pages(log, new AuditQuery(size, After: 100));

        Assert.Equal(all.Reverse(), HashesOf(newest));
        Assert.Equal(all, HashesOf(oldest));
        Assert.Equal(all[100..], HashesOf(behind));
        Assert.All(newest.Concat(oldest).Concat(behind), p => Assert.Empty(p.Damages));
        Assert.All(newest, p => Assert.True(p.Lines.Count <= size));
        Assert.Null(newest[^1].Next);
    }

    [Fact]
    public async Task What_is_written_while_pages_are_read_is_behind_the_line_that_was_last()
    {
        using var audit = new AuditDirectory();
        await using AuditLog log = audit.Open();
        await log.WriteAsync(AuditDirectory.Change(1));
        AuditPage before = log.Read(new AuditQuery(100));
        await log.WriteAsync(AuditDirectory.Change(2));
        await log.WriteAsync(AuditDirectory.Change(3));

        Assert.Equal(["user-1", ""], before.Lines.Select(l => l.Subject));
        AuditPage after = log.Read(new AuditQuery(100, After: before.Lines[0].Sequence));
        Assert.Equal(["user-2", "user-3"], after.Lines.Select(l => l.Subject));
        Assert.Empty(log.Read(new AuditQuery(100, After: after.Lines[^1].Sequence)).Lines);
    }

    [Fact]
    public async Task A_filter_leaves_only_what_it_names()
    {
        using var audit = new AuditDirectory();
        await using AuditLog log = audit.Open();
        DateTimeOffset first = audit.Time.GetUtcNow();
        for (int i = 0; i < 10; i++)
        {
            await log.WriteAsync(AuditDirectory.Change(i) with { Actor = i % 2 == 0 ? "user:even" : "user:odd" });
            audit.Time.Advance(TimeSpan.FromHours(1));
        }
        string[] Subjects(AuditQuery query) => [.. Pages(log, query).SelectMany(p => p.Lines).Select(l => l.Subject)];

        Assert.Equal(["user-9", "user-7", "user-5", "user-3", "user-1"], Subjects(new(2, Actor: "user:odd")));
        Assert.Equal(["user-4"], Subjects(new(2, Subject: "user-4")));
        Assert.Equal([""], Subjects(new(2, Event: "chain")));
        Assert.Equal(["user-9", "user-8"], Subjects(new(2, Since: first.AddHours(8))));
        Assert.Equal(["user-1", "user-0"], Subjects(new(2, Event: "right", Until: first.AddHours(2))));
        Assert.Equal(
            ["user-3", "user-4"],
            Subjects(new(1, Since: first.AddHours(3), Until: first.AddHours(5), After: 0))
        );
    }

    [Fact]
    public async Task The_search_ends_behind_the_times_that_are_asked_for()
    {
        using var audit = new AuditDirectory();
        await audit.WriteAsync(100, Long);
        audit.Time.Advance(TimeSpan.FromHours(3));
        await audit.WriteAsync(1);
        string oldest = audit.Files[0];
        File.WriteAllText(oldest, "not read\n");
        await using AuditLog log = audit.Open();

        AuditPage page = Assert.Single(
            Pages(log, new AuditQuery(1000, Since: audit.Time.GetUtcNow() - TimeSpan.FromHours(1)))
        );
        Assert.Equal("user-0", Assert.Single(page.Lines).Subject);
        Assert.Empty(page.Damages);
    }

    [Fact]
    public async Task A_line_that_is_altered_removed_or_exchanged_is_told_once_wherever_pages_end()
    {
        using var audit = new AuditDirectory();
        await audit.WriteAsync(70, Long);
        string path = audit.Files[0];
        string[] lines = File.ReadAllText(path).Split('\n')[..^1];
        await using AuditLog log = audit.Open();
        foreach (int i in new[] { 1, 20, lines.Length - 2 })
        {
            long offset = lines[..i].Sum(l => l.Length + 1);
            string altered = lines[i].Replace("user-", "USER-", StringComparison.Ordinal);
            Write(path, [.. lines[..i], altered, .. lines[(i + 1)..]]);
            Expect(log, 70, new(AuditFault.Altered, Path.GetFileName(path), offset, lines[i].Length + 1, ""));

            Write(path, [.. lines[..i], .. lines[(i + 1)..]]);
            Expect(log, 70, new(AuditFault.Missing, Path.GetFileName(path), offset, 0, ""));

            Write(path, [.. lines[..i], lines[i - 1], .. lines[i..]]);
            Expect(log, 72, new(AuditFault.Reordered, Path.GetFileName(path), offset, 0, ""));
        }
    }

    [Fact]
    public async Task A_line_with_a_hash_computed_anew_does_not_fit_the_one_behind_it()
    {
        using var audit = new AuditDirectory();
        await audit.WriteAsync(5);
        string path = audit.Files[0];
        string[] lines = File.ReadAllText(path).Split('\n')[..^1];
        var forged = new System.Buffers.ArrayBufferWriter<byte>();
        AuditLine.Write(forged, audit.Lines()[2] with { Detail = "admin on everything" });
        lines[2] = System.Text.Encoding.UTF8.GetString(forged.WrittenSpan).TrimEnd('\n');
        Write(path, lines);
        await using AuditLog log = audit.Open();
        Expect(log, 6, new(AuditFault.Altered, Path.GetFileName(path), lines[..3].Sum(l => l.Length + 1), 0, ""));
    }

    [Fact]
    public async Task Rubbish_longer_than_a_block_is_one_damage_and_hides_no_line()
    {
        using var audit = new AuditDirectory();
        await audit.WriteAsync(100, Long);
        string path = audit.Files[0];
        string[] lines = File.ReadAllText(path).Split('\n')[..^1];
        string rubbish = new('z', (3 * AuditWalk.BlockBytes) + 17);
        Write(path, [.. lines[..30], rubbish, .. lines[30..]]);
        long offset = lines[..30].Sum(l => l.Length + 1);
        await using AuditLog log = audit.Open();
        foreach (AuditQuery query in new AuditQuery[] { new(1000), new(1000, After: 0) })
        {
            List<AuditPage> pages = Pages(log, query);
            AuditDamage damage = Assert.Single(pages.SelectMany(p => p.Damages));
            Assert.Equal(
                (AuditFault.Altered, offset, (long)rubbish.Length + 1),
                (damage.Fault, damage.Offset, damage.Bytes)
            );
            Assert.Equal(101, pages.Sum(p => p.Lines.Count));
        }
    }

    [Fact]
    public async Task A_line_without_an_end_is_told_unless_it_is_being_written()
    {
        using var audit = new AuditDirectory();
        await audit.WriteAsync(100, Long);
        string[] files = audit.Files;
        await using AuditLog log = audit.Open();
        File.AppendAllText(files[^1], "{\"seq\":"); // Behind what the broker has written: on its way.
        Assert.All(Pages(log, new AuditQuery(10)), p => Assert.Empty(p.Damages));

        File.AppendAllText(files[0], "{\"seq\":");
        foreach (AuditQuery query in new AuditQuery[] { new(10), new(10, After: 0) })
        {
            AuditDamage damage = Assert.Single(Pages(log, query).SelectMany(p => p.Damages));
            Assert.Equal(
                (AuditFault.Altered, Path.GetFileName(files[0]), 7L),
                (damage.Fault, damage.File, damage.Bytes)
            );
        }
    }

    [Fact]
    public async Task An_end_that_is_gone_is_told()
    {
        using var audit = new AuditDirectory();
        await using AuditLog log = audit.Open();
        await log.WriteAsync(AuditDirectory.Change(1));
        string[] lines = File.ReadAllText(audit.Files[0]).Split('\n')[..^1];
        Write(audit.Files[0], lines[..^1]);
        foreach (AuditQuery query in new AuditQuery[] { new(10), new(10, After: 0) })
            Assert.Equal(AuditFault.Missing, Assert.Single(Pages(log, query).SelectMany(p => p.Damages)).Fault);

        File.Delete(audit.Files[0]);
        AuditPage page = log.Read(new AuditQuery(10));
        Assert.Empty(page.Lines);
        Assert.Equal(AuditFault.Missing, Assert.Single(page.Damages).Fault);
    }

    [Fact]
    public async Task A_call_reads_a_bounded_part_of_a_long_log()
    {
        using var audit = new AuditDirectory { Options = new() { FileBytes = 1024 * 1024 } };
        await using AuditLog log = audit.Open();
        for (int i = 0; i < 6; i++)
        {
            for (int n = 0; n < 1000; n++)
                log.Write(AuditDirectory.Change(n, Long));
            await log.WriteAsync(AuditDirectory.Change(-1, Long));
        }
        List<AuditPage> nothing = Pages(log, new AuditQuery(10, Actor: "user:nobody")),
            full = Pages(log, new AuditQuery(10_000));
        Assert.True(nothing.Count > 1);
        Assert.All(nothing, p => Assert.Empty(p.Lines));
        Assert.True(full.Count > 5);
        Assert.Equal(6007, full.Sum(p => p.Lines.Count));
    }

    [Fact]
    public async Task Pages_go_on_when_the_file_that_they_were_in_is_deleted()
    {
        using var audit = new AuditDirectory();
        await audit.WriteAsync(200, Long);
        string[] files = audit.Files;
        long[] firsts = [.. AuditFiles.Among(audit.Disk.List(audit.Path)).Select(f => f.First)];
        await using AuditLog log = audit.Open();
        AuditPage begun = log.Read(new AuditQuery(5, After: 0));
        File.Delete(files[0]);
        Assert.Equal(firsts[1], log.Read(new AuditQuery(5, After: 0, Position: begun.Next)).Lines[0].Sequence);
        Assert.Empty(log.Read(new AuditQuery(5, Position: new AuditPosition(false, firsts[0], 5000))).Lines);
    }

    [Theory]
    [InlineData("n-1-0", true)]
    [InlineData("o-9007199254740991-77", true)]
    [InlineData("o-9007199254740992-77", false)]
    [InlineData("x-1-0", false)]
    [InlineData("n-1", false)]
    [InlineData("n-1--1", false)]
    [InlineData("n-1-99999999999999999999", false)]
    [InlineData("n- 1-0", false)]
    public void A_position_is_read_as_it_is_written(string text, bool isOne)
    {
        Assert.Equal(isOne, AuditPosition.TryParse(text, out AuditPosition position));
        if (isOne)
            Assert.Equal(text, position.ToString());
    }

    /// <summary>The damage is on one page, whatever the order and the size of pages, and nothing else is.</summary>
    private static void Expect(AuditLog log, int lines, AuditDamage expected)
    {
        foreach (int size in new[] { 1, 2, 3, 1000 })
        {
            foreach (AuditQuery query in new AuditQuery[] { new(size), new(size, After: 0) })
            {
                List<AuditPage> pages = Pages(log, query);
                AuditDamage[] damages = [.. pages.SelectMany(p => p.Damages)];
                Assert.True(
                    damages.Length == 1 && damages[0] with { Detail = "" } == expected,
                    $"{query}: {string.Join(", ", (object[])damages)} instead of {expected}"
                );
                Assert.Equal(lines, pages.Sum(p => p.Lines.Count));
            }
        }
    }

    private static List<AuditPage> Pages(AuditLog log, AuditQuery query)
    {
        var pages = new List<AuditPage>();
        do
        {
            pages.Add(log.Read(query with { Position = pages.LastOrDefault()?.Next }));
            Assert.True(pages.Count < 1000, "The pages do not end.");
        } while (pages[^1].Next is not null);
        return pages;
    }

    private static IEnumerable<string> HashesOf(IEnumerable<AuditPage> pages) =>
        pages.SelectMany(p => p.Lines).Select(l => l.Hash);

    private static void Write(string path, string[] lines) => File.WriteAllText(path, string.Join('\n', lines) + '\n');
}
