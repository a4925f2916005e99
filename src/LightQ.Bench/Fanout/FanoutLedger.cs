using System.Diagnostics;

namespace LightQ.Bench.Fanout;

/// <summary>One subscriber's account: which messages came, how old each was, and what was wrong with others.</summary>
/// <remarks>One thread takes; <see cref="Taken"/> may be read by another.</remarks>
internal sealed class FanoutLedger
{
    private readonly float[] _latencies;
    private readonly long[] _next;
    private readonly int _warmUp;
    private readonly int _each;
    private long _taken;

    /// <param name="publishers">How many publishers there are.</param>
    /// <param name="warmUp">Messages of each that come first and are not measured.</param>
    /// <param name="each">Measured messages of each.</param>
    public FanoutLedger(int publishers, int warmUp, int each)
    {
        _warmUp = warmUp;
        _each = each;
        _latencies = new float[publishers * each];
        _next = new long[publishers];
    }

    /// <summary>Messages that came once, those that warm up included.</summary>
    public long Taken => Volatile.Read(ref _taken);

    /// <summary>Messages that were delivered again, or before one that was sent earlier.</summary>
    public long Duplicated { get; private set; }

    public long Reordered { get; private set; }

    /// <summary>Messages that were not what was sent.</summary>
    public long Damaged { get; private set; }

    /// <summary>Takes a message.</summary>
    public void Take(FanoutBody reader, ReadOnlySpan<byte> body)
    {
        if (
            !reader.TryRead(body, out int thread, out long sequence, out long stamp)
            || (uint)thread >= _next.Length
            || sequence < 0
            || sequence >= _warmUp + _each
        )
        {
            Damaged++;
            return;
        }
        if (sequence < _next[thread])
        {
            // A publisher's messages come in the order of sending. So a lower number is a repeated message, or one out
            // of order.
            if (sequence < _warmUp || _latencies[Index(thread, sequence)] != 0)
            {
                Duplicated++;
                return;
            }
            Reordered++;
        }
        else
        {
            _next[thread] = sequence + 1;
        }
        if (sequence >= _warmUp)
        {
            _latencies[Index(thread, sequence)] = Math.Max(
                0.001f,
                (float)Stopwatch.GetElapsedTime(stamp).TotalMicroseconds
            );
        }

        Volatile.Write(ref _taken, _taken + 1);
    }

    /// <summary>What came of the measured messages: publisher, sequence, microseconds.</summary>
    public IEnumerable<(int Thread, int Sequence, float Microseconds)> Entries()
    {
        for (int i = 0; i < _latencies.Length; i++)
        {
            if (_latencies[i] != 0)
                yield return (i / _each, _warmUp + (i % _each), _latencies[i]);
        }
    }

    private int Index(int thread, long sequence) => (thread * _each) + (int)(sequence - _warmUp);
}
