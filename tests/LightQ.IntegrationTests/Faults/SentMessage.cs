using LightQ.Protocol;

namespace LightQ.IntegrationTests.Faults;

/// <summary>What a producer knows of one of its messages, and where readers saw it. Thread-safe.</summary>
internal sealed class SentMessage(int producer, long sequence, uint crc)
{
    private long _place = -1;
    private long _offset = -1;
    private int _acknowledged;

    /// <summary>The producer's number in the run.</summary>
    public int Producer { get; } = producer;

    /// <summary>Which of the producer's messages this is.</summary>
    public long Sequence { get; } = sequence;

    /// <summary>CRC-32C of the body.</summary>
    public uint Crc { get; } = crc;

    /// <summary>What the ack said; <see cref="Durability.Default"/> when there was none.</summary>
    public Durability Acknowledged => (Durability)Volatile.Read(ref _acknowledged);

    /// <summary>The offset that the ack said, or -1.</summary>
    public long Offset => Volatile.Read(ref _offset);

    /// <summary>The offset at which a verification read it, or -1.</summary>
    public long FoundAt { get; set; } = -1;

    /// <summary>Looked for behind a crash and not there, as its ack allows: it must not come back.</summary>
    public bool IsGone { get; set; }

    public void Acknowledge(long offset, Durability durability)
    {
        Volatile.Write(ref _offset, offset);
        Volatile.Write(ref _acknowledged, (int)durability);
    }

    /// <summary>Notes where a reader saw it.</summary>
    /// <returns>False when it had been seen, or was acknowledged, somewhere else.</returns>
    public bool TryPlace(long offset)
    {
        long before = Interlocked.CompareExchange(ref _place, offset, -1);
        return (before < 0 || before == offset) && (Offset < 0 || Offset == offset);
    }

    public override string ToString() => $"message {Sequence} of producer {Producer} (acknowledged {Acknowledged} at {Offset}, seen at {_place}, verified at {FoundAt})";
}
