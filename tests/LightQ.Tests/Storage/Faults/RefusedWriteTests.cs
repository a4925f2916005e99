using System.Text;
using LightQ.Storage;
using LightQ.Storage.Files;
using LightQ.Storage.State;
using Xunit;

namespace LightQ.Tests.Storage.Faults;

/// <summary>
/// The disk refuses, once or for a while: what is waited for, what is written anew, and what is final.
/// </summary>
[Trait("Fault", "D4")]
public sealed class RefusedWriteTests
{
    private const int IOError = 5,
        NoSpace = 28,
        QuotaExceeded = 122;
    private const string Positions = "/data/groups",
        Catalog = "/data/catalog",
        Log = "/data/topic";
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    private readonly SimulatedFileSystem _files = new(new SimulatedDisk());

    [Fact]
    public void Positions_whose_sync_fails_are_written_into_a_new_file_all_of_them()
    {
        using JournalEnvironment environment = CrashWorkload.Environment(_files, new ManualClock());
        var told = new List<string?>();
        OffsetKey early = new("billing", Guid.Empty, 0),
            late = new("shipping", Guid.Empty, 0);
        var store = OffsetStore.Open(Positions, environment, failure => told.Add(failure?.Reason));
        store.Set(early, 1);
        store.Flush();
        int left = 1;
        _files.FailsSync = path =>
            path.StartsWith(Positions, StringComparison.Ordinal) && Interlocked.Decrement(ref left) >= 0;
        store.Set(late, 2);
        environment.Housekeeping.RunOnce();
        Assert.Null(store.Failure);
        Assert.Equal(2, told.Count);
        Assert.Contains("positions of groups", told[0], StringComparison.Ordinal);
        Assert.Null(told[1]);
        store.Set(early, 3); // What comes behind the error is kept, too.
        environment.Housekeeping.RunOnce();
        AssertPositions((early, 3), (late, 2));
        store.Dispose();
        AssertPositions((early, 3), (late, 2));
    }

    [Fact]
    public void Positions_that_no_file_takes_say_so_and_are_stored_as_soon_as_one_does()
    {
        using JournalEnvironment environment = CrashWorkload.Environment(_files, new ManualClock());
        var told = new List<string?>();
        var key = new OffsetKey("billing", Guid.Empty, 0);
        using var store = OffsetStore.Open(Positions, environment, failure => told.Add(failure?.Reason));
        store.Set(key, 1);
        store.Flush();
        _files.FailsSync = path => path.StartsWith(Positions, StringComparison.Ordinal);
        store.Set(key, 2);
        for (int i = 0; i < 3; i++)
            environment.Housekeeping.RunOnce();
        Assert.Contains("positions of groups", store.Failure?.Reason, StringComparison.Ordinal);
        Assert.Throws<StorageIOException>(store.Flush);
        Assert.Single(told);
        AssertPositions((key, 1));
        _files.FailsSync = _ => false;
        environment.Housekeeping.RunOnce();
        Assert.Null(store.Failure);
        Assert.Equal([false, true], told.Select(t => t is null));
        AssertPositions((key, 2));
    }

    [Theory]
    [InlineData(NoSpace)]
    [InlineData(QuotaExceeded)]
    public void Positions_wait_for_space_and_are_stored_when_it_returns(int error)
    {
        using JournalEnvironment environment = CrashWorkload.Environment(_files, new ManualClock());
        var key = new OffsetKey("billing", Guid.Empty, 0);
        using var store = OffsetStore.Open(Positions, environment);
        _files.Before = Refuse(error, operation => operation.Kind == DiskOperationKind.Write);
        store.Set(key, 7);
        environment.Housekeeping.RunOnce();
        Assert.True(DiskError.IsFull(store.Failure!.Exception));
        _files.Before = _ => { };
        environment.Housekeeping.RunOnce();
        Assert.Null(store.Failure);
        AssertPositions((key, 7));
    }

    [Fact]
    public void A_failed_journal_of_records_goes_on_in_a_new_file_with_what_it_is_given()
    {
        using JournalEnvironment environment = CrashWorkload.Environment(_files, new ManualClock());
        using var journal = RecordJournal.Open(Catalog, environment, _ => { });
        journal.Append("kept"u8);
        _files.FailsSync = _ => true;
        Assert.Throws<StorageIOException>(() => journal.Append("lost"u8));
        Assert.True(journal.HasFailed);
        Assert.Throws<StorageIOException>(() => journal.Compact([Bytes("kept")]));
        Assert.True(journal.HasFailed);
        _files.FailsSync = _ => false;
        journal.Compact([Bytes("kept")]);
        journal.Append("more"u8);
        Assert.Equal(["kept", "more"], Records(CrashKind.SyncedOnly));
        Assert.Equal(["kept", "more"], Records(CrashKind.All));
    }

    [Fact]
    public void A_file_whose_name_could_not_be_synced_takes_no_records()
    {
        using JournalEnvironment environment = CrashWorkload.Environment(_files, new ManualClock());
        using var journal = RecordJournal.Open(Catalog, environment, _ => { });
        journal.Append("old"u8);
        _files.Before = Refuse(IOError, operation => operation.Kind == DiskOperationKind.SyncDirectory);
        Assert.Throws<StorageIOException>(() => journal.Compact([Bytes("new")]));
        _files.Before = _ => { };
        List<string> acknowledged = [];
        try
        {
            journal.Append("more"u8);
            acknowledged.Add("more");
        }
        catch (IOException)
        {
            journal.Compact([Bytes("new")]);
        }
        journal.Append("most"u8);
        foreach (CrashKind kind in Enum.GetValues<CrashKind>())
            Assert.Equal(["new", .. acknowledged, "most"], Records(kind));
    }

    [Theory]
    [InlineData(NoSpace)]
    [InlineData(QuotaExceeded)]
    public void Batches_that_cannot_be_written_for_want_of_space_wait_for_it(int error)
    {
        using JournalEnvironment environment = CrashWorkload.Environment(_files, new ManualClock());
        (JournalModel model, Journal journal) = Open(environment);
        Append(journal, 1);
        _files.Before = Refuse(error, IsSegmentWrite);
        Assert.Equal(AppendResult.Appended, journal.TryAppend(TestBatch.Make(2), out _, out _));
        journal.Signal();
        WaitFor(() => journal.DiskFull);
        Assert.Equal(AppendResult.DiskFull, journal.TryAppend(TestBatch.Make(3), out _, out _));
        environment.Housekeeping.RunOnce();
        WaitFor(() => journal.IsIdle);
        Assert.Equal((1, true), (journal.DurableOffset, journal.DiskFull));
        _files.Before = _ => { };
        environment.Housekeeping.RunOnce();
        WaitFor(() => journal.DurableOffset == 2 && journal.IsIdle);
        Assert.False(journal.DiskFull);
        Assert.Null(journal.Failure);
        Append(journal, 4);
        model.Close(abandon: true);
        Assert.Equal([1, 2, 4], Numbers());
    }

    [Theory]
    [InlineData(DiskOperationKind.CreateFile, ".seg")]
    [InlineData(DiskOperationKind.SetLength, ".seg")]
    [InlineData(DiskOperationKind.Write, ".seg")]
    [InlineData(DiskOperationKind.Rename, ".seg")]
    [InlineData(DiskOperationKind.Write, "checkpoint")]
    internal void A_disk_that_is_full_at_any_step_of_a_first_batch_is_waited_for(DiskOperationKind kind, string file)
    {
        using JournalEnvironment environment = CrashWorkload.Environment(_files, new ManualClock());
        (JournalModel model, Journal journal) = Open(environment);
        _files.Before = Refuse(
            NoSpace,
            operation => operation.Kind == kind && operation.Path.Contains(file, StringComparison.Ordinal)
        );
        Assert.Equal(AppendResult.Appended, journal.TryAppend(TestBatch.Make(1), out _, out _));
        journal.Signal();
        WaitFor(() => journal.DiskFull);
        Assert.Null(journal.Failure);
        _files.Before = _ => { };
        environment.Housekeeping.RunOnce();
        WaitFor(() => journal.DurableOffset == 1);
        model.Close(abandon: true);
        Assert.Equal([1], Numbers());
    }

    [Theory]
    [InlineData(".seg")]
    [InlineData("checkpoint")]
    public void Want_of_space_that_a_sync_reports_is_final(string file)
    {
        using JournalEnvironment environment = CrashWorkload.Environment(_files, new ManualClock());
        (JournalModel model, Journal journal) = Open(environment);
        bool isSegment = file == ".seg";
        if (isSegment)
            Append(journal, 1);
        _files.SyncError = NoSpace;
        // The checkpoint is synced before the first byte behind a rest.
        _files.FailsSync = path => path.Contains(file, StringComparison.Ordinal);
        journal.TryAppend(TestBatch.Make(2), out _, out _);
        journal.Signal();
        WaitFor(() => journal.Failure is not null || journal.DiskFull);
        Assert.NotNull(journal.Failure);
        _files.FailsSync = _ => false;
        environment.Housekeeping.RunOnce();
        Assert.Equal(AppendResult.Failed, journal.TryAppend(TestBatch.Make(3), out _, out _));
        Assert.Equal(isSegment ? 1 : 0, journal.DurableOffset);
        model.Close(abandon: true);
    }

    [Fact]
    public void Retention_that_cannot_be_noted_for_want_of_space_removes_nothing_yet()
    {
        var clock = new ManualClock();
        using JournalEnvironment environment = CrashWorkload.Environment(_files, clock);
        (JournalModel model, Journal journal) = Open(
            environment,
            options => options with { RetentionAge = TimeSpan.FromMinutes(1) }
        );
        for (int i = 1; i <= 40; i++)
            Append(journal, i);
        clock.Advance(TimeSpan.FromHours(1));
        _files.Before = Refuse(NoSpace, operation => operation.Path.EndsWith("checkpoint", StringComparison.Ordinal));
        environment.Housekeeping.RunOnce();
        environment.Housekeeping.RunOnce();
        Assert.Null(journal.Failure);
        Assert.Equal(Enumerable.Range(1, 40), Numbers()); // As a start behind a kill now finds it.
        _files.Before = _ => { };
        environment.Housekeeping.RunOnce();
        Assert.Equal(40, journal.StartOffset);
        model.Close(abandon: true);
        Assert.Empty(Numbers());
    }

    private static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text);

    private static bool IsSegmentWrite(DiskOperation operation) =>
        operation.Kind == DiskOperationKind.Write && operation.Path.Contains(".seg", StringComparison.Ordinal);

    private static Action<DiskOperation> Refuse(int error, Func<DiskOperation, bool> isRefused) =>
        operation =>
        {
            if (isRefused(operation))
            {
                throw new StorageIOException(
                    operation.Kind == DiskOperationKind.SyncDirectory ? StorageIOException.SyncDirectory : "write",
                    operation.Path,
                    error
                );
            }
        };

    private static void WaitFor(Func<bool> condition) =>
        Assert.True(SpinWait.SpinUntil(condition, Limit), "It did not become true in time.");

    private static void Append(Journal journal, int number)
    {
        Assert.Equal(AppendResult.Appended, journal.TryAppend(TestBatch.Make(number, bodyBytes: 1000), out _, out _));
        journal.Signal();
        WaitFor(() => journal.DurableOffset == journal.EndOffset && journal.IsIdle);
    }

    private (JournalModel Model, Journal Journal) Open(
        JournalEnvironment environment,
        Func<JournalOptions, JournalOptions>? shape = null
    )
    {
        JournalOptions options = CrashWorkload.Small(new JournalOptions { Directory = Log, TopicId = Guid.Empty });
        var model = new JournalModel(_files, shape?.Invoke(options) ?? options);
        model.Open(environment);
        return (model, model.Journal!);
    }

    /// <summary>The batches that a start behind a kill finds.</summary>
    private List<int> Numbers()
    {
        var after = new SimulatedFileSystem(_files.Crash(CrashKind.All, new Random(1)));
        using JournalEnvironment environment = CrashWorkload.Environment(after, new ManualClock());
        Journal journal = Journal.Open(
            CrashWorkload.Small(new JournalOptions { Directory = Log, TopicId = Guid.Empty }),
            environment
        );
        (List<(long Offset, byte[] Bytes)> batches, List<LogGap> gaps) = LogContent.Read(journal);
        Assert.Empty(gaps);
        journal.AbandonAsync().GetAwaiter().GetResult();
        return [.. batches.Select(b => TestBatch.NumberOf(new LightQ.Protocol.Batches.BatchView(b.Bytes)))];
    }

    /// <summary>The records that a start finds.</summary>
    private List<string> Records(CrashKind kind)
    {
        var after = new SimulatedFileSystem(_files.Crash(kind, new Random(1)));
        using JournalEnvironment environment = CrashWorkload.Environment(after, new ManualClock());
        var found = new List<string>();
        RecordJournal.Open(Catalog, environment, record => found.Add(Encoding.UTF8.GetString(record))).Dispose();
        return found;
    }

    /// <summary>What a start finds behind a kill and behind a power cut.</summary>
    private void AssertPositions(params (OffsetKey Key, long Offset)[] expected)
    {
        foreach (CrashKind kind in new[] { CrashKind.All, CrashKind.SyncedOnly })
        {
            var after = new SimulatedFileSystem(_files.Crash(kind, new Random(1)));
            using JournalEnvironment environment = CrashWorkload.Environment(after, new ManualClock());
            using var store = OffsetStore.Open(Positions, environment);
            foreach ((OffsetKey key, long offset) in expected)
            {
                Assert.True(store.TryGet(key, out long found, out _));
                if (kind == CrashKind.SyncedOnly)
                    Assert.Equal(offset, found);
                else
                    // A process that was killed may leave more than it has promised.
                    Assert.InRange(found, offset, long.MaxValue);
            }
        }
    }
}
