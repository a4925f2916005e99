using System.Buffers;
using System.IO.Pipelines;
using System.Net;
using System.Net.Security;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using LightQ.Protocol.Frames;
using LightQ.Server.Limits;
using LightQ.Server.Tls;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Connections.Features;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.AspNetCore.Server.Kestrel.Core.Features;
using Microsoft.AspNetCore.Server.Kestrel.Https;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Ports;

/// <summary>
/// TLS in front of an HTTP port: the same certificate and the same rules as on the data port, and a line in the log for
/// each peer that is rejected.
/// </summary>
internal sealed class TlsGate(ServerTls tls, ServerLimits limits, TimeSpan timeout, TimeProvider time, ILogger logger)
{
    private const string Passed = "lightq.tls.passed",
        Problem = "lightq.tls.problem",
        ClientNames = "lightq.tls.client";
    private const int MostRead = 16 * 1024;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(1);

    /// <summary>Puts it in front of a port.</summary>
    public void Guard(ListenOptions listen, SslApplicationProtocol protocol)
    {
        listen.Use(next => connection => MeetAsync(connection, next));
        listen.UseHttps(
            new TlsHandshakeCallbackOptions
            {
                HandshakeTimeout = timeout,
                OnConnection = context =>
                    ValueTask.FromResult(
                        tls.Begin(
                            (_, certificate, chain, errors) => Judge(context.Connection, certificate, chain, errors),
                            [protocol]
                        )
                    ),
            }
        );
        listen.Use(next => connection => AdmitAsync(connection, next));
    }

    /// <summary>
    /// Turns clients away that have not chosen HTTP/2 in the handshake, as it must be: what serves the port would log
    /// an error for each.
    /// </summary>
    public void RequireHttp2(ListenOptions listen) =>
        listen.Use(next =>
            async connection =>
            {
                if (
                    connection.Features.Get<ITlsApplicationProtocolFeature>() is { } chosen
                    && chosen.ApplicationProtocol.Span.SequenceEqual(SslApplicationProtocol.Http2.Protocol.Span)
                )
                {
                    await next(connection).ConfigureAwait(false);
                    return;
                }
                Log(
                    limits,
                    logger,
                    connection,
                    "did not choose HTTP/2 in the TLS handshake (ALPN h2), and this port speaks nothing else"
                );
                await AnswerAsync(
                        connection,
                        Http1(
                            "400 Bad Request",
                            "This port speaks gRPC: choose HTTP/2 in the TLS handshake (ALPN h2)."
                        ),
                        Patience,
                        time
                    )
                    .ConfigureAwait(false);
            }
        );

    /// <summary>Why nothing is served on a request's connection; null when something is.</summary>
    public static string? ProblemOf(HttpContext http) => Item<string>(http, Problem);

    /// <summary>
    /// Who sends a request by the verified certificate of its connection: its common name and its DNS names. None when
    /// none was shown.
    /// </summary>
    public static IReadOnlyList<string> ClientNamesOf(HttpContext http) =>
        Item<IReadOnlyList<string>>(http, ClientNames) ?? [];

    private static T? Item<T>(HttpContext http, string key)
        where T : class =>
        http.Features.Get<IConnectionItemsFeature>() is { } connection
        && connection.Items.TryGetValue(key, out object? item)
            ? item as T
            : null;

    /// <summary>
    /// As on the data port: the handshake ends well, and a peer without a certificate then gets the reason, in words
    /// that no alert has.
    /// </summary>
    private bool Judge(
        BaseConnectionContext connection,
        X509Certificate? certificate,
        X509Chain? chain,
        SslPolicyErrors errors
    )
    {
        string? problem = tls.ProblemOf(certificate, chain, errors);
        connection.Items[Problem] = problem;
        connection.Items[ClientNames] =
            problem is null && certificate is X509Certificate2 shown ? CertificateNames.Of(shown) : null;
        return true;
    }

    private async Task MeetAsync(ConnectionContext connection, ConnectionDelegate next)
    {
        try
        {
            if (await SpeaksTlsAsync(connection.Transport.Input).ConfigureAwait(false) is not { } speaks)
                return;
            if (!speaks)
            {
                Log(limits, logger, connection, "spoke in the clear on a port that speaks TLS");
                await AnswerPlainAsync(connection).ConfigureAwait(false);
                return;
            }
        }
        catch (Exception e) when (e is IOException or OperationCanceledException)
        {
            return; // The peer has gone, or never said a thing.
        }
        await next(connection).ConfigureAwait(false);
        if (!connection.Items.ContainsKey(Passed))
        {
            Log(
                limits,
                logger,
                connection,
                "failed the TLS handshake: it does not trust this broker's certificate, or speaks no version of TLS "
                    + "from 1.2 on"
            );
        }
    }

    private async Task AdmitAsync(ConnectionContext connection, ConnectionDelegate next)
    {
        connection.Items[Passed] = true;
        if (connection.Items.TryGetValue(Problem, out object? problem) && problem is not null)
            Log(limits, logger, connection, $"was not let in: {problem}");
        await next(connection).ConfigureAwait(false);
    }

    /// <returns>
    /// Null when the peer has left without a byte, like a monitor that checks whether a port is open.
    /// </returns>
    private async Task<bool?> SpeaksTlsAsync(PipeReader input)
    {
        using var enough = new CancellationTokenSource(timeout, time);
        ReadResult read = await input.ReadAsync(enough.Token).ConfigureAwait(false);
        bool? speaks = read.Buffer.IsEmpty ? null : FirstBytes.AreTls(read.Buffer.FirstSpan);
        input.AdvanceTo(read.Buffer.Start);
        return speaks;
    }

    /// <summary>Answers in the language that the peer speaks: HTTP, or that of the data plane.</summary>
    private Task AnswerPlainAsync(ConnectionContext connection)
    {
        const string Reason = "This port speaks TLS: connect with ?tls=true, or https.";
        byte[] answer = Http1("400 Bad Request", Reason);
        if (connection.Transport.Input.TryRead(out ReadResult read))
        {
            ReadOnlySpan<byte> first = read.Buffer.FirstSpan;
            answer = IsHello(first) ? Hello(Reason) : answer;
            connection.Transport.Input.AdvanceTo(read.Buffer.Start);
        }
        return AnswerAsync(connection, answer, Patience, time);
    }

    private static bool IsHello(ReadOnlySpan<byte> bytes) =>
        bytes.Length > sizeof(uint) && bytes[sizeof(uint)] == (byte)FrameType.Hello;

    private static byte[] Hello(string reason)
    {
        var frame = new ArrayBufferWriter<byte>();
        FrameCodec.Write(frame, new ErrorFrame(ErrorCode.TlsFailed, reason), 0, 0);
        return frame.WrittenSpan.ToArray();
    }

    /// <summary>An answer of HTTP/1.1, which clients of HTTP/2 know at least to be none of theirs.</summary>
    private static byte[] Http1(string status, string reason) =>
        Encoding.UTF8.GetBytes(
            $"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\nContent-Length: "
                + $"{Encoding.UTF8.GetByteCount(reason) + 1}\r\n\r\n{reason}\n"
        );

    /// <summary>
    /// Answers, then takes what the peer sends: closed with bytes unread, the connection would be reset and the answer
    /// lost.
    /// </summary>
    public static async Task AnswerAsync(
        ConnectionContext connection,
        byte[] answer,
        TimeSpan patience,
        TimeProvider? time = null
    )
    {
        try
        {
            await connection.Transport.Output.WriteAsync(answer).ConfigureAwait(false);
            using var enough = new CancellationTokenSource(patience, time ?? TimeProvider.System);
            for (long taken = 0; taken < MostRead; )
            {
                ReadResult read = await connection.Transport.Input.ReadAsync(enough.Token).ConfigureAwait(false);
                taken += read.Buffer.Length;
                connection.Transport.Input.AdvanceTo(read.Buffer.End);
                if (read.IsCompleted)
                    return;
            }
        }
        catch (Exception e) when (e is IOException or OperationCanceledException)
        {
            // The peer has gone, or waits for more than it gets.
        }
    }

    /// <summary>Logs once why a connection is rejected, unless many are; the reason goes behind "the peer".</summary>
    public static void Log(ServerLimits limits, ILogger logger, ConnectionContext connection, string reason)
    {
        if (limits.MayLogRefusal("HTTP", out string unsaid))
        {
            ServerLog.HandshakeFailed(
                logger,
                connection.RemoteEndPoint?.ToString() ?? "unknown",
                (connection.LocalEndPoint as IPEndPoint)?.Port ?? 0,
                reason + unsaid
            );
        }
    }
}
