using System.Diagnostics;

namespace LightQ.Cli.Bench;

/// <summary>Looks at every message a consumer gets: its number, its content and, if asked, how old it is.</summary>
/// <remarks>One thread takes; <see cref="Taken"/> may be read by another.</remarks>
internal sealed class DeliveryCheck
{
    private readonly MessagePattern _pattern;
    private readonly LatencyHistogram? _latency;
    private readonly long _sent;

    /// <param name="size">Bytes of every body.</param>
    /// <param name="sent">How many messages will be sent.</param>
    /// <param name="latency">Where ages go, in nanoseconds; null to not measure. Messages with stamp 0 have none.</param>
    public DeliveryCheck(int size, long sent, LatencyHistogram? latency = null)
    {
        _pattern = new MessagePattern(size);
        _sent = sent;
        _latency = latency;
    }

    /// <summary>Messages taken so far, whatever was wrong with them.</summary>
    public long Taken { get; private set; }

    /// <summary>When the last one that was expected came.</summary>
    public long LastTicks { get; private set; }

    /// <summary>Messages whose content was not what was sent.</summary>
    public long Damaged { get; private set; }

    /// <summary>The account of their numbers.</summary>
    public SequenceLedger Ledger { get; } = new();

    /// <summary>Whether every message has come.</summary>
    public bool IsComplete => Ledger.Received >= _sent;

    /// <summary>Takes a message.</summary>
    public void Take(ReadOnlySpan<byte> body)
    {
        Taken++;
        if (!_pattern.TryRead(body, out long sequence, out long stamp))
        {
            Damaged++;
            return;
        }
        Ledger.Take(sequence);
        if (_latency is not null && stamp != 0)
            _latency.Record((Stopwatch.GetTimestamp() - stamp) * (1_000_000_000 / Stopwatch.Frequency));
        if (Ledger.Received == _sent)
            LastTicks = Stopwatch.GetTimestamp();
    }
}
