using System.Net.Sockets;
using System.Security.Authentication;

namespace LightQ.Server.Tls;

/// <summary>What a failed handshake means, in words that go behind "the peer".</summary>
internal static class TlsFailure
{
    /// <summary>What OpenSSL calls what a peer's alert says.</summary>
    private static readonly (string Alert, string Meaning)[] Alerts =
    [
        ("alert unknown ca", "does not trust the authority of this broker's certificate"),
        ("alert bad certificate", "refused this broker's certificate"),
        ("alert certificate expired", "says that this broker's certificate has expired"),
        ("alert certificate unknown", "refused this broker's certificate"),
        ("unsupported protocol", "speaks no version of TLS from 1.2 on"),
        ("wrong version number", "does not speak TLS"),
        ("no shared cipher", "has no cipher in common with this broker"),
        ("no suitable signature algorithm", "cannot check signatures of this broker's kind of key"),
    ];

    /// <summary>Describes it; an empty text is not worth a line.</summary>
    public static string Describe(Exception error)
    {
        for (Exception? e = error; e is not null; e = e.InnerException)
        {
            foreach ((string alert, string meaning) in Alerts)
            {
                if (e.Message.Contains(alert, StringComparison.OrdinalIgnoreCase))
                    return meaning;
            }
            if (e is SocketException { SocketErrorCode: SocketError.OperationAborted } or ObjectDisposedException)
                return ""; // This broker cut the connection, and has said so.
        }
        return error is AuthenticationException
            ? $"failed the TLS handshake: {(error.InnerException ?? error).Message}"
            : "ended the connection during the TLS handshake: it may not trust this broker's certificate";
    }
}
