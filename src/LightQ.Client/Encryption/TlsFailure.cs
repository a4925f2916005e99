using System.Net.Sockets;
using System.Security.Authentication;

namespace LightQ.Client.Encryption;

/// <summary>Turns what a failed TLS handshake threw into one line.</summary>
internal static class TlsFailure
{
    /// <summary>What the libraries under TLS call it, and what it means.</summary>
    private static readonly (string Sign, string Meaning)[] Signs =
    [
        (
            "frame size or a corrupted frame",
            "does not speak TLS: is it the right port, and does the broker have a certificate?"
        ),
        ("wrong version number", "does not speak TLS: is it the right port, and does the broker have a certificate?"),
        (
            "no application protocol",
            "does not speak HTTP/2 as gRPC needs it: is control=PORT the broker's control port?"
        ),
        ("certificate required", "requires a client certificate: give cert=FILE and key=FILE."),
        ("alert bad certificate", "refused this client's certificate."),
        ("alert certificate", "refused this client's certificate."),
        ("alert unknown ca", "does not trust the authority of this client's certificate."),
        ("protocol version", "has no version of TLS in common with this client, which speaks 1.2 and 1.3."),
        ("unsupported protocol", "has no version of TLS in common with this client, which speaks 1.2 and 1.3."),
        ("handshake failure", "has no way of encryption in common with this client, or requires a client certificate."),
    ];

    /// <summary>Explains a failed call of the control plane; null when TLS has nothing to do with it.</summary>
    public static LightQException? ExplainCall(Exception exception, LightQClientOptions options)
    {
        for (Exception? e = exception; e is not null; e = e.InnerException)
        {
            if (e is HttpRequestException { HttpRequestError: HttpRequestError.SecureConnectionError })
                return Explain(exception, options);
        }
        return null;
    }

    /// <summary>Explains a failure before the broker's Welcome; null when TLS has nothing to do with it.</summary>
    public static LightQException? Explain(Exception exception, LightQClientOptions options)
    {
        bool ofTls = false;
        for (Exception? e = exception; e is not null; e = e.InnerException)
        {
            if (e is UntrustedBrokerException)
                return new LightQException(ErrorCode.TlsFailed, e.Message, exception);
            if (
                Array.Find(Signs, s => e.Message.Contains(s.Sign, StringComparison.OrdinalIgnoreCase)) is
                { Meaning: { } meaning }
            )
            {
                return new LightQException(ErrorCode.TlsFailed, $"What answers at {options} {meaning}", exception);
            }
            // Nothing can be said before a handshake: so ends a broker that stops, and so does one that meets a limit.
            if (
                e is SocketException { SocketErrorCode: SocketError.ConnectionReset or SocketError.Shutdown }
                || e.Message.Contains("unexpected EOF", StringComparison.OrdinalIgnoreCase)
            )
            {
                return new LightQException(
                    ErrorCode.Unavailable,
                    $"What answers at {options} closed the connection before the TLS handshake was done: it stops, or "
                        + $"has met a limit on connections; its log says which.",
                    exception
                );
            }

            if (e is SocketException)
                return null;
            ofTls |= e is AuthenticationException or IOException;
        }
        return ofTls
            ? new LightQException(
                ErrorCode.TlsFailed,
                $"TLS with {options} failed: {exception.GetBaseException().Message}",
                exception
            )
            : null;
    }
}
