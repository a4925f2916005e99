using System.Text;
using LightQ.Storage;
using LightQ.Storage.Files;
using LightQ.Storage.State;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.Tests.Storage.Faults;

/// <summary>The disk says EIO once and OK afterwards; what it should have written is lost.</summary>
public sealed class SyncErrorTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    [Fact]
    [Trait("Fault", "D4")]
    [Trait("Tier", "C")]
    public void No_ack_follows_a_sync_error_and_a_restart_has_everything_acknowledged()
    {
        var run = new FaultRun("D4.journal", "one sync says EIO and loses its pages, later ones say OK");
        var violations = new List<string>();
        int syncs = FaultRun.Times(15, 120, 120);
        for (int failing = 0; failing < syncs; failing++)
            FailSync(run, failing, violations);
        run.Count("violations", violations.Count);
        run.Report();
        Assert.True(violations.Count == 0, $"Seed {run.Seed}: {string.Join('\n', violations.Take(20))}");
        Assert.True(run["fenced"] > syncs / 4, "Hardly any error reached a journal.");
    }

    [Fact]
    [Trait("Fault", "D4")]
    public void A_catalog_that_could_not_sync_refuses_and_keeps_what_it_acknowledged()
    {
        for (int failing = 0; failing < 30; failing++)
        {
            var files = new SimulatedFileSystem(new SimulatedDisk()) { FailsSync = NthSync("/data/catalog/", failing) };
            var acknowledged = new List<string>();
            using JournalEnvironment environment = CrashWorkload.Environment(files, new ManualClock());
            bool failed = false;
            try
            {
                using var catalog = RecordJournal.Open("/data/catalog", environment, _ => { });
                for (int i = 0; i < 20; i++)
                    failed |= !TryAppend(catalog, $"record {i}", acknowledged, mayWork: !failed);
            }
            catch (IOException)
            {
                failed = true; // Opening or closing it.
            }
            // Making the file, then the records. Only the mark at the end may fail unsaid.
            Assert.Equal(failing < 21, failed);
            foreach (CrashKind kind in Enum.GetValues<CrashKind>())
            {
                var after = new SimulatedFileSystem(files.Crash(kind, new Random(failing)));
                using JournalEnvironment again = CrashWorkload.Environment(after, new ManualClock());
                var found = new List<string>();
                RecordJournal
                    .Open("/data/catalog", again, record => found.Add(Encoding.UTF8.GetString(record)))
                    .Dispose();
                Assert.Equal(acknowledged, found.Take(acknowledged.Count));
                Assert.InRange(found.Count, acknowledged.Count, acknowledged.Count + 1);
            }
        }
    }

    [Theory]
    [InlineData((int)DiskOperationKind.CreateFile)]
    [InlineData((int)DiskOperationKind.SetLength)]
    [InlineData((int)DiskOperationKind.Rename)]
    [Trait("Fault", "D4")]
    public void A_segment_that_finds_no_space_waits_for_it(int kind)
    {
        var files = new SimulatedFileSystem(new SimulatedDisk());
        using JournalEnvironment environment = CrashWorkload.Environment(files, new ManualClock());
        var model = new JournalModel(
            files,
            CrashWorkload.Small(new JournalOptions { Directory = "/data/topic", TopicId = Guid.NewGuid() })
        );
        model.Open(environment);
        files.Before = operation =>
        {
            if ((int)operation.Kind == kind && operation.Path.Contains(".seg", StringComparison.Ordinal))
                Full(operation);
        };
        Journal journal = model.Journal!;
        Append(model, 1);
        Assert.True(SpinWait.SpinUntil(() => journal.DiskFull, Limit));
        Assert.Null(journal.Failure);
        Assert.Equal(0, model.ViewAt(files.Now).Durable);
        files.Before = _ => { };
        environment.Housekeeping.RunOnce();
        Assert.True(SpinWait.SpinUntil(() => journal.DurableOffset == journal.EndOffset, Limit));
        Assert.False(journal.DiskFull);
        model.Close(abandon: false);
    }

    private static void FailSync(FaultRun run, int failing, List<string> violations)
    {
        Random random = run.RandomFor(failing);
        var files = new SimulatedFileSystem(new SimulatedDisk()) { FailsSync = NthSync("/data/topic", failing) };
        using JournalEnvironment environment = CrashWorkload.Environment(files, new ManualClock());
        var model = new JournalModel(
            files,
            CrashWorkload.Small(
                new JournalOptions
                {
                    Directory = "/data/topic",
                    TopicId = Guid.NewGuid(),
                    RetentionBytes = 40_000,
                }
            )
        );
        try
        {
            model.Open(environment);
        }
        catch (StorageIOException)
        {
            run.Count("not opened");
        }
        if (model.Journal is { } journal)
        {
            for (int commit = 0; commit < 60 && journal.Failure is null; commit++)
            {
                Append(model, random.Next(1, 4));
                Settle(journal);
                if (commit % 8 == 0)
                    model.Keep(environment.Housekeeping.RunOnce);
            }
            if (journal.Failure is not null)
                CheckFenced(run, model, journal, files, violations, failing);
            model.Close(abandon: true);
        }
        foreach (CrashKind kind in Enum.GetValues<CrashKind>())
        {
            var after = new SimulatedFileSystem(files.Crash(kind, random));
            using JournalEnvironment again = CrashWorkload.Environment(after, new ManualClock());
            var check = new CrashCheck(kind, message => violations.Add($"sync {failing}, {kind}: {message}"));
            check
                .OpenJournal(after, again, model.Options, model.ViewAt(files.Now))
                ?.AbandonAsync()
                .GetAwaiter()
                .GetResult();
            run.Count("restarts");
        }
    }

    private static void CheckFenced(
        FaultRun run,
        JournalModel model,
        Journal journal,
        SimulatedFileSystem files,
        List<string> violations,
        int failing
    )
    {
        run.Count("fenced");
        long acknowledged = model.ViewAt(files.Now).Durable;
        if (journal.TryAppend(TestBatch.Make(1), out _, out _) != AppendResult.Failed)
            violations.Add($"sync {failing}: the journal takes batches after it failed");
        journal.Signal();
        Settle(journal);
        if (model.ViewAt(files.Now).Durable != acknowledged)
        {
            violations.Add(
                $"sync {failing}: {acknowledged} was acknowledged before the failure, "
                    + $"{model.ViewAt(files.Now).Durable} after it"
            );
        }

        if (!model.WasToldOfFailure)
            violations.Add($"sync {failing}: nobody was told");
        (List<(long Offset, byte[] Bytes)> batches, List<LogGap> gaps) = LogContent.Read(journal);
        if (gaps.Count > 0 || (acknowledged > journal.StartOffset && batches.Count == 0))
            violations.Add($"sync {failing}: reading does not go on");
    }

    private static void Append(JournalModel model, int batches)
    {
        for (int i = 0; i < batches && model.Journal!.Failure is null; i++)
            model.Append(200 + i);
        model.Journal!.Signal();
    }

    private static void Settle(Journal journal) =>
        Assert.True(
            SpinWait.SpinUntil(
                () => journal.IsIdle && (journal.Failure is not null || journal.DurableOffset == journal.EndOffset),
                Limit
            )
        );

    private static bool TryAppend(RecordJournal catalog, string record, List<string> acknowledged, bool mayWork)
    {
        try
        {
            catalog.Append(Encoding.UTF8.GetBytes(record));
        }
        catch (IOException)
        {
            return false;
        }
        Assert.True(mayWork, "A record was taken after the failure.");
        acknowledged.Add(record);
        return true;
    }

    private static Func<string, bool> NthSync(string directory, int number)
    {
        int seen = -1;
        return path =>
            path.StartsWith(directory, StringComparison.Ordinal) && Interlocked.Increment(ref seen) == number;
    }

    private static void Full(DiskOperation operation) => throw new StorageIOException("write", operation.Path, 28);
}
