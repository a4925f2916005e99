using System.Runtime.CompilerServices;
using LightQ.Broker.Replication;
using LightQ.Protocol.Batches;
using Xunit;

namespace LightQ.ClusterTests.Mutations;

/// <summary>
/// Gives a node the entries of a stream such that all of them count by what it does not look at: as if its own reader
/// did not.
/// </summary>
internal sealed class BlindReader(IReplicatedStream inner, bool seesEpoch, bool seesOffset)
{
    private readonly Lock _lock = new();
    private readonly List<StreamEntry> _entries = [];
    private Task _turn = Task.CompletedTask;
    private uint _epoch;
    private long _next;

    /// <remarks>
    /// Several are asked for at once and taken in their order: one at a time, a claimer would never come up to a live
    /// owner.
    /// </remarks>
    public async ValueTask<StreamEntry?> GetAsync(ulong sequence, CancellationToken cancellationToken)
    {
        Task<StreamEntry?> asked = inner.GetAsync(sequence, cancellationToken).AsTask();
        TaskCompletionSource done = Queue(out Task before);
        try
        {
            await before;
            StreamEntry? found = await asked;
            if (sequence == (ulong)_entries.Count + 1 && found is { } entry)
                Take(entry);
            return sequence <= (ulong)_entries.Count ? _entries[(int)sequence - 1] : null;
        }
        finally
        {
            done.SetResult();
        }
    }

    public async IAsyncEnumerable<StreamEntry> ReadAsync(
        ulong first,
        ulong last,
        [EnumeratorCancellation] CancellationToken cancellationToken
    )
    {
        TaskCompletionSource done = Queue(out Task before);
        try
        {
            await before;
            ulong next = (ulong)_entries.Count + 1;
            await foreach (StreamEntry entry in inner.ReadAsync(next, last, cancellationToken))
                Take(entry);
        }
        finally
        {
            done.SetResult();
        }
        for (ulong at = Math.Max(first, 1); at <= last && at <= (ulong)_entries.Count; at++)
            yield return _entries[(int)at - 1];
    }

    /// <summary>Waits for its turn behind those that came before.</summary>
    private TaskCompletionSource Queue(out Task before)
    {
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        lock (_lock)
            (before, _turn) = (_turn, done.Task);
        return done;
    }

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
