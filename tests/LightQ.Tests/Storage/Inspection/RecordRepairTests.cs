using System.Text;
using LightQ.Storage;
using LightQ.Storage.Inspection;
using LightQ.Storage.State;
using Xunit;

namespace LightQ.Tests.Storage.Inspection;

public sealed class RecordRepairTests
{
    [Theory]
    [InlineData(false, 4096 + 100)]
    [InlineData(true, 4096 + 100)]
    [InlineData(false, 20)]
    [InlineData(true, 20)]
    public async Task A_damaged_record_is_given_up_and_the_others_are_replayed(bool compacted, int at)
    {
        await using var host = new JournalHost();
        string directory = host.PathOf("records");
        using (RecordJournal journal = RecordJournal.Open(directory, host.Environment, _ => { }))
        {
            for (int i = 0; i < 3; i++)
                journal.Append(Encoding.ASCII.GetBytes("old"));
            if (compacted)
                journal.Compact([]);
            for (int i = 0; i < 20; i++)
                journal.Append(Encoding.ASCII.GetBytes($"record {i}"));
        }
        string file = Assert.Single(Directory.GetFiles(directory, "*.seg"));
        byte[] bytes = await File.ReadAllBytesAsync(file, TestContext.Current.CancellationToken);
        bytes[at] ^= 4;
        await File.WriteAllBytesAsync(file, bytes, TestContext.Current.CancellationToken);
        Assert.Throws<JournalCorruptException>(() => RecordJournal.Open(directory, host.Environment, _ => { }));
        Assert.True(JournalInspector.InspectRecords(directory).IsDamaged);

        JournalRepair repair = JournalRepair.PlanRecords(directory);
        Assert.Null(repair.Refusal);
        Assert.Equal(at > 4096 ? 1 : 0, repair.Losses.Count);
        repair.Execute(DateTimeOffset.UnixEpoch);
        Assert.False(JournalInspector.InspectRecords(directory).IsDamaged);
        var replayed = new List<string>();
        using (
            RecordJournal journal = RecordJournal.Open(
                directory,
                host.Environment,
                r => replayed.Add(Encoding.ASCII.GetString(r))
            )
        )
        {
            journal.Append("more"u8);
        }

        IEnumerable<string> all =
        [
            .. Enumerable.Repeat("old", compacted ? 0 : 3),
            .. Enumerable.Range(0, 20).Select(i => $"record {i}"),
        ];
        Assert.Equal(at > 4096 ? all.Skip(1) : all, replayed);
    }

    [Fact]
    public void A_checksum_can_be_met_from_any_place()
    {
        byte[] bytes = new byte[88];
        new Random(1).NextBytes(bytes);
        for (int at = 0; at <= 84; at += 4)
        {
            CrcSolver.Solve([1, 2, 3, 4], bytes, at, 0xDEADBEEF);
            Assert.Equal(0xDEADBEEF, LightQ.Protocol.Checksums.Crc32C.Compute([1, 2, 3, 4, .. bytes]));
        }
    }
}
