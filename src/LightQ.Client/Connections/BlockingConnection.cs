using System.Net.Sockets;
using LightQ.Protocol;
using LightQ.Protocol.Frames;

namespace LightQ.Client.Connections;

/// <summary>A connection with a thread that blocks in receive and a thread that sends. No asynchronous call ever touches its socket.</summary>
internal sealed class BlockingConnection : Connection
{
    private readonly string _host;
    private readonly int _port;
    private readonly BlockingOutbox _outbox;

    public BlockingConnection(LightQClientOptions options, HelloFrame hello, ReceiveBlockPool blocks, ClientEvents events)
        : base(options, hello, blocks, events)
    {
        _host = options.Host;
        _port = options.DataPort;
        _outbox = new BlockingOutbox(Socket, OnException, options.ConnectionTime);
    }

    public override Outbox Outbox => _outbox;

    public override void Start() =>
        new Thread(ReceiveUntilClosed) { IsBackground = true, Name = "LightQ receive" }.Start();

    private void ReceiveUntilClosed()
    {
        try
        {
            Socket.Connect(_host, _port);
            _outbox.Start();
            SendHello();
            while (!HasFailed)
            {
                int count = Socket.Receive(Intake.Room().Span);
                if (count == 0)
                    break;
                OnReceived(count);
            }
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException or ProtocolException)
        {
            OnException(e);
        }
        finally
        {
            Fail(new LightQException(ErrorCode.Unavailable, $"The broker closed the connection."));
            _outbox.Join();
            OnStopped();
        }
    }
}
