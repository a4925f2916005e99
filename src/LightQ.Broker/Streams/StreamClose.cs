namespace LightQ.Broker.Streams;

/// <summary>Why a stream ends.</summary>
/// <param name="Code"><see cref="ErrorCode.None"/> for an ordinary end.</param>
/// <param name="Message">For people.</param>
public sealed record StreamClose(ErrorCode Code, string Message)
{
    /// <summary>The end the client asked for.</summary>
    public static readonly StreamClose Ordinary = new(ErrorCode.None, "");
}
