using System.IO.Compression;
using LightQ.Protocol;
using LightQ.Protocol.Batches;

namespace LightQ.Client;

/// <summary>How a producer sends. Immutable; a value outside its range throws when it is set.</summary>
public sealed record ProducerOptions
{
    internal const int SmallestBatchBytes = 1024;

    /// <summary>
    /// Makes the producer idempotent: after a reconnect or a restart the broker recognizes it by this name, and stores
    /// messages that are sent again only once. There is at most one producer of a name at a time. A newer one takes
    /// over, and the older one gets <see cref="ErrorCode.Fenced"/>. Null (the default): anonymous. Publishes that were
    /// under way when the connection was lost then fail with <see cref="ErrorCode.OutcomeUnknown"/>.
    /// </summary>
    public string? Name
    {
        get;
        init =>
            field =
                value is null || TopicName.IsValid(value)
                    ? value
                    : throw new ArgumentException($"A producer's name has {TopicName.Rule}.", nameof(value));
    }

    /// <summary>
    /// The partition to publish to, whatever the messages' keys are; null (the default) for all of them, or for the one
    /// that the topic's address names (<c>orders/3</c>). With all partitions, a message's key chooses its partition;
    /// see <see cref="Producer"/>.
    /// </summary>
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

    /// <summary>How safe a message must be before it is acknowledged. Default: the topic's ack level.</summary>
    public Durability AckLevel { get; init; }

    /// <summary>
    /// Largest batch, in bytes, 1 KiB to 1 MiB. Default: 64 KiB. A message that does not fit gets a batch of its own.
    /// Small values cost throughput, large ones memory. Latency hardly depends on the value, because a batch never
    /// waits to become full.
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

    /// <summary>
    /// How batches are compressed. Default: not at all. A batch that would not become shorter is sent as it is. The
    /// broker keeps and delivers the compressed bytes; consumers inflate them. Larger batches compress better: see
    /// <see cref="BatchBytes"/>.
    /// </summary>
    public BatchCodec Compression
    {
        get;
        init =>
            field = Enum.IsDefined(value)
                ? value
                : throw new ArgumentOutOfRangeException(nameof(value), value, "None, Brotli or Deflate.");
    }

    /// <summary>
    /// How hard the codec tries. Default: the fastest. The other levels take several times as long, on the thread that
    /// sends.
    /// </summary>
    public CompressionLevel CompressionLevel
    {
        get;
        init =>
            field = Enum.IsDefined(value)
                ? value
                : throw new ArgumentOutOfRangeException(nameof(value), value, "One of the framework's levels.");
    } = CompressionLevel.Fastest;

    /// <summary>
    /// Batches with fewer bytes of messages are not compressed. Default: 512; 0 tries to compress every batch.
    /// </summary>
    public int CompressionMinimumBytes
    {
        get;
        init
        {
            ArgumentOutOfRangeException.ThrowIfNegative(value);
            field = value;
        }
    } = 512;

    /// <summary>
    /// The time to live of messages whose <see cref="PublishOptions"/> do not set one: at least 1 ms. Null (the
    /// default): for ever.
    /// </summary>
    public TimeSpan? TimeToLive
    {
        get;
        init
        {
            if (value is { } time)
                ArgumentOutOfRangeException.ThrowIfLessThan(time, PublishOptions.ShortestTimeToLive, nameof(value));
            field = value;
        }
    }

    /// <summary>
    /// How long <see cref="Producer.DisposeAsync"/> waits for the messages under way. Default: 5 s; zero: not at all.
    /// </summary>
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
