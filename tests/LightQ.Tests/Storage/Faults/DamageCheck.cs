using System.Text;
using LightQ.Client;
using LightQ.Storage;
using LightQ.Storage.Segments;
using LightQ.Storage.State;

namespace LightQ.Tests.Storage.Faults;

/// <summary>Starts on damaged files, reads everything, and says whether the damage was noticed.</summary>
/// <remarks>One thread at a time. The threads of one environment serve all starts.</remarks>
internal sealed class DamageCheck : IDisposable
{
    private readonly DamageFixture _fixture;
    private readonly SimulatedFileSystem _files;
    private readonly JournalEnvironment _environment;

    public DamageCheck(DamageFixture fixture)
    {
        _fixture = fixture;
        _files = new SimulatedFileSystem(new SimulatedDisk());
        _environment = CrashWorkload.Environment(_files, new ManualClock());
    }

    /// <summary>Why the last outcome was what it was.</summary>
    public string Detail { get; private set; } = "";

    public void Dispose() => _environment.Dispose();

    /// <summary>Opens the topic.</summary>
    public DamageOutcome Topic(SimulatedDisk disk)
    {
        StoredBatch[] damaged = [.. _fixture.Batches.Where(batch => !batch.IsIntact(disk))];
        StoredBatch[] intact = [.. _fixture.Batches.Where(batch => batch.IsIntact(disk))];
        // Before the start, which may change header pages.
        StoredBatch[] unreachable =
        [
            .. _fixture.Batches.Where(batch => !batch.IsIntact(disk) || !HasIntactHeader(disk, batch.Path)),
        ];
        _files.Insert(disk);
        var producers = new ProducerState();
        Journal journal;
        try
        {
            journal = Journal.Open(_fixture.Options, _environment, producers);
        }
        catch (JournalCorruptException error)
        {
            Detail = error.Message;
            bool named =
                damaged.Length == 0
                || damaged.Any(batch => error.FirstOffset <= batch.BaseOffset && batch.BaseOffset <= error.LastOffset);
            return named ? DamageOutcome.Refused : DamageOutcome.Silent;
        }
        catch (JournalFormatException error)
        {
            Detail = error.Message;
            return DamageOutcome.Refused;
        }
        try
        {
            return Read(journal, producers, damaged, unreachable, intact);
        }
        finally
        {
            journal.AbandonAsync().GetAwaiter().GetResult();
        }
    }

    /// <summary>Opens the catalog.</summary>
    public DamageOutcome Catalog(SimulatedDisk disk)
    {
        var records = new List<string>();
        return State(
            disk,
            () =>
                RecordJournal
                    .Open(DamageFixture.Catalog, _environment, record => records.Add(Encoding.UTF8.GetString(record)))
                    .Dispose(),
            () =>
                records.SequenceEqual(_fixture.Records) ? DamageOutcome.Harmless
                : records.SequenceEqual(_fixture.Records[..^1]) ? DamageOutcome.Cut
                : DamageOutcome.Silent
        );
    }

    /// <summary>Opens the store of positions.</summary>
    public DamageOutcome Positions(SimulatedDisk disk)
    {
        var found = new List<long>();
        return State(
            disk,
            () =>
            {
                using var store = OffsetStore.Open(DamageFixture.Groups, _environment);
                found.AddRange(
                    _fixture.Positions.Keys.Select(key => store.TryGet(key, out long offset, out _) ? offset : -1)
                );
            },
            () =>
                found.SequenceEqual(_fixture.Positions.Values) ? DamageOutcome.Harmless
                : found.SequenceEqual(_fixture.Positions.Values.Select(offset => offset - 1)) ? DamageOutcome.Cut
                : DamageOutcome.Silent
        );
    }

    private DamageOutcome State(SimulatedDisk disk, Action open, Func<DamageOutcome> compare)
    {
        _files.Insert(disk);
        try
        {
            open();
            DamageOutcome outcome = compare();
            Detail = outcome.ToString();
            return outcome;
        }
        catch (Exception error) when (error is JournalCorruptException or JournalFormatException)
        {
            Detail = error.Message;
            return DamageOutcome.Refused;
        }
    }

    /// <summary>
    /// The header page is written with a segment's first commit: damaged, it looks as torn as that commit would.
    /// </summary>
    private bool HasIntactHeader(SimulatedDisk disk, string path) =>
        disk.Find(path) is SimulatedFile file
        && file.Current.Length >= SegmentHeader.PageSize
        && file.Current[..SegmentHeader.PageSize]
            .SequenceEqual(((SimulatedFile)_fixture.Disk.Find(path)!).Current[..SegmentHeader.PageSize]);

    private DamageOutcome Read(
        Journal journal,
        ProducerState producers,
        StoredBatch[] damaged,
        StoredBatch[] unreachable,
        StoredBatch[] intact
    )
    {
        (List<(long Offset, byte[] Bytes)> delivered, List<LogGap> gaps) = LogContent.Read(journal);
        Detail =
            $"end {journal.EndOffset} of {_fixture.View.End}, {delivered.Count} of {_fixture.Batches.Count} batches, "
            + $"gaps: {string.Join(", ", gaps)}";
        foreach ((long offset, byte[] bytes) in delivered)
        {
            if (
                _fixture.Batches.Find(batch => batch.BaseOffset == offset) is not { } stored
                || !stored.Bytes.AsSpan().SequenceEqual(bytes)
            )
            {
                return DamageOutcome.Silent;
            }
        }
        if (!IsDense(journal.EndOffset, delivered, gaps))
            return DamageOutcome.Silent;
        if (journal.EndOffset < _fixture.View.End)
        {
            // What lies in front of the end and was proven is a gap; the end is the first place that nothing proves.
            StoredBatch? end = unreachable.FirstOrDefault(batch => !gaps.Exists(gap => IsWithin(batch, gap)));
            bool unprovable =
                !_fixture.IsStopped
                && journal.EndOffset == end?.BaseOffset
                && !intact.Any(batch =>
                    batch.BaseOffset > journal.EndOffset && batch.ProvesDurable > journal.EndOffset
                );
            return unprovable ? DamageOutcome.Cut : DamageOutcome.Silent;
        }
        if (gaps.Count > 0)
        {
            return
                damaged.All(batch => gaps.Exists(gap => IsWithin(batch, gap)))
                && gaps[0].FirstOffset == damaged[0].BaseOffset
                ? DamageOutcome.Gap
                : DamageOutcome.Silent;
        }

        return producers.LastNumbers.GetValueOrDefault(5ul) == _fixture.View.Batches[^1].Number
            ? DamageOutcome.Harmless
            : DamageOutcome.Silent;
    }

    private static bool IsWithin(StoredBatch batch, LogGap gap) =>
        gap.Reason == GapReason.Corrupt
        && gap.FirstOffset <= batch.BaseOffset
        && gap.LastOffset >= batch.NextOffset - 1;

    /// <summary>Whether every offset was either delivered once or reported once.</summary>
    private bool IsDense(long end, List<(long Offset, byte[] Bytes)> delivered, List<LogGap> gaps)
    {
        long expected = 0;
        foreach (
            (long first, long next) in delivered
                .Select(batch =>
                    (batch.Offset, _fixture.Batches.Find(stored => stored.BaseOffset == batch.Offset)!.NextOffset)
                )
                .Concat(gaps.Select(gap => (gap.FirstOffset, gap.LastOffset + 1)))
                .Order()
        )
        {
            if (first != expected)
                return false;
            expected = next;
        }
        return expected == end;
    }
}
