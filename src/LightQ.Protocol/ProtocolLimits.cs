namespace LightQ.Protocol;

/// <summary>Limits and defaults of the data plane. A broker states in its Welcome what it enforces.</summary>
public static class ProtocolLimits
{
    /// <summary>The protocol version this library speaks.</summary>
    public const ushort Version = 1;

    /// <summary>Largest frame before the handshake is accepted, in bytes.</summary>
    public const int HandshakeFrameBytes = 8 * 1024;

    /// <summary>Default for the largest frame, header included, in bytes.</summary>
    public const int DefaultFrameBytes = 4 * 1024 * 1024;

    /// <summary>Default for the largest message (key, headers and body together), in bytes.</summary>
    public const int DefaultMessageBytes = 1024 * 1024;

    /// <summary>Bytes that a batch may hold beyond the message limit.</summary>
    public const int BatchOverheadBytes = 64 * 1024;

    /// <summary>Default for the largest batch, header included, in bytes.</summary>
    public const int DefaultBatchBytes = DefaultMessageBytes + BatchOverheadBytes;

    /// <summary>Most bytes that the records of a compressed batch may have when they are inflated.</summary>
    public const int InflatedBatchBytes = 16 * 1024 * 1024;

    /// <summary>
    /// Most bytes of records for each byte of a compressed batch's payload; a batch that compresses better is padded.
    /// </summary>
    public const int InflationRatio = 256;

    /// <summary>A client's clock that differs more from the broker's is told of.</summary>
    public static readonly TimeSpan ClockSkewToTell = TimeSpan.FromSeconds(30);

    /// <summary>The longest time for which messages may be delayed.</summary>
    public static readonly TimeSpan LongestDelay = TimeSpan.FromDays(365);

    /// <summary>
    /// What a broker allows beyond <see cref="LongestDelay"/>: producers round due times up, and have clocks of their
    /// own.
    /// </summary>
    public static readonly TimeSpan DueTimeSlack = TimeSpan.FromHours(1);

    /// <summary>
    /// Largest run of batches in one Deliver frame, in bytes, unless its first batch alone is longer.
    /// </summary>
    public const int DeliverRunBytes = 256 * 1024;

    /// <summary>Default publish window of a producer stream: bytes sent and not yet appended by the broker.</summary>
    public const int DefaultPublishWindowBytes = 1024 * 1024;

    /// <summary>Most bytes a producer stream may have sent and not yet acknowledged.</summary>
    public const int UnacknowledgedBytes = 8 * 1024 * 1024;

    /// <summary>Credit that the SDK grants a subscription, in bytes; the SDK grants more when half is used.</summary>
    public const int DefaultCreditBytes = 4 * 1024 * 1024;

    /// <summary>Shortest time-out that a blocking subscription may choose, in milliseconds.</summary>
    public const uint MinSlowTimeoutMilliseconds = 500;

    /// <summary>Longest time-out that a blocking subscription may choose, in milliseconds: a day.</summary>
    public const uint MaxSlowTimeoutMilliseconds = 24 * 60 * 60 * 1000;

    /// <summary>Shortest lock of a delivered message, in milliseconds.</summary>
    public const uint MinLockMilliseconds = 1000;

    /// <summary>Longest lock of a delivered message, in milliseconds: twelve hours.</summary>
    public const uint MaxLockMilliseconds = 12 * 60 * 60 * 1000;

    /// <summary>
    /// The longest message id, in bytes of UTF-8. With both times, the batch header then has 246 of at most 256 bytes.
    /// </summary>
    public const int MaxMessageIdBytes = 128;

    /// <summary>How many of a named producer's last batches the broker remembers.</summary>
    public const int RememberedBatches = 1024;

    /// <summary>
    /// Most batches that a named producer's stream may have sent and not yet acknowledged: the broker remembers
    /// everything that the producer may have to send again.
    /// </summary>
    public const int UnacknowledgedBatches = RememberedBatches;

    /// <summary>Most partitions of a topic.</summary>
    public const int MaxPartitions = 1024;

    /// <summary>Most characters of the reason with which messages are dead-lettered; the rest is dropped.</summary>
    public const int ReasonLength = 1024;

    /// <summary>Longest string in a frame, in bytes of UTF-8.</summary>
    public const int StringBytes = ushort.MaxValue;

    /// <summary>The default data-plane port.</summary>
    public const int DefaultDataPort = 5700;

    /// <summary>The default control-plane (gRPC) port.</summary>
    public const int DefaultControlPort = 5701;

    /// <summary>The default web port (health, metrics).</summary>
    public const int DefaultWebPort = 5702;
}
