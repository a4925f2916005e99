using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Storage;

namespace LightQ.Broker.Logs;

/// <summary>Reads a single batch.</summary>
internal static class BatchFetch
{
    /// <summary>Copies the batch that holds an offset.</summary>
    /// <returns>The batch and one behind its last offset; or null and one behind what the log has lost there.</returns>
    /// <exception cref="IOException">The log cannot be read.</exception>
    public static Task<(byte[]? Batch, long End)> ReadAsync(
        ITopicLog log,
        long offset,
        CancellationToken cancellationToken
    ) => ReadAsync(log, offset, static batch => batch.ToArray(), cancellationToken);

    /// <summary>Looks into the header of the batch that holds an offset.</summary>
    /// <returns>As <see cref="ReadAsync(ITopicLog, long, CancellationToken)"/>.</returns>
    /// <exception cref="IOException">The log cannot be read.</exception>
    public static Task<(BatchTimes? Times, long End)> ReadTimesAsync(
        ITopicLog log,
        long offset,
        CancellationToken cancellationToken
    ) => ReadAsync(log, offset, static batch => BatchTimes.Of(new BatchView(batch.Span)), cancellationToken);

    private static async Task<(T? Found, long End)> ReadAsync<T>(
        ITopicLog log,
        long offset,
        Func<ReadOnlyMemory<byte>, T> take,
        CancellationToken cancellationToken
    )
        where T : class
    {
        if (offset < log.StartOffset)
            return (null, log.StartOffset);
        // Not disposed: when the wait is cancelled, the read may still be about to release it.
        var ready = new SemaphoreSlim(0);
        using LogReader reader = log.OpenReader(StartKind.Offset, offset, holds: false, () => ready.Release());
        while (true)
        {
            switch (reader.TryRead(1, out LentRun run, out LogGap gap))
            {
                case ReadResult.Run:
                    return (
                        new BatchView(run.Memory.Span).Kind == BatchKind.Data ? take(run.Memory) : null,
                        run.End.Offset
                    );
                case ReadResult.Gap:
                    return (null, gap.LastOffset + 1);
                case ReadResult.Pending:
                    await ready.WaitAsync(cancellationToken).ConfigureAwait(false);
                    break;
                case ReadResult.AtEnd:
                    return (null, long.MaxValue);
                default:
                    throw new IOException($"Offset {offset} of the log cannot be read.");
            }
        }
    }
}
