using System.Diagnostics;
using LightQ.Storage.Files;

namespace LightQ.Storage.Inspection;

/// <summary>
/// Measures how long a disk takes to put a small write down, as a durable topic has it done for each of its commits.
/// </summary>
public static class SyncProbe
{
    private const int WriteBytes = 4096;
    private const int FileBytes = 256 * WriteBytes;

    /// <summary>
    /// Writes 4 KiB and syncs, again and again, in a file of its own that is removed at the end. Blocks.
    /// </summary>
    /// <param name="directory">Where; it exists.</param>
    /// <param name="times">How often at most, 1 or more.</param>
    /// <param name="limit">How long it may take about; a slow disk is measured less often.</param>
    /// <exception cref="IOException">The disk refuses.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not write there.</exception>
    public static SyncTimes Measure(string directory, int times, TimeSpan limit)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(times);
        IFileSystem files = PlatformFileSystem.Choose();
        string path = Path.Combine(directory, $".lightq-sync-{Guid.NewGuid():N}");
        try
        {
            using IStorageFile file = files.Open(path, OpenMode.Create);
            file.Allocate(FileBytes);
            byte[] block = new byte[WriteBytes];
            for (int at = 0; at < FileBytes; at += WriteBytes)
                // Then the times are those of blocks that are written over, as in a segment that was filled ahead.
                file.Write(block, at);
            file.Sync();
            var taken = new List<TimeSpan>(times);
            for (
                long began = Stopwatch.GetTimestamp();
                taken.Count < times && (taken.Count == 0 || Stopwatch.GetElapsedTime(began) < limit);

            )
            {
                Random.Shared.NextBytes(block);
                file.Write(block, (long)(taken.Count * WriteBytes) % FileBytes);
                long synced = Stopwatch.GetTimestamp();
                file.Sync();
                taken.Add(Stopwatch.GetElapsedTime(synced));
            }
            taken.Sort();
            return new SyncTimes(taken.Count, taken[taken.Count / 2], taken[(taken.Count * 99 / 100)]);
        }
        finally
        {
            files.Delete(path);
        }
    }
}
