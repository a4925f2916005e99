using System.Text;
using LightQ.Storage;
using LightQ.Storage.Segments;
using LightQ.Storage.State;

namespace LightQ.Tests.Storage.Faults;

/// <summary>A small broker's storage with known content, everything on the disk, stopped or killed.</summary>
internal sealed class DamageFixture
{
    public const string Topic = "/data/topics/a/0";
    public const string OtherTopic = "/data/topics/b/0";
    public const string Catalog = "/data/catalog";
    public const string Groups = "/data/groups";

    private const int Commits = 16;

    public DamageFixture(bool stopped, int seed)
    {
        IsStopped = stopped;
        var files = new SimulatedFileSystem(new SimulatedDisk());
        using (JournalEnvironment environment = CrashWorkload.Environment(files, new ManualClock()))
        {
            View = Fill(files, environment, Options, new Random(seed), stopped);
            Fill(files, environment, OtherOptions, new Random(seed), stopped);
            FillState(environment);
        }
        Disk = files.Crash(CrashKind.All, new Random(seed));
        Locate();
    }

    public bool IsStopped { get; }

    public SimulatedDisk Disk { get; }

    /// <summary>What the topic holds and what was acknowledged.</summary>
    public JournalView View { get; }

    /// <summary>Every batch as it is stored, and where.</summary>
    public List<StoredBatch> Batches { get; } = [];

    public string[] Records { get; } =
    [.. Enumerable.Range(0, 6).Select(number => $"record {number} {new string('r', 40 * number)}")];

    public Dictionary<OffsetKey, long> Positions { get; } =
        new()
        {
            [new OffsetKey("billing", new Guid(1, 0, 0, new byte[8]), 0)] = 10,
            [new OffsetKey("audit", new Guid(1, 0, 0, new byte[8]), 0)] = 20,
        };

    public JournalOptions Options { get; } = Tiny(Topic, 1);

    /// <summary>Another topic with the same messages at the same offsets.</summary>
    public JournalOptions OtherOptions { get; } = Tiny(OtherTopic, 2);

    private static JournalOptions Tiny(string directory, int id) =>
        new()
        {
            Directory = directory,
            TopicId = new Guid(id, 0, 0, new byte[8]),
            RingBytes = 16 * 1024,
            SegmentBytes = 8 * 1024,
            MaxBatchBytes = 2 * 1024,
        };

    private static JournalView Fill(
        SimulatedFileSystem files,
        JournalEnvironment environment,
        JournalOptions options,
        Random random,
        bool stopped
    )
    {
        var model = new JournalModel(files, options);
        model.Open(environment);
        for (int commit = 0, number = 0; commit < Commits; commit++)
        {
            for (int i = random.Next(1, 4); i > 0; i--)
            {
                number++;
                model.Append(TestBatch.Make(number, 280, 1, 5), 5, number);
            }
            model.Journal!.Signal();
            Journal journal = model.Journal;
            if (
                !SpinWait.SpinUntil(
                    () => journal.IsIdle && journal.DurableOffset == journal.EndOffset,
                    TimeSpan.FromSeconds(60)
                )
            )
            {
                throw new TimeoutException("The journal did not write in time.");
            }
        }
        model.Close(abandon: !stopped);
        return model.ViewAt(files.Now);
    }

    private void FillState(JournalEnvironment environment)
    {
        using (var catalog = RecordJournal.Open(Catalog, environment, _ => { }))
        {
            foreach (string record in Records)
                catalog.Append(Encoding.UTF8.GetBytes(record));
        }
        using var positions = OffsetStore.Open(Groups, environment);
        for (int i = 0; i < 5; i++)
        {
            foreach ((OffsetKey key, long offset) in Positions)
                positions.Set(key, offset - 4 + i);
            positions.Flush();
        }
    }

    private void Locate()
    {
        var files = new SimulatedFileSystem(Disk.Clone());
        using JournalEnvironment environment = CrashWorkload.Environment(files, new ManualClock());
        Journal journal = Journal.Open(Options, environment);
        foreach ((long offset, byte[] bytes) in LogContent.Read(journal).Batches)
        {
            Segment segment = journal.Log.Segments.FindOffset(offset)!;
            long position =
                Batches.Count > 0 && Batches[^1].Path == segment.Path
                    ? Batches[^1].FilePosition + Batches[^1].Bytes.Length
                    : SegmentHeader.PageSize;
            Batches.Add(new StoredBatch(segment.Path, position, offset, bytes));
        }
        journal.AbandonAsync().GetAwaiter().GetResult();
    }
}
