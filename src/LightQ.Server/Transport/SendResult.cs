namespace LightQ.Server.Transport;

/// <summary>What became of a send.</summary>
internal enum SendResult
{
    /// <summary>All bytes are in the socket.</summary>
    Sent,

    /// <summary>The socket is full; <see cref="ISendEvents.OnSendCompleted"/> follows.</summary>
    Pending,

    /// <summary>The peer is gone.</summary>
    Failed,
}
