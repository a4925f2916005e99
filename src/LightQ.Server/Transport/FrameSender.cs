namespace LightQ.Server.Transport;

/// <summary>Sends bytes to a peer, one send at a time. The seam between a connection's output and its socket.</summary>
internal abstract class FrameSender : IDisposable
{
    /// <summary>Called when a pending send has ended.</summary>
    public ISendEvents? Events { get; set; }

    /// <summary>
    /// Sends <paramref name="head"/> and then <paramref name="tail"/>, with one system call if the socket takes them.
    /// </summary>
    /// <returns>Whether it is done, still pending, or the peer is gone. The memory is used until then.</returns>
    public abstract SendResult TrySend(ReadOnlyMemory<byte> head, ReadOnlyMemory<byte> tail);

    /// <summary>Says that nothing more will be sent; the peer reads what is under way, then the end.</summary>
    public abstract void EndSending();

    /// <summary>Cuts the connection at once.</summary>
    public abstract void Abort();

    /// <summary>Releases what sending takes; nothing is under way any more.</summary>
    public abstract void Dispose();
}
