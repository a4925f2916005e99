using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using LightQ.Bench.Figures;

namespace LightQ.Bench.Checks;

/// <summary>Looks at every message a consumer gets: its number, its content and, if asked, how old it is.</summary>
/// <remarks>One thread takes; <see cref="Taken"/> may be read by another.</remarks>
internal sealed class DeliveryCheck
{
    private MessagePattern? _pattern;
    private readonly LatencyHistogram? _latency;
    private readonly long _sent;

    /// <param name="size">Bytes of every body.</param>
    /// <param name="sent">How many messages will be sent.</param>
    /// <param name="latency">
    /// Where ages go, in nanoseconds; null to not measure. Messages with stamp 0 have none.
    /// </param>
    public DeliveryCheck(int size, long sent, LatencyHistogram? latency = null)
    {
        _pattern = new MessagePattern(size);
        _sent = sent;
        _latency = latency;
    }

    private DeliveryCheck(long sent, LatencyHistogram latency)
    {
        _sent = sent;
        _latency = latency;
    }

    /// <summary>Messages taken so far, whatever was wrong with them.</summary>
    public long Taken { get; private set; }

    /// <summary>Messages that lay there before the run's first one; only of a check that knows no size.</summary>
    public long Skipped { get; private set; }

    /// <summary>Whether the run has begun; a check that knows its size does not wait for that.</summary>
    [MemberNotNullWhen(true, nameof(_pattern))]
    public bool HasBegun => _pattern is not null;

    /// <summary>Bytes of every body; 0 before the run has begun.</summary>
    public int Size => _pattern?.Size ?? 0;

    /// <summary>The stamp of the run's first message, and when it came; only of a check that waited for it.</summary>
    public (long Stamp, long Received) First { get; private set; }

    /// <summary>When the last one that was expected came.</summary>
    public long LastTicks { get; private set; }

    /// <summary>Messages whose content was not what was sent.</summary>
    public long Damaged { get; private set; }

    /// <summary>The account of their numbers.</summary>
    public SequenceLedger Ledger { get; } = new();

    /// <summary>Whether every message has come.</summary>
    public bool IsComplete => Ledger.Received >= _sent;

    /// <summary>
    /// A check that learns the size from the run's first message and skips what lies before that one.
    /// </summary>
    /// <param name="sent">How many messages will be sent.</param>
    /// <param name="latency">Where ages go, in nanoseconds.</param>
    public static DeliveryCheck OfNextRun(long sent, LatencyHistogram latency) => new(sent, latency);

    /// <summary>Takes a message.</summary>
    /// <param name="body">Its body.</param>
    /// <param name="received">When it was received; 0 for now.</param>
    public void Take(ReadOnlySpan<byte> body, long received = 0)
    {
        Taken++;
        if (!HasBegun && !TryBegin(body))
            return;
        if (!_pattern.TryRead(body, out long sequence, out long stamp))
        {
            Damaged++;
            return;
        }
        Ledger.Take(sequence);
        if (_latency is not null && stamp != 0)
        {
            _latency.Record(
                ((received != 0 ? received : Stopwatch.GetTimestamp()) - stamp) * (1_000_000_000 / Stopwatch.Frequency)
            );
        }

        if (Ledger.Received == _sent)
            LastTicks = Stopwatch.GetTimestamp();
    }

    [MemberNotNullWhen(true, nameof(_pattern))]
    private bool TryBegin(ReadOnlySpan<byte> body)
    {
        if (MessagePattern.IsFirst(body))
        {
            var pattern = new MessagePattern(body.Length);
            if (pattern.TryRead(body, out _, out long stamp))
            {
                _pattern = pattern;
                First = (stamp, Stopwatch.GetTimestamp());
                return true;
            }
        }
        Skipped++;
        return false;
    }
}
