namespace LightQ.Client.Publishing;

/// <summary>Why a broker rejected messages.</summary>
internal static class Refusal
{
    /// <summary>
    /// Whether the error is that of messages, not of their producer: it goes on, and others may be stored.
    /// </summary>
    public static bool IsOfMessages(ErrorCode error) =>
        error
            is ErrorCode.NotSupported
                or ErrorCode.InvalidArgument
                or ErrorCode.MessageTooLarge
                or ErrorCode.ResourceExhausted;

    /// <summary>Whether the error holds for all partitions of a producer, and for as long as it lives.</summary>
    public static bool EndsProducer(ErrorCode error) =>
        error
            is ErrorCode.Fenced
                or ErrorCode.TopicDeleted
                or ErrorCode.UnknownTopic
                or ErrorCode.PermissionDenied
                or ErrorCode.Unauthenticated;

    /// <summary>The broker's protocol has no level 'replicated'.</summary>
    public static LightQException NoCluster(string broker) =>
        new(
            ErrorCode.NotSupported,
            $"The broker at {broker} has no cluster, so nothing is acknowledged at 'replicated'."
        );

    /// <summary>The topic was made anew with other partitions.</summary>
    public static LightQException OtherPartitions(string topic, uint now, uint before) =>
        new(
            ErrorCode.TopicDeleted,
            $"{topic} was deleted and made again with {now} partitions, not {before}: open another producer."
        );

    /// <summary>The same for people.</summary>
    public static string Describe(string topic, ErrorCode error)
    {
        string reason = error switch
        {
            ErrorCode.DiskFull => "the disk is full",
            ErrorCode.NotSupported => "it is transient and delivers nothing later",
            ErrorCode.InvalidArgument =>
                $"they are due in more than {Protocol.ProtocolLimits.LongestDelay.TotalDays} days",
            ErrorCode.MessageTooLarge => "they are longer than it allows",
            ErrorCode.ResourceExhausted => "too many delayed messages wait already",
            ErrorCode.UnknownProducer => "it does not know any more whether it has stored them",
            ErrorCode.Fenced => "a newer producer of this name has taken over",
            ErrorCode.TopicFailed => "the topic's log has failed",
            _ => error.ToString(),
        };
        return $"The broker refused messages of {topic}: {reason}.";
    }
}
