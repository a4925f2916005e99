using System.Text;
using LightQ.Storage;
using LightQ.Storage.Files;
using LightQ.Storage.Recovery;
using LightQ.Storage.State;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.Tests.Storage;

public sealed class RecordJournalTests : IDisposable
{
    private readonly string _directory = Directory
        .CreateDirectory(Path.Combine(Directory.CreateTempSubdirectory("lightq-records-").FullName, "records"))
        .FullName;
    private readonly JournalEnvironment _environment = new(new JournalEnvironmentOptions { Writers = 1, Readers = 1 });

    [Fact]
    public void Records_are_replayed_in_order()
    {
        using (RecordJournal journal = Open(out List<string> none))
        {
            Assert.Empty(none);
            for (int i = 0; i < 1000; i++)
                journal.Write(Encoding.UTF8.GetBytes($"record {i} {new string('x', i % 300)}"));
            journal.Append("last"u8);
        }
        using RecordJournal again = Open(out List<string> records);
        Assert.Equal(1001, records.Count);
        Assert.StartsWith("record 999 ", records[999], StringComparison.Ordinal);
        Assert.Equal("last", records[1000]);
    }

    [Fact]
    public void Compaction_replaces_the_records_and_later_ones_follow()
    {
        using (RecordJournal journal = Open(out _))
        {
            journal.Append("old"u8);
            journal.Compact(["a"u8.ToArray(), "b"u8.ToArray()]);
            journal.Append("c"u8);
        }
        using RecordJournal again = Open(out List<string> records);
        Assert.Equal(["a", "b", "c"], records);
        Assert.Single(Directory.GetFiles(_directory));
    }

    [Fact]
    public void A_compaction_that_finds_the_disk_full_leaves_the_old_records_to_which_more_are_appended()
    {
        var files = new FaultyFileSystem(PlatformFileSystem.Choose());
        using (
            var environment = new JournalEnvironment(new JournalEnvironmentOptions { Writers = 1, Readers = 1 }, files)
        )
        using (RecordJournal journal = RecordJournal.Open(_directory, environment, _ => { }))
        {
            journal.Append("old"u8);
            files.Before = (operation, path) =>
            {
                if (operation == "allocate")
                    throw StorageIOException.DiskFull(path);
            };
            Assert.False(journal.TryCompact(["new"u8.ToArray()]));
            journal.Append("more"u8);
        }
        Assert.Single(Directory.GetFiles(_directory));
        using (RecordJournal again = Open(out List<string> records))
        {
            Assert.Equal(["old", "more"], records);
            Assert.True(again.TryCompact(["new"u8.ToArray()]));
        }
        using RecordJournal compacted = Open(out List<string> after);
        Assert.Equal(["new"], after);
    }

    [Fact]
    public void A_tail_torn_at_any_byte_loses_only_the_last_record()
    {
        byte[] intact;
        string path;
        using (RecordJournal journal = Open(out _))
        {
            journal.Append("first"u8);
            journal.Append("second"u8);
            path = Directory.GetFiles(_directory).Single();
            intact = File.ReadAllBytes(path); // As a crash would leave it: closing puts a mark behind the last record.
        }
        int end = intact.AsSpan().LastIndexOfAnyExcept((byte)0) + 1;
        int start = 4096 + ((end - 4096) / 2);
        for (int cut = start; cut < end; cut++)
        {
            byte[] torn = (byte[])intact.Clone();
            torn.AsSpan(cut).Clear();
            File.WriteAllBytes(path, torn);
            File.Delete(RecordEnd.PathOf(_directory)); // It notes what is acknowledged: a torn record is not.
            using RecordJournal journal = Open(out List<string> records);
            Assert.Equal(torn.AsSpan().SequenceEqual(intact) ? ["first", "second"] : ["first"], records);
        }
    }

    [Fact]
    public void Damage_to_the_last_record_refuses_to_open_when_the_journal_was_closed()
    {
        using (RecordJournal journal = Open(out _))
        {
            journal.Append("first"u8);
            journal.Append("second"u8);
        }
        string path = Directory.GetFiles(_directory).Single();
        byte[] bytes = File.ReadAllBytes(path);
        bytes[bytes.AsSpan().LastIndexOf("second"u8)] ^= 1;
        File.WriteAllBytes(path, bytes);
        JournalCorruptException error = Assert.Throws<JournalCorruptException>(() => Open(out _));
        Assert.Equal(1, error.FirstOffset);
    }

    [Fact]
    public void Damage_before_the_last_record_refuses_to_open()
    {
        using (RecordJournal journal = Open(out _))
        {
            journal.Append("first"u8);
            journal.Append("second"u8);
            journal.Append("third"u8);
        }
        string path = Directory.GetFiles(_directory).Single();
        byte[] bytes = File.ReadAllBytes(path);
        bytes[4096 + 100] ^= 1;
        File.WriteAllBytes(path, bytes);
        JournalCorruptException error = Assert.Throws<JournalCorruptException>(() => Open(out _));
        Assert.Equal(0, error.FirstOffset);
    }

    [Fact]
    public void Positions_survive_a_restart_and_the_last_value_wins()
    {
        var topic = Guid.NewGuid();
        var a = new OffsetKey("billing", topic, 0);
        var b = new OffsetKey("billing", topic, 1);
        using (OffsetStore store = OffsetStore.Open(_directory, _environment))
        {
            for (int i = 0; i <= 100; i++)
                store.Set(a, i, [1, 2, (byte)i]);
            store.Flush();
            store.Set(a, 500, [9]);
            store.Set(b, 7);
            store.Flush();
            Assert.True(store.Remove(b));
            Assert.False(store.Remove(b));
        }
        using OffsetStore again = OffsetStore.Open(_directory, _environment);
        Assert.True(again.TryGet(a, out long offset, out ReadOnlyMemory<byte> state));
        Assert.Equal(500, offset);
        Assert.Equal([9], state.ToArray());
        Assert.False(again.TryGet(b, out _, out _));
        Assert.Equal([a], again.Keys);
    }

    [Fact]
    public void A_long_file_of_positions_is_compacted()
    {
        using (OffsetStore store = OffsetStore.Open(_directory, _environment))
        {
            byte[] state = new byte[10_000];
            for (int i = 0; i < 200; i++)
            {
                state[0] = (byte)i;
                store.Set(new OffsetKey("group", Guid.Empty, i % 3), i, state);
                store.Flush();
            }
        }
        using (OffsetStore again = OffsetStore.Open(_directory, _environment))
        {
            Assert.True(again.TryGet(new OffsetKey("group", Guid.Empty, 1), out long offset, out _));
            Assert.Equal(199, offset);
        }
        Assert.True(new FileInfo(Directory.GetFiles(_directory).Single()).Length < 2_000_000);
    }

    public void Dispose()
    {
        _environment.Dispose();
        Directory.Delete(Path.GetDirectoryName(_directory)!, recursive: true);
    }

    private RecordJournal Open(out List<string> records)
    {
        var found = new List<string>();
        records = found;
        return RecordJournal.Open(_directory, _environment, record => found.Add(Encoding.UTF8.GetString(record)));
    }
}
