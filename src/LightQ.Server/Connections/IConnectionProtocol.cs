using System.IO.Pipelines;
using LightQ.Protocol;
using LightQ.Server.Security;

namespace LightQ.Server.Connections;

/// <summary>
/// What one connection speaks: reads what its peer sends and answers through <see cref="Output"/>. It knows no sockets.
/// </summary>
internal interface IConnectionProtocol
{
    /// <summary>Everything that the connection sends.</summary>
    ConnectionOutput Output { get; }

    /// <summary>Where the connection comes from, and the user that its certificate names.</summary>
    PeerChannel Peer { get; set; }

    /// <summary>What the client calls itself.</summary>
    string ClientName { get; }

    /// <summary>
    /// How far the client's clock was ahead of the broker's in the handshake; null when it did not say.
    /// </summary>
    TimeSpan? ClockSkew { get; }

    /// <summary>Whether the broker's time has changed by a step, and the peer is to be told.</summary>
    bool HasNewTime { get; }

    /// <summary>The open streams.</summary>
    ConnectionStreams Streams { get; }

    /// <summary>Whether the peer has authenticated and may go on.</summary>
    bool IsWelcomed { get; }

    /// <summary>
    /// Whether the peer is being authenticated: its password may wait for others to be hashed, which is not the peer's
    /// fault.
    /// </summary>
    bool IsAuthenticating { get; }

    /// <summary>Whether an error was sent and the peer is only given time to read it.</summary>
    bool IsRefused { get; }

    /// <summary>
    /// How often the peer says that it is there, when that was agreed with it; null: as often as the settings say.
    /// </summary>
    TimeSpan? Heartbeat => null;

    /// <summary>When something was last received, as a timestamp of the clock.</summary>
    long LastReceive { get; }

    /// <summary>Whether something has arrived in part, and the rest of it is waited for.</summary>
    bool IsWaiting { get; }

    /// <summary>Whether that comes more slowly than it must.</summary>
    /// <param name="rate">With how many bytes a second.</param>
    bool IsTooSlow(out long rate);

    /// <summary>Reads until the peer ends the connection or breaks the protocol.</summary>
    /// <param name="input">What the peer sends.</param>
    /// <param name="refusal">Why it is rejected before it has sent anything; null when it is not.</param>
    /// <returns>
    /// Why it ended, for the log; null when the peer just left, or when the reason is logged already.
    /// </returns>
    Task<ProtocolException?> RunAsync(PipeReader input, ProtocolException? refusal);

    /// <summary>
    /// Ends the connection for a limit that its peer has met, and reports it to the peer. Any thread.
    /// </summary>
    /// <returns>False when nothing can be sent yet.</returns>
    bool TryEnd(ProtocolException reason);

    /// <summary>
    /// Rights have changed: closes the streams that are no longer allowed, or the connection. Any thread.
    /// </summary>
    void Review();

    /// <summary>
    /// Asks the peer for a sign of life, and tells it the broker's time if that has changed by a step.
    /// </summary>
    void Ping();

    /// <summary>Tells the peer that the broker stops in a while.</summary>
    void GoAway(TimeSpan timeLeft);

    /// <summary>Sends what is queued, reports to the peer that the broker stops, and ends.</summary>
    void Finish();
}
