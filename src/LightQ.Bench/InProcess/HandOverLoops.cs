using System.Diagnostics;
using LightQ.Bench.Checks;

namespace LightQ.Bench.InProcess;

/// <summary>The two loops of a run. Neither ever sleeps: each has a core to itself.</summary>
/// <remarks>
/// The schedule is JLBH's with <c>accountForCoordinatedOmission</c>: message i is due at start + i / rate, whatever
/// became of those before it, and its latency counts from then. So a stall of either side counts for every message that
/// was due meanwhile.
/// </remarks>
internal static class HandOverLoops
{
    /// <summary>
    /// A run's first message is due so long after its beginning: by then the other end is there, and what has begun the
    /// run is at rest.
    /// </summary>
    private static readonly TimeSpan HeadStart = TimeSpan.FromMilliseconds(20);

    public static void Send<TSender>(TSender sender, SendPlan plan, CancellationToken stop)
        where TSender : struct, ISender
    {
        double interval = Stopwatch.Frequency / plan.Rate;
        long start =
            Stopwatch.GetTimestamp()
            + (double.IsInfinity(plan.Rate) ? 0 : (long)(HeadStart.TotalSeconds * Stopwatch.Frequency));
        for (long i = 0; i < plan.Messages; i++)
        {
            long due = start + (long)(i * interval);
            while (Stopwatch.GetTimestamp() < due)
                stop.ThrowIfCancellationRequested();
            while (!sender.TrySend(i, due))
                stop.ThrowIfCancellationRequested();
        }
    }

    public static void Receive<TReceiver>(TReceiver receiver, DeliveryCheck check, CancellationToken stop)
        where TReceiver : struct, IReceiver
    {
        while (!check.IsComplete)
        {
            receiver.Receive(check);
            stop.ThrowIfCancellationRequested();
        }
    }
}
