namespace LightQ.Client.Publishing;

/// <summary>Why a broker rejected messages, for people.</summary>
internal static class Refusal
{
    public static string Describe(ErrorCode error) =>
        error switch
        {
            ErrorCode.DiskFull => "the disk is full",
            ErrorCode.NotSupported => "it is transient and delivers nothing later",
            ErrorCode.ResourceExhausted => "too many delayed messages wait already",
            ErrorCode.Fenced => "a newer producer of this name has taken over",
            ErrorCode.TopicFailed => "the topic's log has failed",
            _ => error.ToString(),
        };
}
