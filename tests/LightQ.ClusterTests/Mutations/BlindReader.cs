using System.Runtime.CompilerServices;
using LightQ.Broker.Replication;
using LightQ.Protocol.Batches;
using Xunit;

namespace LightQ.ClusterTests.Mutations;

/// <summary>
/// Gives a node the entries of a stream such that all of them count by what it does not look at: as if its own reader
/// did not.
/// </summary>
internal sealed class BlindReader(IReplicatedStream inner, bool seesEpoch, bool seesOffset) : IDisposable
{
    private readonly SemaphoreSlim _reading = new(1);
    private readonly List<StreamEntry> _entries = [];
    private uint _epoch;
    private long _next;

    public async ValueTask<StreamEntry?> GetAsync(ulong sequence, CancellationToken cancellationToken)
    {
        // Several are asked for at once: one at a time, a claimer would never come up to a live owner.
        StreamEntry? found = await inner.GetAsync(sequence, cancellationToken);
        await _reading.WaitAsync(cancellationToken);
        try
        {
            while ((ulong)_entries.Count < sequence)
            {
                ulong next = (ulong)_entries.Count + 1;
                if ((next == sequence ? found : await inner.GetAsync(next, cancellationToken)) is not { } entry)
                    return null;
                Take(entry);
            }
            return _entries[(int)sequence - 1];
        }
        finally
        {
            _reading.Release();
        }
    }

    public async IAsyncEnumerable<StreamEntry> ReadAsync(
        ulong first,
        ulong last,
        [EnumeratorCancellation] CancellationToken cancellationToken
    )
    {
        await _reading.WaitAsync(cancellationToken);
        try
        {
            ulong next = (ulong)_entries.Count + 1;
            await foreach (StreamEntry entry in inner.ReadAsync(next, last, cancellationToken))
                Take(entry);
        }
        finally
        {
            _reading.Release();
        }
        for (ulong at = Math.Max(first, 1); at <= last && at <= (ulong)_entries.Count; at++)
            yield return _entries[(int)at - 1];
    }

    public void Dispose() => _reading.Dispose();

    private void Take(StreamEntry entry)
    {
        Assert.Equal((ulong)_entries.Count + 1, entry.Sequence);
        if (entry.Kind == EntryKind.Data)
            entry = entry with { Payload = Shape(entry.Payload.ToArray()) };
        else if (entry.Kind == EntryKind.Claim && ControlEntry.TryDecode(entry, out ControlEntry? claim))
            TakeClaim(claim.Value);
        _entries.Add(entry);
    }

    private void TakeClaim(in ControlEntry claim)
    {
        if (claim.Epoch == _epoch + 1 && claim.EndOffset == _next)
            _epoch = claim.Epoch;
    }

    private byte[] Shape(byte[] run)
    {
        for (Span<byte> left = run; BatchView.TryRead(left, out BatchView batch); left = left[batch.Length..])
        {
            (uint epoch, long offset) = (batch.LeaderEpoch, batch.BaseOffset);
            if (!seesEpoch)
                epoch = _epoch;
            if (!seesOffset && epoch == _epoch)
                offset = _next;
            if ((epoch, offset) != (batch.LeaderEpoch, batch.BaseOffset))
            {
                BatchWriter.Stamp(left, new BatchStamp(offset, batch.AppendTime, epoch, 0, 0));
                BatchView.TryRead(left, out batch);
            }
            if (epoch == _epoch && offset == _next)
                _next = batch.NextOffset;
        }
        return run;
    }
}
