using System.Net.Security;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using System.Security.Authentication;
using LightQ.Client.Encryption;
using LightQ.Protocol;
using LightQ.Protocol.Frames;

namespace LightQ.Client.Connections;

/// <summary>
/// A connection with a thread that blocks in receive and a thread that sends. No asynchronous call ever touches its
/// socket.
/// </summary>
internal sealed class BlockingConnection : Connection
{
    private readonly BlockingOutbox _outbox;

    public BlockingConnection(
        LightQClientOptions options,
        HelloFrame hello,
        ReceiveBlockPool blocks,
        ClientEvents events
    )
        : base(options, hello, blocks, events)
    {
        _outbox = new BlockingOutbox(Socket, OnException, options.ConnectionTime);
    }

    public override Outbox Outbox => _outbox;

    public override void Start() =>
        new Thread(ReceiveUntilClosed) { IsBackground = true, Name = "LightQ receive" }.UnsafeStart();

    private void ReceiveUntilClosed()
    {
        SslStream? tls = null;
        try
        {
            if (SecretGuard.IsNeeded(Options))
                Socket.Connect(SecretGuard.Resolve(Options), Options.DataPort);
            else
                Socket.Connect(HostAddresses.Of(Options.Host), Options.DataPort);
            tls = CreateTls();
            tls?.AuthenticateAsClient(LoadTls());
            _outbox.Start(tls);
            SendHello();
            while (!HasFailed)
            {
                int count = tls is null ? Socket.Receive(Intake.Room().Span) : Read(tls, Intake.Room());
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
            Fail(new LightQException(ErrorCode.Unavailable, $"The broker closed the connection."));
            _outbox.Join();
            OnStopped();
            tls?.Dispose();
        }
    }

    /// <summary>A read into a span would go through another buffer.</summary>
    private static int Read(SslStream tls, Memory<byte> room)
    {
        MemoryMarshal.TryGetArray(room, out ArraySegment<byte> segment);
        return tls.Read(segment.Array!, segment.Offset, segment.Count);
    }
}
