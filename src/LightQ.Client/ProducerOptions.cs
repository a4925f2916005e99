using LightQ.Protocol;
using LightQ.Protocol.Batches;

namespace LightQ.Client;

/// <summary>How a producer sends. Immutable; a value outside its range throws when it is set.</summary>
public sealed record ProducerOptions
{
    internal const int SmallestBatchBytes = 1024;

    /// <summary>
    /// Makes the producer idempotent: the broker knows it by this name again after a reconnect or a restart, and what was
    /// resent is stored once. At most one producer of a name at a time; a newer one takes over and the older gets
    /// <see cref="ErrorCode.Fenced"/>. Null (the default): anonymous; then publishes that were under way when the connection was
    /// lost fail with <see cref="ErrorCode.OutcomeUnknown"/>.
    /// </summary>
    public string? Name
    {
        get;
        init => field = value is null || TopicName.IsValid(value) ? value : throw new ArgumentException($"A producer's name has {TopicName.Rule}.", nameof(value));
    }

    /// <summary>The partition to publish to; null (the default) lets the broker choose one. Topics have partition 0 only for now.</summary>
    public int? Partition
    {
        get;
        init
        {
            if (value is { } partition)
                ArgumentOutOfRangeException.ThrowIfNegative(partition, nameof(value));
            field = value;
        }
    }

    /// <summary>How safe a message must be before it is acknowledged. Default: what the topic says.</summary>
    public Durability AckLevel { get; init; }

    /// <summary>
    /// Largest batch, in bytes, 1 KiB to 1 MiB. Default: 64 KiB. A message that does not fit gets a batch of its own. Small values
    /// cost throughput, large ones memory; latency hardly depends on it, because a batch never waits to become full.
    /// </summary>
    public int BatchBytes
    {
        get;
        init
        {
            ArgumentOutOfRangeException.ThrowIfLessThan(value, SmallestBatchBytes);
            ArgumentOutOfRangeException.ThrowIfGreaterThan(value, ProtocolLimits.DefaultMessageBytes);
            field = BatchLayout.Align(value);
        }
    } = 64 * 1024;

    /// <summary>How long <see cref="Producer.DisposeAsync"/> waits for the messages under way. Default: 5 s; zero: not at all.</summary>
    public TimeSpan DisposeTimeout
    {
        get;
        init
        {
            ArgumentOutOfRangeException.ThrowIfLessThan(value, TimeSpan.Zero);
            field = value;
        }
    } = TimeSpan.FromSeconds(5);
}
