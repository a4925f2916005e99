using System.Diagnostics;
using System.Runtime.InteropServices;

namespace LightQ.Bench.Load;

/// <summary>Wakes one thread at exact times: sleeps until just before and spins the rest.</summary>
/// <remarks>Made on the thread that uses it, because the timer's slack is a thread's own.</remarks>
internal sealed partial class Pacer
{
    private const int SetTimerSlack = 29;
    private const int Monotonic = 1;
    private const int AbsoluteTime = 1;
    private const long NanosecondsPerSecond = 1_000_000_000;

    // On a virtual machine a sleep ends 50 to 80 us late (measured). Spinning takes a core from the measured processes,
    // so it is never more than a quarter of the time: at high rates messages are rather late, which counts for product
    // and yardstick alike.
    private const double SpinSeconds = 0.0001;
    private const double MostSpinning = 0.25;

    private readonly long _spinTicks;
    private readonly long _start;
    private readonly double _ticksPerMessage;

    public Pacer(double messagesPerSecond)
    {
        if (OperatingSystem.IsLinux())
            _ = ProcessControl(SetTimerSlack, 1, 0, 0, 0);
        _ticksPerMessage = Stopwatch.Frequency / messagesPerSecond;
        _spinTicks = (long)Math.Min(Stopwatch.Frequency * SpinSeconds, _ticksPerMessage * MostSpinning);
        _start = Stopwatch.GetTimestamp();
    }

    /// <summary>When a message is due.</summary>
    public long DueOf(long index) => _start + (long)(index * _ticksPerMessage);

    /// <summary>Waits until a message is due; returns at once if it is late.</summary>
    public long WaitFor(long index)
    {
        long due = DueOf(index);
        WaitUntil(due);
        return due;
    }

    /// <summary>Waits until a time of the stopwatch; returns at once if that is past.</summary>
    public void WaitUntil(long due)
    {
        long sleep = due - _spinTicks;
        if (Stopwatch.GetTimestamp() < sleep)
            SleepUntil(sleep);
        while (Stopwatch.GetTimestamp() < due)
            Thread.SpinWait(1);
    }

    private static void SleepUntil(long ticks)
    {
        if (OperatingSystem.IsLinux() && Stopwatch.Frequency == NanosecondsPerSecond)
        {
            // The stopwatch is this clock, so its ticks are the clock's absolute time.
            var time = new TimeSpec
            {
                Seconds = ticks / NanosecondsPerSecond,
                Nanoseconds = ticks % NanosecondsPerSecond,
            };
            _ = ClockNanosleep(Monotonic, AbsoluteTime, in time, 0);
            return;
        }
        double milliseconds = Stopwatch.GetElapsedTime(Stopwatch.GetTimestamp(), ticks).TotalMilliseconds;
        if (milliseconds > 1)
            Thread.Sleep((int)milliseconds);
    }

    [LibraryImport("libc", EntryPoint = "clock_nanosleep")]
    private static partial int ClockNanosleep(int clock, int flags, in TimeSpec request, nint remaining);

    [LibraryImport("libc", EntryPoint = "prctl")]
    private static partial int ProcessControl(
        int option,
        nuint argument2,
        nuint argument3,
        nuint argument4,
        nuint argument5
    );

    private struct TimeSpec
    {
        public long Seconds;
        public long Nanoseconds;
    }
}
