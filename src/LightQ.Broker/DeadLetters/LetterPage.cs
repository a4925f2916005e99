using LightQ.Broker.Logs;
using LightQ.Broker.Topics;

namespace LightQ.Broker.DeadLetters;

/// <summary>Some letters of a dead-letter topic, in order.</summary>
/// <param name="Batches">Whole batches; the first may begin before what was asked for.</param>
/// <param name="Next">Where to go on.</param>
/// <param name="Start">Where the topic begins.</param>
/// <param name="End">Where it ends.</param>
internal sealed record LetterPage(IReadOnlyList<byte[]> Batches, long Next, long Start, long End)
{
    private const int MostBytes = 1024 * 1024;

    /// <summary>Reads from an offset on, here or at the node that leads the topic.</summary>
    /// <exception cref="BrokerException">The topic could not be opened.</exception>
    /// <exception cref="IOException">It cannot be read now.</exception>
    public static Task<LetterPage> ReadAsync(
        Topic dead,
        long offset,
        ILetterCarrier? carrier,
        CancellationToken cancellationToken
    ) =>
        carrier is not null && IsElsewhere(dead)
            ? carrier.ReadAsync(dead, offset, cancellationToken)
            : ReadHereAsync(dead, offset, cancellationToken);

    /// <summary>Whether another node has the letters.</summary>
    public static bool IsElsewhere(Topic dead) => dead.Partitions[0].Refusal is { Code: ErrorCode.NotLeader };

    /// <summary>Reads from an offset on, here.</summary>
    /// <exception cref="BrokerException">Another node leads the topic, or it could not be opened.</exception>
    /// <exception cref="IOException">It cannot be read.</exception>
    public static async Task<LetterPage> ReadHereAsync(Topic dead, long offset, CancellationToken cancellationToken)
    {
        ITopicLog log = dead.GetPartition(0).Log;
        List<byte[]> batches = [];
        long next = Math.Max(offset, log.StartOffset),
            end = log.ReadableOffset;
        for (int bytes = 0; next < end && bytes < MostBytes; )
        {
            (byte[]? batch, long behind) = await BatchFetch
                .ReadAsync(log, next, cancellationToken)
                .ConfigureAwait(false);
            if (batch is not null)
                batches.Add(batch);
            bytes += batch?.Length ?? 0;
            next = Math.Min(behind, end);
        }
        return new LetterPage(batches, next, log.StartOffset, end);
    }
}
