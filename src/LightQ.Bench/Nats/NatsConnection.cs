using System.Net.Sockets;
using System.Text;
using LightQ.Bench.Checks;
using LightQ.Client;
using LightQ.Protocol;

namespace LightQ.Bench.Nats;

/// <summary>
/// A connection to a NATS server: handshake, round trips, and whatever messages come meanwhile. Blocking calls only.
/// </summary>
internal sealed class NatsConnection : INatsSink, IDisposable
{
    private readonly NatsParser _parser;
    private DeliveryCheck? _check;
    private int _pongs;
    private bool _hasInfo;

    public NatsConnection(string host, int port)
    {
        _parser = new NatsParser(this);
        Socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        Socket.Connect(host, port);
        while (!_hasInfo)
            Receive();
        SendText(
            "CONNECT {\"verbose\":false,\"pedantic\":false,\"tls_required\":false,\"name\":\"lightq "
                + "bench\",\"lang\":\".NET\",\"version\":\"1\",\"protocol\":1}\r\n"
        );
        RoundTrip();
    }

    public Socket Socket { get; }

    /// <summary>Where messages go.</summary>
    public void SetCheck(DeliveryCheck check) => _check = check;

    /// <summary>Subscribes and waits until the server has taken note of it.</summary>
    public void Subscribe(string subject)
    {
        SendText($"SUB {subject} 1\r\n");
        RoundTrip();
    }

    /// <summary>Waits until the server has dealt with everything that was sent.</summary>
    public void RoundTrip()
    {
        int before = _pongs;
        Socket.Send("PING\r\n"u8);
        while (_pongs == before)
            Receive();
    }

    /// <summary>Waits for bytes and handles them.</summary>
    /// <exception cref="SocketException">The server has closed the connection.</exception>
    public void Receive()
    {
        int count = Socket.Receive(_parser.Room());
        if (count == 0)
            throw new SocketException((int)SocketError.ConnectionReset);
        _parser.Received(count);
    }

    void INatsSink.OnMessage(ReadOnlySpan<byte> payload) => _check?.Take(payload);

    void INatsSink.OnLine(ReadOnlySpan<byte> line)
    {
        if (line.SequenceEqual("PING"u8))
        {
            Socket.Send("PONG\r\n"u8);
        }
        else if (line.SequenceEqual("PONG"u8))
        {
            _pongs++;
        }
        else if (line.StartsWith("INFO "u8))
        {
            _hasInfo = true;
        }
        else if (line.StartsWith("-ERR"u8))
        {
            throw new ProtocolException(
                ErrorCode.Unavailable,
                $"The NATS server says {Encoding.UTF8.GetString(line)}."
            );
        }
    }

    public void Dispose() => Socket.Dispose();

    private void SendText(string text) => Socket.Send(Encoding.UTF8.GetBytes(text));
}
