using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using LightQ.Client.Encryption;
using LightQ.Protocol;
using LightQ.Protocol.Frames;

namespace LightQ.Client.Connections;

/// <summary>A connection that owns no thread: asynchronous receives and sends on the thread pool.</summary>
internal sealed class AsyncConnection : Connection
{
    private readonly AsyncOutbox _outbox;

    public AsyncConnection(LightQClientOptions options, HelloFrame hello, ReceiveBlockPool blocks, ClientEvents events)
        : base(options, hello, blocks, events)
    {
        _outbox = new AsyncOutbox(Socket, OnException, options.ConnectionTime);
    }

    public override Outbox Outbox => _outbox;

    public override void Start() => _ = ReceiveUntilClosedAsync();

    private async Task ReceiveUntilClosedAsync()
    {
        SslStream? tls = null;
        try
        {
            if (SecretGuard.IsNeeded(Options))
            {
                await Socket
                    .ConnectAsync(
                        await SecretGuard.ResolveAsync(Options, CancellationToken.None).ConfigureAwait(false),
                        Options.DataPort
                    )
                    .ConfigureAwait(false);
            }
            else
            {
                await Socket
                    .ConnectAsync(
                        await HostAddresses.OfAsync(Options.Host, CancellationToken.None).ConfigureAwait(false),
                        Options.DataPort
                    )
                    .ConfigureAwait(false);
            }

            tls = CreateTls();
            if (tls is not null)
                await tls.AuthenticateAsClientAsync(LoadTls()).ConfigureAwait(false);
            _outbox.Begin(tls);
            SendHello();
            while (!HasFailed)
            {
                ValueTask<int> receiving = tls is null
                    ? Socket.ReceiveAsync(Intake.Room(), SocketFlags.None)
                    : tls.ReadAsync(Intake.Room());
                int count = await receiving.ConfigureAwait(false);
                if (count == 0)
                    break;
                OnReceived(count);
            }
        }
        catch (Exception e)
            when (e
                    is SocketException
                        or ObjectDisposedException
                        or ProtocolException
                        or IOException
                        or AuthenticationException
                        or LightQException
            )
        {
            OnException(e);
        }
        finally
        {
            Fail(new LightQException(ErrorCode.Unavailable, "The broker closed the connection."));
            await _outbox.JoinAsync().ConfigureAwait(false);
            OnStopped();
            tls?.Dispose();
        }
    }
}
