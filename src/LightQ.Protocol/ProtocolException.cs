namespace LightQ.Protocol;

/// <summary>The bytes do not follow the protocol. The only exception that the readers of this library throw.</summary>
public sealed class ProtocolException : Exception
{
    /// <summary>Makes the exception.</summary>
    /// <param name="code">What kind of violation it is.</param>
    /// <param name="message">What was found and what is allowed.</param>
    public ProtocolException(ErrorCode code, string message)
        : base(message) => Code = code;

    /// <summary>What kind of violation it is; the code for an <see cref="Frames.ErrorFrame"/> to the peer.</summary>
    public ErrorCode Code { get; }
}
