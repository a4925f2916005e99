using LightQ.Client;

namespace LightQ.IntegrationTests.Faults;

/// <summary>What a producer knows of one of its messages, and where readers saw it. Thread-safe.</summary>
internal sealed class SentMessage(int producer, long sequence, uint crc)
{
    private long _place = -1;
    private long _acknowledgedAt = -1;
    private int _acknowledged;

    /// <summary>The producer's number in the run.</summary>
    public int Producer { get; } = producer;

    /// <summary>Which of the producer's messages this is.</summary>
    public long Sequence { get; } = sequence;

    /// <summary>CRC-32C of the body.</summary>
    public uint Crc { get; } = crc;

    /// <summary>What the ack said; <see cref="Durability.Default"/> when there was none.</summary>
    public Durability Acknowledged => (Durability)Volatile.Read(ref _acknowledged);

    /// <summary>The <see cref="LogPlace"/> that the ack said, or -1.</summary>
    public long AcknowledgedAt => Volatile.Read(ref _acknowledgedAt);

    /// <summary>The place at which a verification read it, or -1.</summary>
    public long FoundAt { get; set; } = -1;

    /// <summary>Looked for behind a crash and not there, as its ack allows: it must not come back.</summary>
    public bool IsGone { get; set; }

    public void Acknowledge(long place, Durability durability)
    {
        Volatile.Write(ref _acknowledgedAt, place);
        Volatile.Write(ref _acknowledged, (int)durability);
    }

    /// <summary>Notes where a reader saw it.</summary>
    /// <returns>False when it had been seen, or was acknowledged, somewhere else.</returns>
    public bool TryPlace(long place)
    {
        long before = Interlocked.CompareExchange(ref _place, place, -1);
        return (before < 0 || before == place) && (AcknowledgedAt < 0 || AcknowledgedAt == place);
    }

    public override string ToString() =>
        $"message {Sequence} of producer {Producer} "
        + $"(acknowledged {Acknowledged} at {LogPlace.Describe(AcknowledgedAt)}, seen at {LogPlace.Describe(_place)}, "
        + $"verified at {LogPlace.Describe(FoundAt)})";
}
