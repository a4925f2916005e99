namespace LightQ.Server.Transport;

/// <summary>What a <see cref="FrameSender"/> reports to the code that sends through it.</summary>
internal interface ISendEvents
{
    /// <summary>
    /// The socket is full: what is left is sent when the peer has read more. Before the send is pending, on the sending
    /// thread.
    /// </summary>
    /// <param name="head">What is left of the head; may be replaced by a copy.</param>
    /// <param name="held">Bytes of memory that the sender itself keeps meanwhile.</param>
    /// <returns>False when there is no memory to wait with: the send fails.</returns>
    bool OnWaiting(ref ReadOnlyMemory<byte> head, int held);

    /// <summary>A pending send has ended. Any thread.</summary>
    /// <param name="sent">Whether all bytes are out; otherwise the peer is gone.</param>
    void OnSendCompleted(bool sent);
}
