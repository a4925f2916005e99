namespace LightQ.Client.Connections;

/// <summary>
/// What a broker answers for a partition that it could not open at its start, or whose disk has failed since, while it
/// serves the topic's others.
/// </summary>
internal static class PartitionRefusal
{
    /// <summary>Whether a stream that is answered like this may be opened on a broker that was started again.</summary>
    public static bool Is(ErrorCode code) => code is ErrorCode.CorruptData or ErrorCode.TopicFailed;
}
