using System.IO.Pipelines;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using LightQ.Server.Transport;

namespace LightQ.Server.Tls;

/// <summary>
/// The TLS side of one data-plane connection: the handshake, then an input and an output as plain connections have
/// them.
/// </summary>
internal sealed class TlsLink : IDisposable
{
    private readonly Socket _socket;
    private readonly ServerTls _tls;
    private readonly CipherStream _cipher;
    private readonly SslStream _stream;
    private readonly TlsPipeReader _input;
    private string? _problem;

    public TlsLink(Socket socket, ServerTls tls, DataPlaneBlocks blocks)
    {
        _socket = socket;
        _tls = tls;
        _cipher = new CipherStream(socket, blocks);
        _stream = new SslStream(_cipher);
        _input = new TlsPipeReader(_stream, socket, blocks);
        Sender = new TlsFrameSender(_stream, _cipher, new SocketFrameSender(socket));
    }

    /// <summary>What the client says.</summary>
    public PipeReader Input => _input;

    /// <summary>Sends frames to the client.</summary>
    public FrameSender Sender { get; }

    /// <summary>
    /// Who the client is by its verified certificate: its common name and its DNS names. None when it has shown none.
    /// </summary>
    public IReadOnlyList<string> ClientNames { get; private set; } = [];

    /// <summary>What broke the encrypted connection, if anything did.</summary>
    public string? Failure => _input.Failure is { } e ? TlsFailure.Describe(e) : null;

    /// <summary>Shakes hands, on the pool. A time-out is the caller's, who disposes the socket.</summary>
    /// <returns>Null, or why the client is rejected, which can then be sent to it.</returns>
    /// <exception cref="TlsFailureException">
    /// There was no handshake; the client got every reason that can be sent.
    /// </exception>
    public async Task<ProtocolException?> HandshakeAsync()
    {
        try
        {
            if (await FirstBytes.AreTlsAsync(_socket).ConfigureAwait(false) is not { } isTls)
                throw new TlsFailureException(""); // As who watches whether a port is open does.
            if (!isTls)
            {
                await RefusePlainAsync().ConfigureAwait(false);
                throw new TlsFailureException("spoke in the clear on a port that speaks TLS");
            }
            await Task.Yield(); // What follows signs: not on the thread of a socket.
            // It is the client that is judged here, and one that is refused gets nothing but the reason.
#pragma warning disable CA5359
            await _stream.AuthenticateAsServerAsync(_tls.Begin(Judge)).ConfigureAwait(false);
#pragma warning restore CA5359
        }
        catch (Exception e)
            when (e
                    is IOException
                        or AuthenticationException
                        or SocketException
                        or ObjectDisposedException
                        or InvalidOperationException
            )
        {
            throw new TlsFailureException(TlsFailure.Describe(e), e);
        }
        _cipher.BeginGathering();
        if (_problem is not null)
            return new ProtocolException(ErrorCode.TlsFailed, $"TLS: {_problem}.");
        if (_stream.RemoteCertificate is X509Certificate2 certificate)
            ClientNames = CertificateNames.Of(certificate);
        return null;
    }

    /// <summary>The peer is a client: what it sends gets large blocks.</summary>
    public void Widen() => _input.Widen();

    /// <inheritdoc/>
    public void Dispose() => _stream.Dispose();

    /// <summary>
    /// Lets the handshake end well in any case: a client without a certificate then gets the reason in a frame, which
    /// says more than an alert.
    /// </summary>
    private bool Judge(object sender, X509Certificate? certificate, X509Chain? chain, SslPolicyErrors errors)
    {
        _problem = _tls.ProblemOf(certificate, chain, errors);
        return true;
    }

    /// <summary>
    /// Answers in the clear, then reads what the peer has sent: closed with bytes unread, the connection would be reset
    /// and the answer lost.
    /// </summary>
    private async Task RefusePlainAsync()
    {
        byte[] buffer = new byte[ProtocolLimits.HandshakeFrameBytes];
        int length = FrameCodec.Write(
            buffer,
            new ErrorFrame(
                ErrorCode.TlsFailed,
                "This port speaks TLS, and the client does not: connect with ?tls=true."
            ),
            0,
            0
        );
        await _socket.SendAsync(buffer.AsMemory(0, length)).ConfigureAwait(false);
        _socket.Shutdown(SocketShutdown.Send);
        while (await _socket.ReceiveAsync(buffer).ConfigureAwait(false) != 0) { }
    }
}
