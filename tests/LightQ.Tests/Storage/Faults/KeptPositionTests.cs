using LightQ.Storage;
using LightQ.Storage.State;
using Xunit;

namespace LightQ.Tests.Storage.Faults;

/// <summary>
/// Which positions a start would find, whatever ends the process or the machine: what retention may count on.
/// </summary>
public sealed class KeptPositionTests
{
    private const string Positions = "/data/groups";
    private static readonly OffsetKey Key = new("billing", Guid.Empty, 0);

    private readonly SimulatedFileSystem _files = new(new SimulatedDisk());

    [Fact]
    public void A_position_is_kept_when_it_is_synced_and_not_before()
    {
        using JournalEnvironment environment = CrashWorkload.Environment(_files, new ManualClock());
        using var store = OffsetStore.Open(Positions, environment);
        store.Set(Key, 5);
        Assert.False(store.TryGetKept(Key, out _));
        store.Flush();
        Assert.Equal(5, Kept(store));
        store.Set(Key, 9);
        Assert.Equal(5, Kept(store));
        long whileSyncing = -1;
        _files.BeforeSync = _ => whileSyncing = Kept(store);
        store.Flush();
        Assert.Equal((5, 9), (whileSyncing, Kept(store)));
    }

    [Fact]
    public void A_position_that_goes_back_counts_from_the_moment_at_which_the_disk_may_have_it()
    {
        using JournalEnvironment environment = CrashWorkload.Environment(_files, new ManualClock());
        using var store = OffsetStore.Open(Positions, environment);
        store.Set(Key, 9);
        store.Flush();
        store.Set(Key, 2);
        long whileSyncing = -1;
        _files.BeforeSync = _ =>
        {
            whileSyncing = Kept(store);
            store.Set(Key, 20); // Further than before: what is just being written is found all the same.
        };
        store.Flush();
        Assert.Equal((2, 2), (whileSyncing, Kept(store)));
        _files.BeforeSync = static _ => { };
        store.Flush();
        Assert.Equal(20, Kept(store));
    }

    [Fact]
    public void A_position_whose_sync_fails_is_not_kept_until_a_new_file_has_it()
    {
        using JournalEnvironment environment = CrashWorkload.Environment(_files, new ManualClock());
        using var store = OffsetStore.Open(Positions, environment);
        store.Set(Key, 5);
        store.Flush();
        _files.FailsSync = path => path.StartsWith(Positions, StringComparison.Ordinal);
        store.Set(Key, 9);
        Assert.ThrowsAny<IOException>(store.Flush);
        Assert.Equal(5, Kept(store));
        _files.FailsSync = static _ => false;
        store.Flush();
        Assert.Equal(9, Kept(store));
    }

    [Fact]
    public void What_a_killed_process_has_left_in_the_page_cache_is_kept_from_the_start_that_finds_it()
    {
        SimulatedDisk? left = null;
        using (JournalEnvironment environment = CrashWorkload.Environment(_files, new ManualClock()))
        {
            using var store = OffsetStore.Open(Positions, environment);
            store.Set(Key, 5);
            store.Flush();
            store.Set(Key, 9);
            _files.BeforeSync = _ => left ??= _files.Crash(CrashKind.All, new Random(1));
            store.Flush();
        }
        var files = new SimulatedFileSystem(left!);
        Assert.Equal(5, AfterPowerCut(files));
        using JournalEnvironment next = CrashWorkload.Environment(files, new ManualClock());
        using var found = OffsetStore.Open(Positions, next);
        Assert.True(found.TryGet(Key, out long offset, out _));
        Assert.Equal((9, 9, 9), (offset, Kept(found), AfterPowerCut(files)));
    }

    [Fact]
    public void A_position_that_was_removed_may_be_found_until_that_is_synced()
    {
        using JournalEnvironment environment = CrashWorkload.Environment(_files, new ManualClock());
        using var store = OffsetStore.Open(Positions, environment);
        store.Set(Key, 5);
        store.Flush();
        store.Remove(Key);
        Assert.True(store.IsForgetting(Guid.Empty));
        Assert.False(store.IsForgetting(Guid.NewGuid()));
        _files.BeforeSync = _ => Assert.True(store.IsForgetting(Guid.Empty));
        store.Flush();
        _files.BeforeSync = static _ => { };
        Assert.False(store.IsForgetting(Guid.Empty));
        store.Set(Key, 7); // Made again under the same name.
        Assert.False(store.TryGetKept(Key, out _));
        store.Flush();
        Assert.Equal(7, Kept(store));
    }

    private static long Kept(OffsetStore store) => store.TryGetKept(Key, out long kept) ? kept : -1;

    private static long AfterPowerCut(SimulatedFileSystem files)
    {
        var left = new SimulatedFileSystem(files.Crash(CrashKind.SyncedOnly, new Random(1)));
        using JournalEnvironment environment = CrashWorkload.Environment(left, new ManualClock());
        using var store = OffsetStore.Open(Positions, environment);
        return store.TryGet(Key, out long offset, out _) ? offset : -1;
    }
}
