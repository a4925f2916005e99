using LightQ.Protocol.Frames;
using LightQ.Storage;

namespace LightQ.Broker.Logs;

/// <summary>Finds the offset that a start means.</summary>
internal static class LogStart
{
    /// <summary>The first offset to be read from a start on. Blocks while a time is looked up on the disk.</summary>
    public static long Find(ITopicLog log, StartKind start, long value)
    {
        using var ready = new ManualResetEventSlim();
        using LogReader reader = log.OpenReader(start, value, holds: false, ready.Set);
        if (start != StartKind.Timestamp)
            return reader.Cursor.Offset;
        while (true)
        {
            ready.Reset();
            switch (reader.TryRead(1, out LentRun run, out LogGap gap))
            {
                case ReadResult.Pending:
                    ready.Wait();
                    break;
                case ReadResult.Run:
                    return run.Start.Offset;
                case ReadResult.Gap:
                    return gap.FirstOffset;
                default:
                    return log.ReadableOffset;
            }
        }
    }
}
