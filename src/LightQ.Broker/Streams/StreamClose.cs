namespace LightQ.Broker.Streams;

/// <summary>Why a stream ends.</summary>
/// <param name="Code"><see cref="ErrorCode.None"/> for an ordinary end.</param>
/// <param name="Message">For people.</param>
public sealed record StreamClose(ErrorCode Code, string Message)
{
    /// <summary>The end the client asked for.</summary>
    public static readonly StreamClose Ordinary = new(ErrorCode.None, "");

    /// <summary>
    /// With <see cref="ErrorCode.NotLeader"/>: the newest epoch of the partition that is known; else 0.
    /// </summary>
    public uint Epoch { get; init; }

    /// <summary>
    /// With <see cref="ErrorCode.NotLeader"/>: <c>host:port</c> of the leader's data plane; empty where that is not
    /// known.
    /// </summary>
    public string Address { get; init; } = "";
}
