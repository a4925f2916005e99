// Unsafe: the line may lie in memory shared with another process, so it is reached by address.
using System.Diagnostics;
using LightQ.Bench.Figures;
using LightQ.Disruptor;

namespace LightQ.Bench.InProcess;

/// <summary>
/// The yardstick <c>line</c>: one cache line goes back and forth between the two threads; half a round trip is what no
/// hand-over can be faster than.
/// </summary>
/// <remarks>
/// <para>
/// One word: the pinging end makes it odd, the echoing end makes it even again. Both count along, so neither has to
/// tell the other where it is.
/// </para>
/// <para>
/// Sent on a schedule, the second word says when a message was due: what is late then is late without any code of a
/// ring or a journal.
/// </para>
/// </remarks>
internal sealed unsafe class CacheLine : IDisposable
{
    private const int Blocks = 1000;
    private const int TripsPerBlock = 100;

    private readonly RingMemory _memory;
    private readonly long* _word;
    private readonly long* _due;
    private long _pinged;
    private long _echoed;

    /// <param name="file">The file that both processes map; null for memory of this process.</param>
    public CacheLine(string? file)
    {
        _memory = file is null
            ? RingMemory.Native(RingMemory.MinCapacity)
            : RingMemory.Mapped(file, RingMemory.MinCapacity);
        _word = (long*)_memory.Pointer;
        _due = _word + 1;
    }

    /// <summary>Sends it to the other end and waits for it, again and again.</summary>
    /// <returns>
    /// Nanoseconds of half a round trip, a value for each hundred trips: one alone is too short for the clock.
    /// </returns>
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

    /// <summary>Sends it on a schedule; it is free again when the other end has read it.</summary>
    public void Send(SendPlan plan, CancellationToken stop) => HandOverLoops.Send(new Sender(this), plan, stop);

    /// <summary>The other end of <see cref="Send"/>.</summary>
    /// <param name="messages">How often it comes.</param>
    /// <param name="histogram">Gets nanoseconds from when each was due until it was here.</param>
    /// <param name="stop">Ends it before its time.</param>
    public void Receive(long messages, LatencyHistogram histogram, CancellationToken stop)
    {
        for (long i = 0; i < messages; i++)
        {
            Await(_echoed + 1, stop);
            histogram.Record((Stopwatch.GetTimestamp() - *_due) * (1_000_000_000 / Stopwatch.Frequency));
            _echoed += 2;
            Volatile.Write(ref *_word, _echoed);
        }
    }

    public void Dispose() => _memory.Dispose();

    private bool TrySend(long due)
    {
        if (Volatile.Read(ref *_word) != _pinged)
            return false;
        *_due = due;
        Volatile.Write(ref *_word, _pinged + 1);
        _pinged += 2;
        return true;
    }

    private void Await(long value, CancellationToken stop)
    {
        while (Volatile.Read(ref *_word) != value)
            stop.ThrowIfCancellationRequested();
    }

    private readonly struct Sender(CacheLine line) : ISender
    {
        public bool TrySend(long sequence, long stamp) => line.TrySend(stamp);
    }
}
