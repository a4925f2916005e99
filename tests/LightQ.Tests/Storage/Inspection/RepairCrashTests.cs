using LightQ.Storage.Files;
using LightQ.Storage.Inspection;
using LightQ.Tests.Shared;
using Xunit;
using static LightQ.Tests.Storage.Inspection.InspectedJournal;

namespace LightQ.Tests.Storage.Inspection;

public sealed class RepairCrashTests
{
    private const int Count = 300;

    [Fact]
    public async Task A_repair_that_is_cut_off_anywhere_is_finished_by_the_next()
    {
        await using InspectedJournal journal = await MakeAsync(Count);
        string[] segments = journal.Segments;
        long lost = journal.Batches(segments[0])[3].BaseOffset;
        var gone = journal.Batches(segments[1]);
        var headless = segments[3];
        int position = journal.Batches(segments[0])[3].Position;
        journal.Change(segments[0], b => b[position + 120] ^= 1);
        File.Delete(journal.Host.PathOf(segments[1]));
        journal.Change(headless, b => b.AsSpan(0, 100).Clear());
        Dictionary<string, byte[]> damaged = journal.Host.FileNames("*").ToDictionary(n => n, journal.Bytes);

        int operations = 0;
        for (bool isDone = false; !isDone; operations++)
        {
            Restore(journal, damaged);
            int left = operations;
            var files = new FaultyFileSystem(PlatformFileSystem.Choose())
            {
                Before = (_, path) =>
                {
                    // As a kill: nothing reaches the disk from here on.
                    if (!path.EndsWith("/LOCK", StringComparison.Ordinal) && left-- <= 0)
                        throw new IOException("cut off");
                },
            };
            try
            {
                JournalRepair
                    .Plan(journal.Directory, journal.Host.Options.TopicId, files)
                    .Execute(DateTimeOffset.UnixEpoch);
                isDone = true;
            }
            catch (IOException e) when (e.Message == "cut off")
            {
                // The next one starts from what is there.
            }
            if (journal.Plan().IsNeeded)
                journal.Plan().Execute(DateTimeOffset.UnixEpoch);
            journal.Host.Open();
            Assert.Equal(
                [Lost(lost, lost), Lost(gone[0].BaseOffset, gone[^1].NextOffset - 1)],
                journal.ReadAll(0, Count)
            );
            await journal.Host.KillAsync();
        }
        Assert.True(operations > 20, $"only {operations} operations");
    }

    private static void Restore(InspectedJournal journal, Dictionary<string, byte[]> damaged)
    {
        foreach (string path in Directory.GetFiles(journal.Directory, "*", SearchOption.AllDirectories))
            File.Delete(path);
        foreach ((string name, byte[] bytes) in damaged)
            File.WriteAllBytes(journal.Host.PathOf(name), bytes);
    }
}
