using System.Text;
using LightQ.Server.Limits;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Server.Kestrel.Core;

namespace LightQ.Server.Ports;

/// <summary>
/// Counts the connections of an HTTP port, and rejects those beyond the limit before a byte of them is read.
/// </summary>
/// <param name="limits">The limits.</param>
/// <param name="setting">The one of this port: the name of the <see cref="HttpOptions"/>' property.</param>
/// <param name="most">Its value.</param>
/// <param name="answer">
/// Sends a peer the reason in its own protocol; null on a port that speaks TLS, where nothing can be sent before a
/// handshake.
/// </param>
internal sealed class ConnectionGate(
    ServerLimits limits,
    string setting,
    Func<HttpOptions, int> most,
    Func<string, byte[]>? answer
)
{
    private const int MostRefused = 100;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(1);

    private readonly ConnectionCounter _counter = new();
    private int _refused;

    /// <summary>Puts it in front of a port.</summary>
    public void Guard(ListenOptions listen) => listen.Use(next => connection => MeetAsync(connection, next));

    /// <summary>An answer of HTTP/1.1.</summary>
    public static byte[] Http1(string reason) =>
        Encoding.UTF8.GetBytes(
            $"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: "
                + $"close\r\nContent-Length: {Encoding.UTF8.GetByteCount(reason) + 1}\r\n\r\n{reason}\n"
        );

    /// <summary>An answer of HTTP/2: no settings, and GOAWAY with ENHANCE_YOUR_CALM and the reason.</summary>
    public static byte[] Http2(string reason)
    {
        const int FrameHeader = 9,
            GoAway = 7,
            EnhanceYourCalm = 11,
            Settings = 4;
        int text = Encoding.UTF8.GetByteCount(reason),
            body = 8 + text;
        byte[] bytes = new byte[FrameHeader + FrameHeader + body];
        bytes[3] = Settings;
        Span<byte> frame = bytes.AsSpan(FrameHeader);
        (frame[0], frame[1], frame[2], frame[3]) = ((byte)(body >> 16), (byte)(body >> 8), (byte)body, GoAway);
        frame[FrameHeader + 7] = EnhanceYourCalm; // Behind the last stream served, which is none.
        Encoding.UTF8.GetBytes(reason, frame[(FrameHeader + 8)..]);
        return bytes;
    }

    private async Task MeetAsync(ConnectionContext connection, ConnectionDelegate next)
    {
        HttpOptions options = limits.Http;
        Admission admission = _counter.TryAdd(
            connection.RemoteEndPoint,
            most(options),
            options.MaxConnectionsPerAddress
        );
        if (admission != Admission.Admitted)
        {
            await RefuseAsync(connection, Reason(connection, admission, options)).ConfigureAwait(false);
            return;
        }
        try
        {
            await next(connection).ConfigureAwait(false);
        }
        finally
        {
            _counter.Remove(connection.RemoteEndPoint);
        }
    }

    private string Reason(ConnectionContext connection, Admission admission, HttpOptions options) =>
        admission == Admission.TooMany
            ? limits.HttpRefusals.Refuse(
                setting,
                most(options),
                $"{connection.RemoteEndPoint} is refused: as many connections are open"
            )
            : limits.HttpRefusals.Refuse(
                nameof(HttpOptions.MaxConnectionsPerAddress),
                options.MaxConnectionsPerAddress,
                $"{connection.RemoteEndPoint} is refused: as many connections are open from its address"
            );

    private async Task RefuseAsync(ConnectionContext connection, string reason)
    {
        if (answer is null || Volatile.Read(ref _refused) >= MostRefused)
        {
            connection.Abort();
            return;
        }
        Interlocked.Increment(ref _refused);
        try
        {
            await TlsGate.AnswerAsync(connection, answer(reason), Patience).ConfigureAwait(false);
        }
        finally
        {
            Interlocked.Decrement(ref _refused);
        }
    }
}
