using System.Net;
using System.Net.Sockets;
using LightQ.Client;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Protocol.Records;

namespace LightQ.IntegrationTests.DataPlane;

/// <summary>A client that speaks the data plane by hand, so that tests can also speak it wrongly.</summary>
internal sealed class RawClient : IAsyncDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);
    private readonly TcpClient _tcp = new(AddressFamily.InterNetwork);
    private readonly byte[] _header = new byte[FrameHeader.Size];
    private NetworkStream _stream = null!;

    private RawClient() { }

    public Socket Socket => _tcp.Client;

    /// <summary>Connects, and says Hello.</summary>
    /// <param name="port">The broker's.</param>
    /// <param name="greet">Whether it says Hello and hears Welcome.</param>
    /// <param name="receiveBuffer">What the system keeps unread, about; 0 for its own choice.</param>
    /// <param name="from">The address that it comes from; null for the usual one.</param>
    public static async Task<RawClient> ConnectAsync(
        int port,
        bool greet = true,
        int receiveBuffer = 0,
        IPAddress? from = null
    )
    {
        var client = new RawClient();
        if (from is not null)
            client.Socket.Bind(new IPEndPoint(from, 0));
        if (receiveBuffer != 0)
            client._tcp.ReceiveBufferSize = receiveBuffer;
        await client._tcp.ConnectAsync(IPAddress.Loopback, port);
        client._stream = client._tcp.GetStream();
        if (greet)
        {
            await client.SendAsync(new HelloFrame(1, 1, 0, "raw", HelloFrame.Anonymous, ""));
            (FrameHeader header, _) = await client.ReadAsync();
            Xunit.Assert.Equal(FrameType.Welcome, header.Type);
        }
        return client;
    }

    /// <summary>Connects and says who it is; what the broker answers is in the result.</summary>
    public static async Task<(RawClient Client, FrameHeader Header, byte[] Body)> LogInAsync(
        int port,
        string mechanism,
        string credentials
    )
    {
        RawClient client = await ConnectAsync(port, greet: false);
        client.Socket.NoDelay = true; // Or each answer behind two small frames takes 40 ms.
        await client.SendAsync(new HelloFrame(1, 1, 0, "raw", mechanism, credentials));
        (FrameHeader header, byte[] body) = await client.ReadAsync();
        return (client, header, body);
    }

    public static byte[] Batch(ulong sequence, int bodyBytes, int records = 1, BatchOrigin? origin = null)
    {
        byte[] bytes = new byte[BatchLayout.HeaderSize + (records * RecordWriter.SizeOf(bodyBytes)) + 8];
        byte[] body = new byte[bodyBytes];
        int at = BatchLayout.HeaderSize;
        for (int i = 0; i < records; i++)
            at += RecordWriter.Write(bytes.AsSpan(at), body);
        return bytes[
            ..BatchWriter.Complete(
                bytes,
                at - BatchLayout.HeaderSize,
                records,
                origin ?? new BatchOrigin(0, 0, sequence),
                0
            )
        ];
    }

    public static byte[] PublishFrame(uint stream, byte[] batch)
    {
        byte[] frame = new byte[FrameHeader.Size + batch.Length];
        new FrameHeader(frame.Length, FrameType.Publish, 0, stream, 0).Write(frame);
        batch.CopyTo(frame, FrameHeader.Size);
        return frame;
    }

    public Task SendAsync<TBody>(TBody body, uint stream = 0, uint tag = 0)
        where TBody : IFrameBody<TBody>
    {
        byte[] frame = new byte[FrameHeader.Size + body.MaxSize];
        int length = FrameCodec.Write(frame, body, stream, tag);
        return SendAsync(frame.AsMemory(0, length));
    }

    public async Task SendAsync(ReadOnlyMemory<byte> bytes)
    {
        using var patience = new CancellationTokenSource(Patience);
        await _stream.WriteAsync(bytes, patience.Token);
    }

    public async Task<ProducerOpenedFrame> OpenProducerAsync(string topic, uint stream)
    {
        await SendAsync(new OpenProducerFrame(topic, 0, Durability.Default, ""), stream, stream);
        return FrameCodec.Read<ProducerOpenedFrame>(await ReadAsync(FrameType.ProducerOpened));
    }

    public async Task<SubscribedFrame> SubscribeAsync(
        string topic,
        uint stream,
        uint credit,
        StartKind start = StartKind.Earliest,
        SettleMode settle = SettleMode.Automatic,
        SlowPolicy slow = SlowPolicy.TopicDefault,
        uint slowTimeout = 0
    )
    {
        await SendAsync(
            new SubscribeFrame(topic, 0, "", start, 0, -1, 0, 0, settle, slow, 0, SlowTimeoutMilliseconds: slowTimeout),
            stream,
            stream
        );
        if (credit != 0)
            await SendAsync(new CreditFrame(credit), stream);
        return FrameCodec.Read<SubscribedFrame>(await ReadAsync(FrameType.Subscribed));
    }

    /// <summary>Reads the next frame; header type 0 at the end of the stream.</summary>
    public async Task<(FrameHeader Header, byte[] Body)> ReadAsync()
    {
        using var patience = new CancellationTokenSource(Patience);
        try
        {
            await _stream.ReadExactlyAsync(_header, patience.Token);
            FrameHeader.TryRead(_header, int.MaxValue, out FrameHeader header);
            byte[] body = new byte[header.BodyLength];
            await _stream.ReadExactlyAsync(body, patience.Token);
            return (header, body);
        }
        catch (IOException)
        {
            return default; // EndOfStreamException among them: the peer has closed.
        }
    }

    /// <summary>Reads up to a frame of one type and gives its body.</summary>
    public async Task<byte[]> ReadAsync(FrameType type)
    {
        while (true)
        {
            (FrameHeader header, byte[] body) = await ReadAsync();
            if (header.Type == type)
                return body;
            if (header.Type == 0)
                throw new InvalidOperationException($"The connection ended while waiting for {type}.");
            if (header.Type is FrameType.Error or FrameType.Closed)
            {
                throw new InvalidOperationException(
                    $"{header.Type} while waiting for {type}: {FrameCodec.Read<ErrorFrame>(body)}"
                );
            }
        }
    }

    /// <summary>Vanishes without a word: the peer gets a reset.</summary>
    public void Reset()
    {
        Socket.LingerState = new LingerOption(true, 0);
        Socket.Close();
    }

    public ValueTask DisposeAsync()
    {
        _tcp.Dispose();
        return ValueTask.CompletedTask;
    }
}
