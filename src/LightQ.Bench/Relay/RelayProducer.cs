using LightQ.Bench.Checks;
using LightQ.Bench.Load;
using LightQ.Client.Batches;
using LightQ.Protocol.Frames;

namespace LightQ.Bench.Relay;

/// <summary>
/// The yardstick's producer: the SDK's own batches, completed and sent one after the other by a blocking socket.
/// </summary>
/// <remarks>
/// Frames are addressed as deliveries, because no broker on the way to the consumer turns them into deliveries.
/// </remarks>
internal sealed class RelayProducer : ILoadProducer, ISinglePublisher
{
    private const int BatchBytes = 64 * 1024;
    private const int FrameTypeOffset = 4;

    private readonly RelayWire _wire;
    private readonly MessagePattern _pattern;
    private readonly SendBatchPool _pool = new(BatchBytes, 1, TimeProvider.System);
    private ulong _sequence;

    public RelayProducer(RelayWire wire, int size)
    {
        _wire = wire;
        _pattern = new MessagePattern(size);
    }

    public Task ProduceAsync(long messages, CancellationToken cancellationToken) =>
        Task.Run(() => Produce(messages), cancellationToken);

    public void Send(ReadOnlySpan<byte> body)
    {
        SendBatch batch = _pool.Rent();
        batch.TryAdd(body);
        Send(batch);
    }

    public ValueTask DisposeAsync()
    {
        _wire.EndUnread();
        _wire.Dispose();
        return ValueTask.CompletedTask;
    }

    private void Produce(long messages)
    {
        long next = 0;
        while (next < messages)
        {
            SendBatch batch = _pool.Rent();
            next = Fill(batch, next, messages);
            Send(batch);
        }
    }

    private long Fill(SendBatch batch, long next, long messages)
    {
        while (next < messages && batch.TryAdd(_pattern.Body(next)))
            next++;
        return next;
    }

    private void Send(SendBatch batch)
    {
        batch.BaseSequence = _sequence;
        _sequence += (ulong)batch.Count;
        batch.Complete(RelayConsumer.Stream, producerId: 0, producerEpoch: 0);
        ArraySegment<byte> frame = batch.Frame;
        frame[FrameTypeOffset] = (byte)FrameType.Deliver;
        _wire.Send(frame);
        batch.Release();
    }
}
