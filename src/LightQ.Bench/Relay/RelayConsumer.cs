using System.Runtime.InteropServices;
using LightQ.Bench.Checks;
using LightQ.Bench.Load;
using LightQ.Client;
using LightQ.Client.Connections;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;

namespace LightQ.Bench.Relay;

/// <summary>
/// The yardstick's consumer: the SDK's own receive blocks, frame parser, checksums and batch enumerator on a blocking
/// socket.
/// </summary>
internal sealed class RelayConsumer : ILoadConsumer, IFrameSink
{
    public const uint Stream = 1;

    private readonly RelayWire _wire;
    private DeliveryCheck? _check;

    public RelayConsumer(RelayWire wire) => _wire = wire;

    public Task Subscribed => Task.CompletedTask;

    public Task ConsumeAsync(DeliveryCheck check, CancellationToken cancellationToken)
    {
        _check = check;
        return Task.Factory.StartNew(
            () => Consume(check, cancellationToken),
            cancellationToken,
            TaskCreationOptions.LongRunning,
            TaskScheduler.Default
        );
    }

    public void OnFrame(in FrameHeader header, ReadOnlySpan<byte> body) =>
        throw new ProtocolException(ErrorCode.UnexpectedFrame, $"A relay does not pass {header.Type}.");

    public void OnGroupDeliver(in FrameHeader header, ReceiveBlock block, int offset) =>
        throw new ProtocolException(ErrorCode.UnexpectedFrame, "A relay has no groups.");

    public void OnRun(uint stream, ReceiveBlock block, int offset, int length, int lastBatch)
    {
        for (int end = offset + length; offset < end; )
        {
            var batch = new BatchView(block.Bytes.AsSpan(offset, end - offset));
            int batchLength = batch.Length;
            batch = new BatchView(block.Bytes.AsSpan(offset, batchLength));
            if (!batch.VerifyHeader() || !batch.VerifyPayload())
                throw new ProtocolException(ErrorCode.CorruptData, "A batch that came through the relay is damaged.");
            foreach (
                RecordView record in new MessageBatch(block.Bytes, offset, batchLength, skip: 0, batch.RecordCount)
            )
            {
                _check!.Take(record.Body);
            }

            offset += batchLength;
        }
    }

    public ValueTask DisposeAsync()
    {
        _wire.Dispose();
        return ValueTask.CompletedTask;
    }

    private void Consume(DeliveryCheck check, CancellationToken cancellationToken)
    {
        using var intake = new FrameIntake(new ReceiveBlockPool(), this)
        {
            MaxFrameBytes = ProtocolLimits.DefaultFrameBytes,
        };
        using CancellationTokenRegistration ended = cancellationToken.UnsafeRegister(
            static s => ((RelayWire)s!).Dispose(),
            _wire
        );
        while (!check.IsComplete)
        {
            MemoryMarshal.TryGetArray(intake.Room(), out ArraySegment<byte> room);
            int count = _wire.Receive(room);
            if (count == 0)
                return;
            intake.Received(count);
        }
    }
}
