using LightQ.Protocol.Frames;
using Microsoft.Extensions.Logging;

namespace LightQ.Client.Publishing;

/// <summary>
/// Who a producer is to the brokers, on all of its streams: its name, which one of the name, and the numbers of its
/// openings; see <see cref="OpenProducerFrame"/>. Thread-safe.
/// </summary>
internal sealed class ProducerIdentity(ProducerOptions options, TimeProvider time, ILogger logger)
{
    private readonly ulong _instance = options.Name is null ? 0 : (ulong)Random.Shared.NextInt64(1, long.MaxValue);
    private readonly OpeningNumbers? _numbers = options.Name is null ? null : new(time);

    private int _hasUncheckedIds;

    /// <summary>Messages have ids that their topic does not look at: the log says so once for a producer.</summary>
    public void OnUncheckedIds(string topic)
    {
        if (Interlocked.Exchange(ref _hasUncheckedIds, 1) == 0)
            ClientLog.IdsUnchecked(logger, topic);
    }

    /// <summary>The next request to open one of its streams.</summary>
    public OpenProducerFrame Open(string topic, uint partition, bool isReturning) =>
        new(topic, partition, options.AckLevel, options.Name ?? "", _instance, isReturning, _numbers?.Next() ?? 0);

    /// <summary>
    /// Whether a stream that was closed is to be opened at once with a higher number: the one that has the name has a
    /// clock that is ahead, and is older all the same.
    /// </summary>
    public bool Passes(in ClosedFrame closed, bool isReturning)
    {
        if (closed is not { Code: ErrorCode.Fenced, Number: not 0 } || isReturning || _numbers is null)
            return false;
        _numbers.Pass(closed.Number);
        return true;
    }
}
