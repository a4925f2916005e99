using LightQ.Broker.Producers;
using LightQ.Broker.Streams;
using LightQ.Broker.Subscriptions;
using LightQ.Protocol.Frames;
using LightQ.Server.Connections;

namespace LightQ.Server.DataPlane;

/// <summary>
/// Acks, credit, deliveries, gaps and ends of streams as frames of the data plane. One for all connections.
/// </summary>
internal sealed class FrameFormat : IOutputFormat
{
    private const int AckRanges = 64;

    /// <summary>The longest reason why a stream has ended that is sent to a peer, in characters.</summary>
    private const int MostReason = 1000;

    /// <summary>The longest address that is sent: a DNS name's 253 characters and a port.</summary>
    private const int MostAddress = 260;

    /// <summary>What the Ping behind a producer stream's acks carries.</summary>
    public static ulong EchoOf(uint stream, uint echo) => ((ulong)echo << 32) | stream;

    /// <inheritdoc/>
    public bool Write(OutputStream stream, ConnectionOutput output, out ReadOnlyMemory<byte> tail)
    {
        if (stream is Subscription subscription)
            return Write(subscription, output, out tail);
        tail = default;
        Write((ProducerStream)stream, output);
        return false;
    }

    private static void Write(ProducerStream producer, ConnectionOutput output)
    {
        StreamClose? close = producer.CloseRequested;
        Span<AckRange> ranges = stackalloc AckRange[AckRanges];
        PublishOutput written = producer.TakeOutput(ranges);
        if (written.Ranges != 0)
        {
            output.Advance(
                PublishAckFrame.Write(output.Free, producer.Id, written.Durability, ranges[..written.Ranges])
            );
        }

        if (written.Credit != 0)
            output.Advance(FrameCodec.Write(output.Free, new CreditFrame(written.Credit), producer.Id));
        if (written.Echo != 0)
            output.Advance(FrameCodec.Write(output.Free, new PingFrame(EchoOf(producer.Id, written.Echo))));
        if (written.Ranges == AckRanges)
            output.TakeTurn(producer);
        else if (close is not null)
            End(producer, close, output);
    }

    private static bool Write(Subscription subscription, ConnectionOutput output, out ReadOnlyMemory<byte> tail)
    {
        tail = default;
        if (subscription.CloseRequested is { } close)
        {
            End(subscription, close, output);
            return false;
        }
        switch (subscription.TryTake(out Delivery delivery))
        {
            case DeliveryResult.Gap:
                var gap = new GapFrame(delivery.Gap.FirstOffset, delivery.Gap.LastOffset, delivery.Gap.Reason);
                output.Advance(FrameCodec.Write(output.Free, gap, subscription.Id));
                output.TakeTurn(subscription);
                return false;
            case DeliveryResult.Run:
                ReadOnlyMemory<byte> run = delivery.Run.Memory;
                WriteHead(subscription, delivery, output);
                output.TakeTurn(subscription);
                // A group that settles automatically does so when the run is in the socket, so its runs are not copied
                // to be sent later.
                bool settlesWhenSent = subscription.GroupName.Length != 0 && delivery.Range.Count == 0;
                if (run.Length > ConnectionOutput.SmallRun || settlesWhenSent)
                {
                    output.SendBehind(subscription, delivery.Run);
                    tail = run;
                    return true;
                }
                run.Span.CopyTo(output.Free);
                output.Advance(run.Length);
                subscription.Sent(delivery.Run);
                return false;
            default:
                return false;
        }
    }

    private static void WriteHead(Subscription subscription, in Delivery delivery, ConnectionOutput output)
    {
        int length = delivery.Run.Memory.Length;
        if (delivery.Range.Count != 0)
        {
            output.Advance(GroupDeliverFrame.WriteHead(output.Free, subscription.Id, delivery.Range, length));
            return;
        }
        new FrameHeader(FrameHeader.Size + length, FrameType.Deliver, 0, subscription.Id, 0).Write(output.Free);
        output.Advance(FrameHeader.Size);
    }

    private static void End(OutputStream stream, StreamClose close, ConnectionOutput output)
    {
        string message = close.Message.Length <= MostReason ? close.Message : close.Message[..MostReason];
        string address = close.Address.Length <= MostAddress ? close.Address : "";
        var closed = new ClosedFrame(close.Code, message, close.Epoch, address);
        output.Advance(FrameCodec.Write(output.Free, closed, stream.Id));
        output.End(stream);
    }
}
