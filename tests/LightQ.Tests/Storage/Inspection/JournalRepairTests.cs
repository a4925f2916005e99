using LightQ.Protocol.Checksums;
using LightQ.Storage;
using LightQ.Storage.Inspection;
using Xunit;
using static LightQ.Tests.Storage.Inspection.InspectedJournal;

namespace LightQ.Tests.Storage.Inspection;

public sealed class JournalRepairTests
{
    private const int Count = 500;

    public static TheoryData<bool> Stops => [true, false];

    [Theory]
    [MemberData(nameof(Stops))]
    public async Task A_whole_journal_has_no_finding_and_inspecting_it_changes_no_byte(bool clean)
    {
        await using InspectedJournal journal = await MakeAsync(clean: clean);
        Dictionary<string, byte[]> before = journal.Host.FileNames("*").ToDictionary(n => n, journal.Bytes);
        JournalReport report = journal.Inspect();
        Assert.Empty(report.Findings);
        Assert.Equal((Count, Count, 0, Count), (report.Batches, report.Messages, report.StartOffset, report.EndOffset));
        Assert.False(journal.Plan().IsNeeded);
        Assert.Equal(before.Keys.Order(), journal.Host.FileNames("*"));
        foreach ((string name, byte[] bytes) in before)
            Assert.Equal(bytes, journal.Bytes(name));
    }

    [Theory]
    [InlineData(200, true)]
    [InlineData(8, true)]
    [InlineData(0, true)]
    [InlineData(40, false)]
    public async Task A_damaged_batch_is_the_only_one_that_is_lost(int at, bool clean)
    {
        await using InspectedJournal journal = await MakeAsync(clean: clean);
        string segment = journal.Segments[1];
        (int position, _, long first, _) = journal.Batches(segment)[7];
        journal.Change(segment, b => b[position + at] ^= 0x10);
        JournalFinding finding = Assert.Single(journal.Inspect().Findings, f => f.Kind == FindingKind.Damage);
        Assert.Equal(
            (segment, position, first, first),
            (finding.File, finding.Position, finding.FirstOffset, finding.LastOffset)
        );
        Assert.Equal([Lost(first, first)], await journal.RepairAsync(Count));
        Assert.True(File.Exists(journal.Host.PathOf(Path.Combine("quarantine", segment))));
    }

    [Theory]
    [MemberData(nameof(Stops))]
    public async Task A_lost_block_is_one_gap_over_the_batches_it_touched(bool clean)
    {
        await using InspectedJournal journal = await MakeAsync(clean: clean);
        string segment = journal.Segments[2];
        journal.Change(segment, b => b.AsSpan(8192, 4096).Clear());
        var touched = InspectedBatches(journal, segment, 8192, 12288);
        Assert.Equal([Lost(touched.First, touched.Last)], await journal.RepairAsync(Count));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(-1)]
    public async Task A_damaged_header_page_is_rebuilt_and_nothing_is_lost(int index)
    {
        await using InspectedJournal journal = await MakeAsync();
        string segment = journal.Segments[index < 0 ? ^1 : index];
        byte[] whole = journal.Bytes(segment);
        journal.Change(segment, b => b.AsSpan(0, 4096).Fill(0xFF));
        Assert.Throws<JournalCorruptException>(() => journal.Host.Open());
        Assert.Empty(await journal.RepairAsync(Count));
        if (index >= 0)
            Assert.Equal(whole, journal.Bytes(segment));
    }

    [Fact]
    public async Task The_header_page_of_the_oldest_segment_that_retention_left_is_rebuilt_too()
    {
        await using InspectedJournal journal = await MakeAsync(clean: false);
        Journal open = journal.Host.Open();
        open.TruncateBefore(200);
        await journal.Host.CloseAsync();
        string oldest = journal.Segments[0];
        Assert.NotEqual("00000000000000000001.seg", oldest);
        journal.Change(oldest, b => b.AsSpan(0, 4096).Clear());
        Assert.Empty(await journal.RepairAsync(Count));
    }

    [Fact]
    public async Task A_header_page_that_goes_with_its_first_batch_costs_that_batch()
    {
        await using InspectedJournal journal = await MakeAsync();
        string segment = journal.Segments[1];
        var first = journal.Batches(segment)[0];
        journal.Change(segment, b => b.AsSpan(0, 4096 + 150).Clear());
        Assert.Equal([Lost(first.BaseOffset, first.BaseOffset)], await journal.RepairAsync(Count));
    }

    [Theory]
    [InlineData(1, 1, true)]
    [InlineData(1, 1, false)]
    [InlineData(1, 2, true)]
    [InlineData(0, 1, true)]
    [InlineData(-1, 1, true)]
    [InlineData(-1, 1, false)]
    [InlineData(-2, 2, true)]
    public async Task Missing_segments_are_one_gap(int index, int count, bool clean)
    {
        await using InspectedJournal journal = await MakeAsync(clean: clean);
        string[] segments = journal.Segments;
        string[] gone = index < 0 ? segments[^(-index)..][..count] : segments[index..(index + count)];
        long first = journal.Batches(gone[0])[0].BaseOffset,
            last = journal.Batches(gone[^1])[^1].NextOffset - 1;
        if (!clean && index < 0)
            last = KnownDurable(journal) - 1;
        foreach (string name in gone)
            File.Delete(journal.Host.PathOf(name));
        if (last < first)
            return; // Nothing says that the segment was ever there.
        Assert.Throws<JournalCorruptException>(() => journal.Host.Open());
        Assert.Equal([Lost(first, last)], await journal.RepairAsync((int)Math.Max(last + 1, index < 0 ? 0 : Count)));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(-1)]
    public async Task A_truncated_segment_loses_what_was_cut_off(int index)
    {
        await using InspectedJournal journal = await MakeAsync();
        string segment = journal.Segments[index < 0 ? ^1 : index];
        var batches = journal.Batches(segment);
        int cut = batches[batches.Count / 2].Position + 30;
        File.WriteAllBytes(journal.Host.PathOf(segment), journal.Bytes(segment)[..cut]);
        Assert.Equal(
            [Lost(batches[batches.Count / 2].BaseOffset, batches[^1].NextOffset - 1)],
            await journal.RepairAsync(Count)
        );
    }

    [Fact]
    public async Task Every_segment_may_be_gone_the_offsets_are_not_used_again()
    {
        await using InspectedJournal journal = await MakeAsync();
        foreach (string name in journal.Host.FileNames("*.seg"))
            File.Delete(journal.Host.PathOf(name));
        Assert.Equal([Lost(0, Count - 1)], await journal.RepairAsync(Count));
    }

    [Fact]
    public async Task A_slot_that_is_lost_hides_nothing_behind_the_clean_stop_that_the_other_tells_of()
    {
        await using InspectedJournal journal = await MakeAsync(5);
        journal.Host.Open();
        journal.Host.AppendDurable(5, 5);
        await journal.Host.KillAsync();
        Assert.Single(journal.Segments);
        journal.Change(
            "checkpoint",
            b =>
            {
                const int Generation = 16,
                    Slot = 4096;
                int newest =
                    BitConverter.ToUInt64(b, Generation) > BitConverter.ToUInt64(b, Slot + Generation) ? 0 : Slot;
                b.AsSpan(newest, Slot).Fill(0xA5);
            }
        );
        Assert.Equal(5, KnownDurable(journal));
        Assert.Equal(10, journal.Inspect().EndOffset);
        Assert.Equal(2u, journal.Host.Open().LeaderEpoch);
        Assert.Equal(Enumerable.Range(0, 10), journal.Host.ReadAll());
    }

    [Fact]
    public async Task A_damaged_checkpoint_is_made_anew()
    {
        await using InspectedJournal journal = await MakeAsync();
        journal.Change("checkpoint", b => b.AsSpan().Fill(0xA5));
        Assert.Contains(journal.Inspect().Findings, f => f.Kind == FindingKind.Damage && f.File == "checkpoint");
        Assert.Empty(await journal.RepairAsync(Count));
    }

    [Theory]
    [InlineData("epochs")]
    [InlineData("checkpoint")]
    [InlineData("00000000000000000002.seg")]
    public async Task A_file_of_a_later_version_is_not_touched(string name)
    {
        await using InspectedJournal journal = await MakeAsync();
        journal.Change(
            name,
            b =>
            {
                for (int page = 0; page < (name == "checkpoint" ? 8192 : 4096); page += 4096)
                {
                    int length = name == "epochs" ? b.Length : 96;
                    if (!b.AsSpan(page, length).ContainsAnyExcept((byte)0))
                        continue;
                    b[page + 8] = 99;
                    BitConverter.TryWriteBytes(
                        b.AsSpan(page + 12),
                        Crc32C.Append(Crc32C.Compute(b.AsSpan(page, 12)), b.AsSpan(page + 16, length - 16))
                    );
                    if (name == "epochs")
                        return;
                }
            }
        );
        JournalRepair repair = journal.Plan();
        Assert.Contains("version 99", repair.Refusal, StringComparison.Ordinal);
        Assert.Throws<InvalidOperationException>(() => repair.Execute(DateTimeOffset.UnixEpoch));
    }

    [Fact]
    public async Task A_segment_of_another_topic_is_set_aside()
    {
        await using InspectedJournal journal = await MakeAsync();
        await using InspectedJournal other = await MakeAsync(shape: o => o with { TopicId = Guid.NewGuid() });
        string segment = journal.Segments[2];
        var batches = journal.Batches(segment);
        File.Copy(other.Host.PathOf(segment), journal.Host.PathOf(segment), overwrite: true);
        Assert.Equal([Lost(batches[0].BaseOffset, batches[^1].NextOffset - 1)], await journal.RepairAsync(Count));
    }

    [Fact]
    public async Task An_image_of_batches_inside_a_damaged_message_is_not_taken_for_the_log()
    {
        await using InspectedJournal journal = await MakeAsync(20);
        byte[] image = journal.Bytes(journal.Segments[0])[4096..];
        await using var host = new JournalHost();
        host.Open();
        host.AppendDurable(0, 3);
        byte[] batch = TestBatch.Make(3, bodyBytes: 4000);
        image.AsSpan(0, 3600).CopyTo(batch.AsSpan(200));
        Assert.True(LightQ.Protocol.Batches.BatchWriter.Complete(batch, 4008, 1, default, 1) > 4000);
        host.Wait(() => host.Journal.TryAppend(batch, out _, out _) == AppendResult.Appended);
        host.AppendDurable(4, 30);
        await host.CloseAsync();
        string segment = host.PathOf(host.FileNames("*.seg")[0]);
        byte[] bytes = await File.ReadAllBytesAsync(segment, TestContext.Current.CancellationToken);
        int at = 4096 + (3 * TestBatch.Make(0).Length);
        bytes[at + 150] ^= 1;
        bytes[at + 60] ^= 1;
        await File.WriteAllBytesAsync(segment, bytes, TestContext.Current.CancellationToken);
        Assert.Equal(
            [new RepairLoss(Path.GetFileName(segment), 3, 3, batch.Length)],
            JournalRepair.Plan(host.Options.Directory).Losses
        );
    }

    [Fact]
    public async Task Random_damage_is_always_found_and_repaired_to_what_is_still_whole()
    {
        int seed = Random.Shared.Next();
        var random = new Random(seed);
        for (int round = 0; round < 12; round++)
        {
            await using InspectedJournal journal = await MakeAsync(300, clean: random.Next(2) == 0);
            var lost = new SortedSet<long>();
            for (int i = random.Next(1, 4); i > 0; i--)
            {
                string[] segments = journal.Segments;
                string segment = segments[random.Next(segments.Length - 1)];
                var batches = journal.Batches(segment);
                (int position, int length, long offset, _) = batches[random.Next(batches.Count)];
                int at = position + random.Next(length);
                journal.Change(segment, b => b[at] ^= (byte)(1 << random.Next(8)));
                lost.Add(offset);
                if (lost.Count < i)
                    break;
            }
            List<LogGap> gaps = await journal.RepairAsync(300);
            Assert.True(
                lost.SequenceEqual(
                    gaps.SelectMany(g =>
                        Enumerable
                            .Range((int)g.FirstOffset, (int)(g.LastOffset - g.FirstOffset + 1))
                            .Select(o => (long)o)
                    )
                ),
                $"seed {seed}, round {round}"
            );
        }
    }

    private static (long First, long Last) InspectedBatches(InspectedJournal journal, string segment, int from, int to)
    {
        // The walk over the damaged file stops at the damage: what is behind it follows from the sizes, which are all
        // equal.
        int length = TestBatch.Make(0).Length;
        long baseOffset = journal.Batches(segment)[0].BaseOffset;
        return (baseOffset + ((from - 4096) / length), baseOffset + ((to - 1 - 4096) / length));
    }

    private static long KnownDurable(InspectedJournal journal)
    {
        using var file = new LightQ.Storage.Files.PortableFileSystem().Open(
            journal.Host.PathOf("checkpoint"),
            LightQ.Storage.Files.OpenMode.Read
        );
        return LightQ.Storage.Recovery.CheckpointFile.ReadNewest(file, out _)!.Value.Durable.Offset;
    }
}
