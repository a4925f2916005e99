using LightQ.Protocol.Batches;
using LightQ.Storage;
using LightQ.Storage.Files;
using LightQ.Storage.Inspection;
using LightQ.Storage.Recovery;
using LightQ.Storage.Segments;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.Tests.Storage.Faults;

/// <summary>
/// What clients publish does not change what recovery decides: not where it cuts, and not that it reports what had been
/// synced.
/// </summary>
public sealed class TornTailTests
{
    private const string Directory = "/data/topics/a/0";
    private const int LastCommit = 4;
    private const int ContentBytes = 400;

    /// <summary>Batches of each commit; of the last nothing shows that it was synced.</summary>
    private static readonly int[] Commits = [1, 1, 1, LastCommit];

    private static readonly JournalOptions Options = new()
    {
        Directory = Directory,
        TopicId = new Guid(1, 0, 0, new byte[8]),
        RingBytes = 16 * 1024,
        SegmentBytes = 16 * 1024,
        MaxBatchBytes = 2 * 1024,
    };

    public static TheoryData<string, string> Forgeries()
    {
        var data = new TheoryData<string, string>();
        foreach (string content in ForgedBodies.Contents.Keys)
        {
            foreach (string place in ForgedBodies.Places.Keys)
                data.Add(content, place);
        }
        return data;
    }

    /// <summary>
    /// The last commit reaches the disk up to any byte; or all of it but a stretch, since one write may reach it out of
    /// order.
    /// </summary>
    [Theory]
    [MemberData(nameof(Forgeries))]
    [Trait("Tier", "C")]
    public void The_last_commit_is_cut_at_its_first_batch_that_is_not_whole(string content, string place)
    {
        Log log = Make(content, place);
        int step = FaultRun.Times(5, 1, 1),
            hole = BatchLayout.HeaderSize / 2;
        for (int at = log.Batches[^LastCommit].At; at < log.End; at += step)
        {
            int from = at;
            Check(log, bytes => bytes.AsSpan(from).Clear());
            Check(log, bytes => bytes.AsSpan(from, Math.Min(hole, log.End - from)).Clear());
            Check(log, bytes => bytes.AsSpan(log.Batches[^LastCommit].At..from).Clear());
        }
    }

    /// <summary>One bit of what had been synced: the log is refused, or goes on with that batch reported.</summary>
    [Theory]
    [InlineData("harmless")]
    [InlineData("chained headers")]
    [InlineData("delivered batches")]
    [Trait("Tier", "C")]
    public void A_changed_bit_of_what_had_been_synced_is_reported_and_nothing_is_cut(string content)
    {
        Log log = Make(content, "body");
        (int firstUnproven, _) = log.Batches[^LastCommit];
        for (int at = SegmentHeader.PageSize; at < firstUnproven; at += FaultRun.Times(3, 1, 1))
        {
            int flipped = at;
            var files = new SimulatedFileSystem(log.With(bytes => bytes[flipped] ^= 0x10));
            try
            {
                RecoveredLog recovered = JournalRecovery.Run(Options, files, visitor: null);
                Assert.Equal(log.Batches.Count, recovered.End.Offset);
                JournalDamage damage = Assert.Single(recovered.Damage);
                Assert.Equal(log.Batches.FindLastIndex(batch => batch.At <= at), damage.FirstOffset);
            }
            catch (JournalCorruptException error)
            {
                Assert.Equal(log.Batches.FindLastIndex(batch => batch.At <= at), error.FirstOffset);
            }
        }
    }

    /// <summary>
    /// A batch is damaged, those behind it are whole, and what shows that all of them had been synced lies behind a
    /// torn one. A start that ends between the cut and its checkpoint must not make the next one forget it.
    /// </summary>
    [Fact]
    public void What_had_been_synced_stays_so_when_a_start_ends_behind_the_cut()
    {
        Log log = Make("harmless", "body", 3, 2);
        (int damaged, int torn) = (log.Batches[0].At + 120, log.Batches[^2].At);
        void Damage(byte[] bytes)
        {
            bytes[damaged] ^= 0x10;
            bytes.AsSpan(torn, BatchLayout.HeaderSize).Clear(); // The last batch behind it says what had been synced.
        }
        RecoveredLog whole = JournalRecovery.Run(Options, new SimulatedFileSystem(log.With(Damage)), visitor: null);
        Assert.Equal(log.Batches.Count - 2, whole.End.Offset);
        for (int after = 0; ; after++)
        {
            SimulatedDisk disk = log.With(Damage);
            var files = new SimulatedFileSystem(disk);
            int left = after;
            files.Before = _ =>
            {
                if (left-- == 0)
                    throw new StorageIOException("ended", "here", 5);
            };
            bool isDone = true;
            try
            {
                JournalRecovery.Run(Options, files, visitor: null);
            }
            catch (IOException)
            {
                isDone = false;
            }
            RecoveredLog again = JournalRecovery.Run(
                Options,
                new SimulatedFileSystem(files.Crash(CrashKind.All, new Random(1))),
                visitor: null
            );
            Assert.Equal(whole.End.Offset, again.End.Offset);
            if (isDone)
                break;
        }
    }

    private static void Check(Log log, Action<byte[]> tear)
    {
        SimulatedDisk disk = log.With(tear);
        var files = new SimulatedFileSystem(disk);
        int whole = log.CountWhole(disk);
        JournalReport report = JournalInspector.Inspect(Directory, Options.TopicId, files, null).Report;
        Assert.False(report.IsDamaged);
        Assert.False(JournalRepair.Plan(Directory, Options.TopicId, files).IsNeeded);
        RecoveredLog recovered = JournalRecovery.Run(Options, files, visitor: null);
        Assert.Equal(whole, recovered.End.Offset);
        Assert.Equal(whole, report.EndOffset);
        Assert.Empty(recovered.Damage);
        Assert.Equal(whole, log.CountWhole(disk));
        Assert.False(
            log.Content(disk)[(whole == 0 ? SegmentHeader.PageSize : log.EndOf(whole - 1))..].ContainsAnyExcept((byte)0)
        );
    }

    /// <summary>A log whose last commit has several batches, killed.</summary>
    private static Log Make(string content, string place, params int[] commits)
    {
        commits = commits.Length == 0 ? Commits : commits;
        var files = new SimulatedFileSystem(new SimulatedDisk());
        var delivered = new List<byte[]>();
        using (JournalEnvironment environment = CrashWorkload.Environment(files, new ManualClock()))
        {
            Journal journal = Journal.Open(Options, environment);
            foreach (int batches in commits)
            {
                for (int i = 0; i < batches; i++)
                {
                    byte[] bytes = new byte[ContentBytes];
                    ForgedBodies.Contents[content](bytes, delivered.Count > 0 ? delivered : [TestBatch.Make(0)]);
                    Assert.Equal(
                        AppendResult.Appended,
                        journal.TryAppend(ForgedBodies.Places[place](bytes), out _, out _)
                    );
                }
                journal.Signal();
                Assert.True(
                    SpinWait.SpinUntil(() => journal.DurableOffset == journal.EndOffset, TimeSpan.FromSeconds(60))
                );
                delivered = [.. LogContent.Read(journal).Batches.Select(found => found.Bytes)];
            }
            journal.AbandonAsync().GetAwaiter().GetResult();
        }
        return new Log(files.Crash(CrashKind.All, new Random(1)));
    }

    private sealed class Log
    {
        private readonly SimulatedDisk _disk;

        public Log(SimulatedDisk disk)
        {
            _disk = disk;
            Path = $"{Directory}/{SegmentName.Of(1, SegmentName.Log)}";
            Segment = ((SimulatedFile)disk.Find(Path)!).Current.ToArray();
            End = SegmentHeader.PageSize;
            for (int length; (length = BitConverter.ToInt32(Segment, End)) != 0; End += length)
                Batches.Add((End, length));
        }

        public string Path { get; }

        public byte[] Segment { get; }

        public List<(int At, int Length)> Batches { get; } = [];

        public int End { get; }

        public int EndOf(int batch) => Batches[batch].At + Batches[batch].Length;

        public ReadOnlySpan<byte> Content(SimulatedDisk disk) => ((SimulatedFile)disk.Find(Path)!).Current;

        /// <summary>How many batches of a disk are what was written, before the first that is not.</summary>
        public int CountWhole(SimulatedDisk disk)
        {
            ReadOnlySpan<byte> content = Content(disk);
            int whole = 0;
            while (
                whole < Batches.Count
                && content[Batches[whole].At..EndOf(whole)]
                    .SequenceEqual(Segment.AsSpan(Batches[whole].At, Batches[whole].Length))
            )
            {
                whole++;
            }

            return whole;
        }

        public SimulatedDisk With(Action<byte[]> damage)
        {
            SimulatedDisk disk = _disk.Clone();
            ((SimulatedFile)disk.Find(Path)!).Damage(bytes =>
            {
                damage(bytes);
                return bytes;
            });
            return disk;
        }
    }
}
