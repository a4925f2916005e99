using LightQ.Broker.Streams;

namespace LightQ.Server.Connections;

/// <summary>What a session and its output report to the connection that they are parts of.</summary>
internal interface IConnectionEvents
{
    /// <summary>
    /// Whether the peer has ended the connection, as far as the system knows: also when nobody reads at the moment. Any
    /// thread.
    /// </summary>
    bool IsPeerGone { get; }

    /// <summary>The peer has logged in, before it is welcomed. By the reading thread.</summary>
    /// <param name="user">What gets a share of the limits besides the peer's address.</param>
    /// <exception cref="LightQ.Protocol.ProtocolException">It has its share of the connections.</exception>
    void OnLoggedIn(string user);

    /// <summary>The peer is welcomed. By the reading thread.</summary>
    void OnWelcomed();

    /// <summary>
    /// The broker has to report to the peer that it must go, or that a stream has ended: the peer may be one that does
    /// not read. Any thread.
    /// </summary>
    void OnEndPending();

    /// <summary>A stream has ended. In a turn, before it is released.</summary>
    void OnStreamEnded(OutputStream stream);

    /// <summary>A turn failed inside the broker; the connection is then cut.</summary>
    void OnCrashed(Exception error);

    /// <summary>Once, when the input has ended and no send is under way: streams can be released.</summary>
    void OnClosed();
}
