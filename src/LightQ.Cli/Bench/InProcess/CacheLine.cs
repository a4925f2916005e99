// Unsafe: the line may lie in memory shared with another process, so it is reached by address.
using System.Diagnostics;
using LightQ.Disruptor;

namespace LightQ.Cli.Bench.InProcess;

/// <summary>The yardstick <c>line</c>: one cache line goes back and forth between the two threads; half a round trip is what no hand-over can be faster than.</summary>
/// <remarks>One word: the pinging end makes it odd, the echoing end makes it even again. Both count along, so neither has to tell the other where it is.</remarks>
internal sealed unsafe class CacheLine : IDisposable
{
    private const int Blocks = 1000;
    private const int TripsPerBlock = 100;

    private readonly RingMemory _memory;
    private readonly long* _word;
    private long _pinged;
    private long _echoed;

    /// <param name="file">The file that both processes map; null for memory of this process.</param>
    public CacheLine(string? file)
    {
        _memory = file is null ? RingMemory.Native(RingMemory.MinCapacity) : RingMemory.Mapped(file, RingMemory.MinCapacity);
        _word = (long*)_memory.Pointer;
    }

    /// <summary>Sends it to the other end and waits for it, again and again.</summary>
    /// <returns>Nanoseconds of half a round trip, a value for each hundred trips: one alone is too short for the clock.</returns>
    public LatencyHistogram Ping(CancellationToken stop)
    {
        var histogram = new LatencyHistogram();
        for (int block = 0; block < Blocks; block++)
        {
            long start = Stopwatch.GetTimestamp();
            for (int trip = 0; trip < TripsPerBlock; trip++)
            {
                Volatile.Write(ref *_word, _pinged + 1);
                _pinged += 2;
                Await(_pinged, stop);
            }
            double nanoseconds = Stopwatch.GetElapsedTime(start).TotalNanoseconds;
            histogram.Record((long)Math.Round(nanoseconds / (2 * TripsPerBlock)));
        }
        return histogram;
    }

    /// <summary>The other end of <see cref="Ping"/>.</summary>
    public void Echo(CancellationToken stop)
    {
        for (int trip = 0; trip < Blocks * TripsPerBlock; trip++)
        {
            Await(_echoed + 1, stop);
            _echoed += 2;
            Volatile.Write(ref *_word, _echoed);
        }
    }

    public void Dispose() => _memory.Dispose();

    private void Await(long value, CancellationToken stop)
    {
        while (Volatile.Read(ref *_word) != value)
            stop.ThrowIfCancellationRequested();
    }
}
