using LightQ.Broker.Logs;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Storage;

namespace LightQ.Broker.Replication;

/// <summary>Reads all of a log that can be read, and verifies each batch.</summary>
internal static class JournalWalk
{
    private const int MostBytes = 1024 * 1024;

    /// <summary>Called for a batch that was verified.</summary>
    public delegate void Visit(in BatchView batch);

    /// <summary>Reads it from its first offset to its end.</summary>
    /// <exception cref="ReplicationException">Something in it is damaged, or missing.</exception>
    /// <exception cref="IOException">It cannot be read.</exception>
    public static async Task RunAsync(ITopicLog log, Visit visit, CancellationToken cancellationToken)
    {
        using var ready = new SemaphoreSlim(0);
        using LogReader reader = log.OpenReader(StartKind.Earliest, 0, holds: false, () => ready.Release());
        while (true)
        {
            switch (reader.TryRead(MostBytes, out LentRun run, out LogGap gap))
            {
                case ReadResult.Run:
                    reader.MoveTo(Take(run.Memory.Span, visit));
                    break;
                case ReadResult.Pending:
                    await ready.WaitAsync(cancellationToken).ConfigureAwait(false);
                    break;
                case ReadResult.AtEnd:
                    return;
                case ReadResult.Gap:
                    throw Damaged(gap.FirstOffset, gap.LastOffset);
                default:
                    throw new IOException($"The journal cannot be read at offset {reader.Cursor.Offset}.");
            }
        }
    }

    private static LogCursor Take(ReadOnlySpan<byte> run, Visit visit)
    {
        LogCursor end = default;
        for (int at = 0; BatchView.TryRead(run[at..], out BatchView batch); at += batch.Length)
        {
            if (!batch.VerifyHeader() || !batch.VerifyPayload())
                throw Damaged(batch.BaseOffset, batch.NextOffset - 1);
            visit(batch);
            end = new LogCursor(batch.NextOffset, batch.NextOffset);
        }
        return end;
    }

    private static ReplicationException Damaged(long first, long last) =>
        new($"this node's copy is damaged itself, in the offsets {first} to {last}");
}
