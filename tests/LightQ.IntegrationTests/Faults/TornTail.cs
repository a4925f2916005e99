using LightQ.Protocol.Batches;
using LightQ.Storage.Recovery;
using LightQ.Storage.Segments;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// Makes a killed broker's journal what a power cut leaves of it: sectors of the last write are missing, and what is
/// behind them has reached the disk. kill -9 alone hardly ever tears a write.
/// </summary>
internal static class TornTail
{
    private const int SectorBytes = 512,
        MostSectors = 8;

    /// <summary>Tears what nothing says was synced: no ack, no checkpoint, no later header.</summary>
    /// <param name="journal">A partition's directory.</param>
    /// <param name="acknowledgedEnd">One behind the last offset that was acknowledged.</param>
    /// <param name="random">Where.</param>
    /// <returns>How many whole batches are left behind the tear; -1 when there was nothing to tear.</returns>
    public static int Tear(string journal, long acknowledgedEnd, Random random)
    {
        if (Newest(journal) is not { } newest)
            return -1;
        List<Batch> batches = Walk(newest.Header, newest.Bytes);
        long synced = batches.Aggregate(
            Math.Max(acknowledgedEnd, CheckpointOf(journal)),
            (known, batch) => Math.Max(known, batch.DurableOffset)
        );
        Batch[] free = [.. batches.Where(batch => batch.BaseOffset >= synced)];
        if (free.Length == 0)
            return -1;
        int torn = random.Next(2) == 0 ? 0 : random.Next(free.Length); // What is behind the tear makes the difference.
        int from = free[torn].Position + (random.Next(free[torn].Length) & -BatchLayout.Alignment);
        int end = Math.Min(
            (from / SectorBytes * SectorBytes) + (SectorBytes * random.Next(1, MostSectors)),
            batches[^1].Position + batches[^1].Length
        );
        using FileStream file = File.OpenWrite(newest.Path);
        file.Position = from;
        file.Write(new byte[end - from]);
        return free.Count(batch => batch.Position >= end);
    }

    private static (string Path, SegmentHeader Header, byte[] Bytes)? Newest(string journal)
    {
        foreach (
            string path in Directory
                .EnumerateFiles(journal, "*" + SegmentName.Log)
                .OrderDescending(StringComparer.Ordinal)
        )
        {
            byte[] bytes = File.ReadAllBytes(path);
            if (SegmentHeader.TryRead(bytes, out SegmentHeader header))
                return (path, header, bytes);
        }
        return null;
    }

    /// <summary>The batches, each chained to the one before, up to the first that is not whole.</summary>
    private static List<Batch> Walk(in SegmentHeader header, byte[] bytes)
    {
        var found = new List<Batch>();
        (int at, long offset, uint chain) = (SegmentHeader.PageSize, header.BaseOffset, header.Crc());
        while (
            BatchScan.TryReadHeader(bytes.AsSpan(at), out BatchView batch)
            && batch.BaseOffset == offset
            && batch.PreviousCrc == chain
        )
        {
            if (!new BatchView(bytes.AsSpan(at, batch.Length)).VerifyPayload())
                break;
            found.Add(
                new Batch(at, batch.Length, offset, batch.DurableBack == uint.MaxValue ? 0 : offset - batch.DurableBack)
            );
            (at, offset, chain) = (at + batch.Length, batch.NextOffset, batch.HeaderCrc);
        }
        return found;
    }

    private static long CheckpointOf(string journal)
    {
        byte[] content = File.ReadAllBytes(Path.Combine(journal, CheckpointFile.Name));
        return new[] { 0, Checkpoint.SlotSize }.Max(at =>
            Checkpoint.TryRead(content.AsSpan(at, Checkpoint.SlotSize), out Checkpoint slot) ? slot.Durable.Offset : 0
        );
    }

    private readonly record struct Batch(int Position, int Length, long BaseOffset, long DurableOffset);
}
