using System.Net;
using System.Net.Sockets;
using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using Xunit;

namespace LightQ.Tests.Client;

[CollectionDefinition(nameof(BusyThreadPoolTests), DisableParallelization = true)]
public sealed class BusyThreadPoolCollection;

/// <summary>
/// What a client has to do in time, in a program whose thread pool does nothing for it: all that runs on it blocks.
/// </summary>
/// <remarks>No method of the test is asynchronous: it would wait for the thread pool, too.</remarks>
[Collection(nameof(BusyThreadPoolTests))]
public sealed class BusyThreadPoolTests
{
    private const uint HeartbeatMilliseconds = 100,
        LockMilliseconds = 400;
    private const int Hang = 60_000;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Locks_are_renewed_heartbeats_go_out_and_a_lost_connection_is_restored(bool withClockOfItsOwn)
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        LightQClientOptions options = new()
        {
            DataPort = ((IPEndPoint)listener.LocalEndpoint).Port,
            ReconnectDelay = TimeSpan.FromMilliseconds(1),
            TimeProvider = withClockOfItsOwn ? new OwnClock() : TimeProvider.System,
        };
        var client = new LightQClient(options);
        LightQProcessor processor = client.CreateProcessor("orders", "billing");
        using var begun = new ManualResetEventSlim();
        using var end = new ManualResetEventSlim();
        CancellationToken handlers = default;
        processor.ProcessMessageAsync += args =>
        {
            handlers = args.CancellationToken;
            begun.Set();
            end.Wait(Hang);
            return Task.CompletedTask;
        };
        Task started = processor.StartAsync(TestContext.Current.CancellationToken);
        using TcpClient connection = Accept(listener);
        NetworkStream stream = connection.GetStream();
        uint subscription = Subscribe(stream);
        byte[] batch = FakeConnection.Batch(40, "a"u8.ToArray());
        byte[] delivery = [.. new byte[GroupDeliverFrame.HeadSize], .. batch];
        GroupDeliverFrame.WriteHead(
            delivery,
            subscription,
            new GroupDelivery(40, 1, 9, 1, LockMilliseconds),
            batch.Length
        );
        stream.Write(delivery);
        Assert.True(begun.Wait(Hang, TestContext.Current.CancellationToken));

        using var released = new ManualResetEventSlim();
        for (int i = 0; i < 1000; i++)
            ThreadPool.UnsafeQueueUserWorkItem(_ => released.Wait(Hang), null);
        try
        {
            int renewals = 0;
            for (int pings = 0; renewals < 5 || pings < 5; )
            {
                FakeFrame frame = Read(stream);
                if (frame.Header.Type == FrameType.Ping)
                {
                    pings++;
                    Write(stream, new PongFrame(frame.As<PingFrame>().Payload));
                    continue;
                }
                Assert.Equal(FrameType.Settle, frame.Header.Type);
                Assert.Equal(SettleKind.Renew, new SettleFrame(frame.Body)[0].Kind);
                renewals++;
                byte[] answer = new byte[SettledFrame.SizeOf(1)];
                SettledFrame.Write(
                    answer,
                    subscription,
                    frame.Header.Tag,
                    [new SettledRange(SettleOutcome.Done, 9, 40, 1)]
                );
                stream.Write(answer);
            }
            Assert.False(handlers.IsCancellationRequested);

            connection.Dispose();

            using TcpClient next = Accept(listener);
            Subscribe(next.GetStream());
            Assert.True(handlers.IsCancellationRequested);
        }
        finally
        {
            released.Set();
            end.Set();
        }
        Assert.True(((IAsyncResult)started).AsyncWaitHandle.WaitOne(Hang));
        client.Dispose();
    }

    private static TcpClient Accept(TcpListener listener)
    {
        for (long began = Environment.TickCount64; !listener.Pending(); Thread.Yield())
            Assert.True(Environment.TickCount64 - began < Hang, "Nobody connects.");
        TcpClient connection = listener.AcceptTcpClient();
        connection.NoDelay = true;
        connection.ReceiveTimeout = Hang;
        Assert.Equal(FrameType.Hello, Read(connection.GetStream()).Header.Type);
        Write(
            connection.GetStream(),
            new WelcomeFrame(
                1,
                0,
                Guid.Empty,
                7,
                ProtocolLimits.DefaultFrameBytes,
                ProtocolLimits.DefaultBatchBytes,
                ProtocolLimits.DefaultMessageBytes,
                HeartbeatMilliseconds
            )
        );
        return connection;
    }

    private static uint Subscribe(NetworkStream stream)
    {
        FakeFrame subscribe = Read(stream);
        while (subscribe.Header.Type == FrameType.Ping)
            subscribe = Read(stream);
        Assert.Equal(FrameType.Subscribe, subscribe.Header.Type);
        Write(stream, new SubscribedFrame(Guid.Empty, 1, 5, 3, 0, 0, 0), subscribe.Header.Stream, subscribe.Header.Tag);
        Assert.Equal(FrameType.Credit, Read(stream).Header.Type);
        return subscribe.Header.Stream;
    }

    private static FakeFrame Read(NetworkStream stream)
    {
        byte[] header = new byte[FrameHeader.Size];
        stream.ReadExactly(header);
        Assert.True(FrameHeader.TryRead(header, ProtocolLimits.DefaultFrameBytes, out FrameHeader parsed));
        byte[] body = new byte[parsed.BodyLength];
        stream.ReadExactly(body);
        return new FakeFrame(parsed, body);
    }

    private static void Write<TBody>(NetworkStream stream, TBody body, uint id = 0, uint tag = 0)
        where TBody : IFrameBody<TBody>
    {
        byte[] bytes = new byte[FrameHeader.Size + body.MaxSize];
        stream.Write(bytes, 0, FrameCodec.Write(bytes, body, id, tag));
    }

    /// <summary>A clock whose timers are those of the thread pool.</summary>
    private sealed class OwnClock : TimeProvider;
}
