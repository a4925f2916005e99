namespace LightQ.Server.Tls;

/// <summary>
/// There was no TLS with a peer. The message goes behind "the peer"; an empty one has nothing that is worth a line of
/// the log.
/// </summary>
internal sealed class TlsFailureException(string message, Exception? innerException = null)
    : Exception(message, innerException);
