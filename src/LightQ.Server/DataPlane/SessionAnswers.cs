using LightQ.Broker;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using LightQ.Server.Connections;
using LightQ.Server.Limits;

namespace LightQ.Server.DataPlane;

/// <summary>What a session answers, and the limits at which it ends instead.</summary>
/// <param name="output">Where it goes.</param>
/// <param name="limits">The limits.</param>
internal sealed class SessionAnswers(ConnectionOutput output, ServerLimits limits)
{
    private volatile bool _isLogged;

    /// <summary>Whether the reason for the end is logged, or need not be.</summary>
    public bool IsLogged
    {
        get => _isLogged;
        set => _isLogged = value;
    }

    /// <summary>Sends a frame.</summary>
    /// <exception cref="ProtocolException">The client does not read its answers.</exception>
    public void Answer<TBody>(in TBody body, uint stream = 0, uint tag = 0)
        where TBody : IFrameBody<TBody> => ThrowUnless(output.Answer(new FrameAnswer<TBody>(body, stream, tag)));

    /// <summary>Ends the connection of a client that does not read its answers.</summary>
    /// <exception cref="ProtocolException">It does not.</exception>
    public void ThrowUnless(bool clientReads)
    {
        if (!clientReads)
        {
            throw LimitMet(
                ErrorCode.ResourceExhausted,
                limits.DataPlaneRefusals,
                nameof(DataPlaneOptions.MaxUnreadAnswerBytes),
                limits.DataPlane.MaxUnreadAnswerBytes,
                "The client does not read its answers"
            );
        }
    }

    /// <summary>The peer has met a limit, which logs it.</summary>
    public ProtocolException LimitMet(
        ErrorCode code,
        LimitRefusals refusals,
        string setting,
        IFormattable limit,
        string found
    )
    {
        _isLogged = true;
        return new ProtocolException(code, refusals.Refuse(setting, limit, found));
    }
}
