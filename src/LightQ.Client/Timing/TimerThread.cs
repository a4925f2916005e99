using System.Diagnostics;

namespace LightQ.Client.Timing;

/// <summary>The thread on which the timers of all clients of the process fire.</summary>
/// <remarks>
/// The runtime's timers fire on the thread pool, which the application may have filled with work that blocks: then
/// locks and heartbeats would be late. The thread begins with the first timer that is armed, and sleeps until one is
/// due. Thread-safe. An entry of a timer that was armed anew stays in the queue until its time has come, and is ignored
/// then.
/// </remarks>
internal static class TimerThread
{
    private static readonly object Gate = new();
    private static readonly PriorityQueue<(ThreadTimer Timer, int Arming), long> Queue = new();
    private static bool _isRunning;

    /// <summary>Fires a timer when its time has come.</summary>
    /// <param name="timer">The timer.</param>
    /// <param name="arming">Which of its armings this is.</param>
    /// <param name="due">When, as <see cref="Stopwatch.GetTimestamp"/> counts.</param>
    public static void Add(ThreadTimer timer, int arming, long due)
    {
        lock (Gate)
        {
            Queue.Enqueue((timer, arming), due);
            if (!_isRunning)
            {
                _isRunning = true;
                new Thread(Run) { IsBackground = true, Name = "LightQ timers" }.UnsafeStart();
            }
            else if (Queue.TryPeek(out _, out long first) && first == due)
            {
                Monitor.Pulse(Gate);
            }
        }
    }

    private static void Run()
    {
        while (true)
        {
            (ThreadTimer timer, int arming) = Next();
            timer.Fire(arming);
        }
    }

    private static (ThreadTimer Timer, int Arming) Next()
    {
        lock (Gate)
        {
            while (true)
            {
                if (!Queue.TryPeek(out _, out long due))
                {
                    Monitor.Wait(Gate);
                    continue;
                }
                TimeSpan left = Stopwatch.GetElapsedTime(Stopwatch.GetTimestamp(), due);
                if (left <= TimeSpan.Zero)
                    return Queue.Dequeue();
                // Rounded up: a wait that ends too early would be repeated at once, again and again.
                Monitor.Wait(Gate, (int)Math.Min(int.MaxValue, Math.Ceiling(left.TotalMilliseconds)));
            }
        }
    }
}
