using LightQ.Storage;

namespace LightQ.Broker.Logs;

/// <summary>What a returning reader has seen, compared with the log as it is now.</summary>
/// <remarks>
/// A log parts from what was seen of it where the next epoch began, because an unclean stop may cut what was not
/// durable and its offsets are given out again; a log that was made anew parts at 0. What was seen from there on is a
/// gap, and reading goes on where the gap begins.
/// </remarks>
internal static class LogDivergence
{
    /// <summary>The offsets that are not what they were.</summary>
    /// <param name="log">The log.</param>
    /// <param name="nextOffset">One behind the last offset that was seen.</param>
    /// <param name="epoch">The epoch in which it was seen.</param>
    /// <param name="incarnation">The incarnation in which it was seen.</param>
    /// <returns>The gap; default when nothing has changed.</returns>
    public static LogGap Find(ITopicLog log, long nextOffset, uint epoch, ulong incarnation)
    {
        long parting = incarnation == log.Incarnation ? log.EndOfEpoch(epoch) : 0;
        return nextOffset > parting ? new LogGap(parting, nextOffset - 1, GapReason.Truncated) : default;
    }
}
