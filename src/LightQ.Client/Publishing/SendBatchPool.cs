namespace LightQ.Client.Publishing;

/// <summary>Batches of one size for reuse, the most recently used first. Thread-safe.</summary>
internal sealed class SendBatchPool
{
    private const int MaxKept = 32;

    private readonly Lock _gate = new();
    private readonly Stack<SendBatch> _free = new();

    public SendBatchPool(int batchBytes) => BatchBytes = batchBytes;

    /// <summary>The size of its batches.</summary>
    public int BatchBytes { get; }

    /// <summary>An empty batch that holds at least <paramref name="minimum"/> bytes, header included.</summary>
    public SendBatch Rent(int minimum = 0)
    {
        if (minimum > BatchBytes)
            return new SendBatch(this, minimum);
        lock (_gate)
        {
            if (_free.TryPop(out SendBatch? batch))
                return batch;
        }
        return new SendBatch(this, BatchBytes);
    }

    public void Return(SendBatch batch)
    {
        if (batch.BatchBytes != BatchBytes)
            return;
        lock (_gate)
        {
            if (_free.Count < MaxKept)
                _free.Push(batch);
        }
    }
}
