using System.Text;
using LightQ.Storage;
using LightQ.Storage.Files;
using LightQ.Storage.Inspection;
using LightQ.Storage.Recovery;
using LightQ.Storage.Segments;
using LightQ.Storage.State;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.Tests.Storage;

/// <summary>
/// The end of the catalog, or of the groups' positions, is gone, and what is left is whole by itself. The note beside
/// the journal knows better; and it never says more than there was.
/// </summary>
public sealed class MissingRecordsTests : IDisposable
{
    private const int Records = 20;

    private readonly string _root = Directory.CreateTempSubdirectory("lightq-records-").FullName;
    private readonly FaultyFileSystem _files = new(PlatformFileSystem.Choose());
    private readonly JournalEnvironment _environment;

    public MissingRecordsTests() =>
        _environment = new JournalEnvironment(new JournalEnvironmentOptions { Writers = 1, Readers = 1 }, _files);

    private string Catalog => Path.Combine(_root, "catalog");

    private string Noted => RecordEnd.PathOf(Catalog);

    private string File => Directory.GetFiles(Catalog, "*.seg").Single();

    public static TheoryData<string, bool> Damages
    {
        get
        {
            var data = new TheoryData<string, bool>();
            string[] damages =
            [
                "last record zeroed",
                "half of the records zeroed",
                "all records zeroed",
                "cut behind a record",
                "cut behind its header page",
                "cut in a record",
                "empty",
                "removed",
                "directory removed",
                "an older copy put back",
                "an older copy of before the last compaction put back",
                "another catalog put in its place",
            ];
            foreach (string damage in damages)
            {
                data.Add(damage, true);
                data.Add(damage, false);
            }
            return data;
        }
    }

    [Theory]
    [MemberData(nameof(Damages))]
    public void Records_that_are_gone_are_missed_until_a_repair_has_said_so(string damage, bool isClosed)
    {
        Fill(damage, isClosed, out byte[] older, out string olderName);
        Damage(damage, older, olderName);

        var refused = Assert.ThrowsAny<JournalCorruptException>(() => Open(out _));
        Assert.ThrowsAny<JournalCorruptException>(() => Open(out _));
        if (!Directory.Exists(Catalog))
            return;
        if (damage is "empty")
        {
            Assert.True(JournalInspector.InspectRecords(Catalog).IsDamaged);
            return;
        }
        var repair = JournalRepair.PlanRecords(Catalog);
        Assert.True(repair.Report.IsDamaged, refused.Message);
        if (damage is "removed" or "directory removed")
        {
            Assert.NotNull(repair.Refusal);
            return;
        }
        Assert.NotEmpty(repair.Losses); // So that the changes that are lost have to be accepted.
        repair.Execute(DateTimeOffset.UtcNow);
        Assert.False(JournalInspector.InspectRecords(Catalog).IsDamaged);
        using (RecordJournal journal = Open(out List<string> left))
        {
            Assert.True(left.Count < Records || damage.StartsWith("another", StringComparison.Ordinal));
            journal.Append("after"u8);
        }
        Open(out List<string> all).Dispose();
        Assert.Equal("after", all[^1]);
    }

    [Theory]
    [InlineData("removed", true)]
    [InlineData("empty", true)]
    [InlineData("zeroed", true)]
    [InlineData("cut", true)]
    [InlineData("an older copy", true)]
    [InlineData("longer", true)]
    [InlineData("removed", false)]
    [InlineData("an older copy", false)]
    public void A_note_that_is_missing_or_behind_refuses_nothing_and_is_made_anew(string damage, bool isClosed)
    {
        RecordJournal journal = Open(out _);
        journal.Append("first"u8);
        byte[] older = System.IO.File.ReadAllBytes(Noted);
        for (int i = 1; i < Records; i++)
            journal.Append(Encoding.UTF8.GetBytes($"record {i}"));
        if (isClosed)
            journal.Dispose();
        byte[] bytes = System.IO.File.ReadAllBytes(Noted);
        switch (damage)
        {
            case "removed":
                System.IO.File.Delete(Noted);
                break;
            case "an older copy":
                System.IO.File.WriteAllBytes(Noted, older);
                break;
            default:
                System.IO.File.WriteAllBytes(
                    Noted,
                    damage switch
                    {
                        "empty" => [],
                        "zeroed" => new byte[bytes.Length],
                        "cut" => bytes[..100],
                        _ => [.. bytes, .. new byte[5000]],
                    }
                );
                break;
        }
        bool isSaid = damage is "removed" or "empty" or "zeroed"; // Else one of the two slots is whole.
        JournalReport report = JournalInspector.InspectRecords(Catalog);
        Assert.Equal((false, isSaid ? 1 : 0), (report.IsDamaged, report.Findings.Count));
        RecordJournal opened = Open(out List<string> records);
        Assert.Equal(Records, records.Count);
        Assert.Equal(isSaid, opened.Rebuilt?.StartsWith("the file 'catalog-end'", StringComparison.Ordinal) == true);
        Assert.Null(Open(out _).Rebuilt);
        // What counts from now on is noted again.
        using (FileStream file = new(File, FileMode.Open))
            file.SetLength(SegmentHeader.PageSize);
        Assert.Throws<JournalCorruptException>(() => Open(out _));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_kill_between_a_record_and_its_note_refuses_nothing(bool isCompacted)
    {
        RecordJournal journal = Open(out _);
        journal.Append("a"u8);
        journal.Append("b"u8);
        _files.Before = (operation, path) =>
        {
            if (operation == "write" && path == Noted)
                throw new IOException("killed");
        };
        if (isCompacted)
            journal.Compact(["c"u8.ToArray()]);
        else
            journal.Append("c"u8);
        _files.Before = (_, _) => { };
        Open(out List<string> records).Dispose();
        Assert.Equal("c", records[^1]);
        using RecordJournal again = Open(out records);
        Assert.Equal("c", records[^1]);
    }

    [Fact]
    public void A_copy_of_the_whole_directory_of_any_time_opens()
    {
        RecordJournal journal = Open(out _);
        for (int i = 0; i < 30; i++)
        {
            if (i % 10 == 9)
                journal.Compact([Encoding.UTF8.GetBytes($"{i}")]);
            else
                journal.Append(Encoding.UTF8.GetBytes($"{i}"));
            string copy = Directory.CreateDirectory(Path.Combine(_root, $"copy{i}", "catalog")).FullName;
            System.IO.File.Copy(File, Path.Combine(copy, Path.GetFileName(File)));
            System.IO.File.Copy(Noted, RecordEnd.PathOf(copy));
            var records = new List<string>();
            using RecordJournal opened = Open(copy, records);
            Assert.Equal($"{i}", records[^1]);
        }
        journal.Dispose();
    }

    public void Dispose()
    {
        _environment.Dispose();
        Directory.Delete(_root, recursive: true);
    }

    private void Fill(string damage, bool isClosed, out byte[] older, out string olderName)
    {
        if (damage.StartsWith("another", StringComparison.Ordinal))
        {
            using (RecordJournal other = Open(out _))
            {
                for (int i = 0; i < 2 * Records; i++)
                    other.Append("another broker's"u8);
            }
            older = System.IO.File.ReadAllBytes(File);
            olderName = File;
            Directory.Delete(Catalog, recursive: true);
            System.IO.File.Delete(Noted);
        }
        else
        {
            (older, olderName) = ([], "");
        }
        RecordJournal journal = Open(out _);
        for (int i = 0; i < Records; i++)
        {
            journal.Append(Encoding.UTF8.GetBytes($"record {i}"));
            if (i == Records / 2 && older.Length == 0)
            {
                (older, olderName) = (System.IO.File.ReadAllBytes(File), File);
                if (damage.Contains("compaction", StringComparison.Ordinal))
                    journal.Compact(["all of it"u8.ToArray()]);
            }
        }
        if (isClosed)
            journal.Dispose();
    }

    private void Damage(string damage, byte[] older, string olderName)
    {
        byte[] bytes = damage.Contains("removed", StringComparison.Ordinal) ? [] : System.IO.File.ReadAllBytes(File);
        int end = Array.FindLastIndex(bytes, b => b != 0) + 1,
            middle = damage.StartsWith("an", StringComparison.Ordinal) || bytes.Length == 0
                ? 0
                : Boundary(bytes, Records / 2);
        switch (damage)
        {
            case "last record zeroed":
                bytes.AsSpan(Boundary(bytes, Records - 1)).Clear();
                break;
            case "half of the records zeroed":
                bytes.AsSpan(middle, end - middle).Clear();
                break;
            case "all records zeroed":
                bytes.AsSpan(SegmentHeader.PageSize).Clear();
                break;
            case "cut behind a record":
                bytes = bytes[..middle];
                break;
            case "cut behind its header page":
                bytes = bytes[..SegmentHeader.PageSize];
                break;
            case "cut in a record":
                bytes = bytes[..(middle + 50)];
                break;
            case "empty":
                bytes = [];
                break;
            case "removed":
                System.IO.File.Delete(File);
                return;
            case "directory removed":
                Directory.Delete(Catalog, recursive: true);
                return;
            default:
                System.IO.File.Delete(File);
                System.IO.File.WriteAllBytes(olderName, older);
                return;
        }
        System.IO.File.WriteAllBytes(File, bytes);
    }

    /// <summary>Where a record begins in the file.</summary>
    private static int Boundary(byte[] bytes, int record)
    {
        int at = SegmentHeader.PageSize;
        for (int i = 0; i < record; i++)
            at += BitConverter.ToInt32(bytes, at);
        return at;
    }

    private RecordJournal Open(out List<string> records) => Open(Catalog, records = []);

    private RecordJournal Open(string directory, List<string> records) =>
        RecordJournal.Open(directory, _environment, record => records.Add(Encoding.UTF8.GetString(record)));
}
