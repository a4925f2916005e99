using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Protocol.Records;

namespace LightQ.Client.Publishing;

/// <summary>What a topic takes of messages, as far as the broker has said it.</summary>
/// <param name="Topic">The topic's name.</param>
/// <param name="MaxMessageBytes">The largest message: key, headers and body.</param>
/// <param name="MaxBatchBytes">The largest batch: the topic's, or what fits a frame.</param>
/// <param name="LongestDelay">See <see cref="ProducerOpenedFrame.LongestDelay"/>.</param>
internal readonly record struct TopicLimits(string Topic, long MaxMessageBytes, int MaxBatchBytes, ulong LongestDelay)
{
    public static TopicLimits Of(string topic, in ProducerOpenedFrame opened, int frameBatchBytes) =>
        new(
            topic,
            opened.MaxMessageBytes,
            (int)Math.Min(opened.MaxBatchBytes, (uint)frameBatchBytes),
            opened.LongestDelay
        );

    /// <summary>Whether something that the others allow is not taken any more.</summary>
    public bool IsNarrowerThan(in TopicLimits others) =>
        MaxBatchBytes < others.MaxBatchBytes
        || MaxMessageBytes < others.MaxMessageBytes
        || LongestDelay < others.LongestDelay;

    /// <summary>Whether a record of so many bytes is taken.</summary>
    public bool IsShortEnough(long recordLength, in BatchProperties properties) =>
        recordLength - RecordLayout.FixedSize <= MaxMessageBytes
        && recordLength + properties.HeaderLength + BatchLayout.Alignment <= MaxBatchBytes;

    /// <summary>Whether messages with these times are taken.</summary>
    public bool Takes(in BatchProperties properties) => properties.DueAt == 0 || LongestDelay != 0;

    public LightQException TooLarge(int recordLength) =>
        new(
            ErrorCode.MessageTooLarge,
            $"The message has {recordLength - RecordLayout.FixedSize} bytes of key, headers and body; {Topic} takes "
                + $"{Math.Min(MaxMessageBytes, MaxBatchBytes - BatchLayout.HeaderSize)}."
        );

    /// <summary>Throws when messages with these times are not taken.</summary>
    public void DemandTimes(in BatchProperties properties)
    {
        if (!Takes(properties))
            throw NoDelays();
    }

    public LightQException NoDelays() =>
        new(ErrorCode.NotSupported, $"{Topic} is transient: only durable topics deliver messages later.");
}
