using LightQ.Storage.Files;

namespace LightQ.Broker.Groups;

/// <summary>Messages that members got and have not settled, and that are redelivered.</summary>
/// <param name="First">The first offset.</param>
/// <param name="Count">How many messages; 1 or above.</param>
/// <param name="Deliveries">How many deliveries of them count; saturates.</param>
/// <param name="NotBefore">When they may be redelivered, in unix microseconds; 0 for at once.</param>
/// <param name="Losses">How often a member's connection was lost while it had them in hand; saturates.</param>
/// <param name="Waits">
/// How often a member had not begun them when its connection was lost or their lock ran out, so that the delivery does
/// not count; saturates.
/// </param>
internal readonly record struct RedeliveryRange(
    long First,
    int Count,
    ushort Deliveries,
    long NotBefore,
    byte Losses = 0,
    byte Waits = 0
)
{
    /// <summary>
    /// From so many losses on a message may be what ends its members: it is given alone, and takes nobody along.
    /// </summary>
    private const byte LossesToBeAlone = 2;

    /// <summary>One behind the last offset.</summary>
    public long End => First + Count;

    /// <summary>Whether each of the messages is given alone.</summary>
    public bool IsAlone => Losses >= LossesToBeAlone && !Mutation.NoAlone;

    /// <summary>Whether they were with a member that came to an end.</summary>
    public bool IsDoubted => Losses + Waits != 0;

    /// <summary>The delivery does not count: the member gave them back.</summary>
    public RedeliveryRange Unseen() => this with { Deliveries = (ushort)(Deliveries - 1) };

    /// <summary>The delivery does not count: the member had not begun them.</summary>
    public RedeliveryRange Waited() => Unseen() with { Waits = (byte)Math.Min(Waits + 1, byte.MaxValue) };

    /// <summary>The delivery counts: the member had them in hand when its connection was lost.</summary>
    /// <param name="isOnly">Whether it had nothing else in hand.</param>
    /// <param name="most">How many deliveries may count; 0 for no limit.</param>
    /// <returns>
    /// The messages. Beside others, one that may not be delivered again gets another delivery, alone: any of those may
    /// have ended the member.
    /// </returns>
    public RedeliveryRange Lost(bool isOnly, int most)
    {
        RedeliveryRange lost = this with { Losses = (byte)Math.Min(Losses + 1, byte.MaxValue) };
        return isOnly || most == 0 || Deliveries < most
            ? lost
            : lost with
            {
                Deliveries = (ushort)(most - 1),
                Losses = Math.Max(lost.Losses, LossesToBeAlone),
            };
    }

    /// <summary>
    /// Makes one of neighbours that differ in nothing else: a hundred thousand single leases must not cost megabytes
    /// whenever they are kept.
    /// </summary>
    /// <param name="sorted">By offset; is changed.</param>
    public static List<RedeliveryRange> Merge(List<RedeliveryRange> sorted)
    {
        int kept = 0;
        for (int i = 0; i < sorted.Count; i++)
        {
            RedeliveryRange next = sorted[i];
            if (kept > 0 && sorted[kept - 1].IsContinuedBy(next))
                sorted[kept - 1] = sorted[kept - 1] with { Count = sorted[kept - 1].Count + next.Count };
            else
                sorted[kept++] = next;
        }
        sorted.RemoveRange(kept, sorted.Count - kept);
        return sorted;
    }

    private bool IsContinuedBy(in RedeliveryRange next) =>
        next == this with { First = End, Count = next.Count } && Count <= int.MaxValue - next.Count;
}
