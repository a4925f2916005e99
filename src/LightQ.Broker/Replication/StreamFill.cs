using LightQ.Broker.Logs;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Storage;

namespace LightQ.Broker.Replication;

/// <summary>
/// Fills the new stream of a partition with what a log holds: the same batches at the same offsets, in one epoch behind
/// all of the log's own.
/// </summary>
/// <remarks>
/// A claim comes first, which says where the stream begins. Behind the batches come the partition's state, in a
/// snapshot, and a claim that names it: from there the next owner goes on. Nobody else knows the stream, so an append
/// without an answer is made again until it is there. One thread at a time.
/// </remarks>
internal sealed class StreamFill : IDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(15),
        Pause = TimeSpan.FromMilliseconds(50);

    private readonly IReplicatedStream _stream;
    private readonly ReplicatedLogOptions _options;
    private readonly string _node;
    private readonly TimeProvider _time;
    private readonly uint _epoch;
    private readonly ulong _firstNames;
    private readonly LogReader _reader;
    private readonly SemaphoreSlim _ready = new(0);
    private readonly byte[] _run;
    private ulong _last;
    private long _next = -1;
    private long _appendTime;
    private long _copied;

    /// <param name="stream">The stream, which is empty.</param>
    /// <param name="log">The log, which may grow meanwhile.</param>
    /// <param name="options">Sizes.</param>
    /// <param name="node">This node.</param>
    /// <param name="time">The clock.</param>
    /// <param name="repairs">
    /// Of a topic that has replicas: the epoch in which the stream is written anew. No node takes it for the
    /// partition's log before it is whole. Null for a topic whose replicas nobody knows of yet.
    /// </param>
    public StreamFill(
        IReplicatedStream stream,
        ITopicLog log,
        ReplicatedLogOptions options,
        string node,
        TimeProvider time,
        uint? repairs = null
    )
    {
        (_stream, _options, _node, _time) = (stream, options, node, time);
        _epoch = Math.Max(log.Epoch + 1, repairs ?? 0);
        _firstNames = repairs is null ? 0 : ControlEntry.Unfinished;
        _run = GC.AllocateUninitializedArray<byte>(Math.Max(options.MaxRunBytes, options.MaxBatchBytes));
        _reader = log.OpenReader(StartKind.Earliest, 0, holds: false, () => _ready.Release());
    }

    /// <summary>The offset of the message that comes next.</summary>
    public long NextOffset => _next >= 0 ? _next : _reader.Cursor.Offset;

    /// <summary>Bytes of batches that the stream has. Any thread.</summary>
    public long CopiedBytes => Volatile.Read(ref _copied);

    /// <summary>Copies what the log has and the stream lacks, as far as it can be read now.</summary>
    /// <exception cref="ReplicationException">The engine does not take it.</exception>
    /// <exception cref="BrokerException">The log lacks something in between, or is damaged.</exception>
    /// <exception cref="IOException">The log cannot be read.</exception>
    public async Task CopyAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            switch (_reader.TryRead(_options.MaxRunBytes, out LentRun run, out LogGap gap))
            {
                case ReadResult.Run:
                    int length = Take(run.Memory.Span, out long first, out LogCursor end);
                    _reader.MoveTo(end);
                    await AppendRunAsync(first, _run.AsMemory(0, length), cancellationToken).ConfigureAwait(false);
                    _next = end.Offset;
                    break;
                case ReadResult.Pending:
                    await _ready.WaitAsync(cancellationToken).ConfigureAwait(false);
                    break;
                case ReadResult.AtEnd:
                    return;
                case ReadResult.Gap:
                    throw Missing(gap);
                default:
                    throw new IOException($"The log cannot be read at offset {NextOffset}.");
            }
        }
    }

    /// <summary>Writes the partition's state, and the claim from which the next owner goes on.</summary>
    /// <exception cref="ReplicationException">The engine does not take it.</exception>
    public async Task EndAsync(ReadOnlyMemory<byte> state, CancellationToken cancellationToken)
    {
        if (_last == 0)
            await ClaimAsync(_epoch, NextOffset, _firstNames, cancellationToken).ConfigureAwait(false);
        IReadOnlyList<ReadOnlyMemory<byte>> parts = SavedState.Split(state, _options.MaxBodyBytes);
        for (int i = 0; i < parts.Count; i++)
        {
            var part = new ControlEntry(EntryKind.Snapshot, _epoch, NextOffset, _appendTime, 0, parts[i])
            {
                Part = checked((ushort)i),
                PartsLeft = (uint)(parts.Count - 1 - i),
            };
            await AppendAsync(EntryKind.Snapshot, part.Encode(), cancellationToken).ConfigureAwait(false);
        }
        await ClaimAsync(_epoch + 1, NextOffset, _last, cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Ends the reading.</summary>
    public void Dispose() => _reader.Dispose(); // A read may still be about to release the semaphore.

    private static BrokerException Missing(in LogGap gap) =>
        gap.Reason == GapReason.Corrupt
            ? new BrokerException(
                ErrorCode.CorruptData,
                $"the offsets {gap.FirstOffset} to {gap.LastOffset} of its journal are damaged; stop the broker and "
                    + "mend it with 'lightq journal repair'"
            )
            : new BrokerException(
                ErrorCode.Unavailable,
                $"retention has removed the offsets {gap.FirstOffset} to {gap.LastOffset} while they were copied; try "
                    + "again"
            );

    /// <summary>Copies batches with the epoch of this stream, and without what is a journal's own.</summary>
    private int Take(ReadOnlySpan<byte> run, out long first, out LogCursor end)
    {
        int length = 0;
        first = -1;
        end = default;
        while (BatchView.TryRead(run[length..], out BatchView batch))
        {
            if (length != 0 && length + batch.Length > _options.MaxRunBytes)
                break;
            if (!batch.VerifyHeader() || !batch.VerifyPayload())
                throw Missing(new LogGap(batch.BaseOffset, batch.NextOffset - 1, GapReason.Corrupt));
            if (first < 0)
                first = batch.BaseOffset;
            Span<byte> copy = _run.AsSpan(length, batch.Length);
            batch.Bytes.CopyTo(copy);
            BatchWriter.Stamp(copy, new BatchStamp(batch.BaseOffset, batch.AppendTime, _epoch, 0, 0));
            _appendTime = batch.AppendTime;
            length += batch.Length;
            end = new LogCursor(batch.NextOffset, batch.NextOffset);
        }
        return length;
    }

    private async Task AppendRunAsync(long first, ReadOnlyMemory<byte> run, CancellationToken cancellationToken)
    {
        if (_last == 0)
            await ClaimAsync(_epoch, first, _firstNames, cancellationToken).ConfigureAwait(false);
        await AppendAsync(EntryKind.Data, run, cancellationToken).ConfigureAwait(false);
        Volatile.Write(ref _copied, _copied + run.Length);
    }

    private Task ClaimAsync(uint epoch, long offset, ulong snapshot, CancellationToken cancellationToken) =>
        AppendAsync(
            EntryKind.Claim,
            new ControlEntry(
                EntryKind.Claim,
                epoch,
                offset,
                _appendTime,
                snapshot,
                new Claimant(_node, Guid.NewGuid()).Encode()
            ).Encode(),
            cancellationToken
        );

    private async Task AppendAsync(EntryKind kind, ReadOnlyMemory<byte> payload, CancellationToken cancellationToken)
    {
        long began = _time.GetTimestamp();
        while (true)
        {
            EntryAppend answer = await _stream
                .AppendAsync(kind, payload, _last, cancellationToken)
                .ConfigureAwait(false);
            if (
                answer.Outcome == AppendOutcome.Stored
                || (
                    answer.Outcome == AppendOutcome.Refused
                    && await IsThereAsync(payload, cancellationToken).ConfigureAwait(false)
                )
            )
            {
                _last++;
                return;
            }
            if (_time.GetElapsedTime(began) >= Patience)
                throw new ReplicationException($"{_stream.Name}: entry {_last + 1} is not stored: {answer.Reason}");
            await Task.Delay(Pause, _time, cancellationToken).ConfigureAwait(false);
        }
    }

    /// <summary>Whether an append that had no answer is what is stored.</summary>
    /// <exception cref="ReplicationException">Something else is.</exception>
    private async Task<bool> IsThereAsync(ReadOnlyMemory<byte> payload, CancellationToken cancellationToken)
    {
        StreamEntry? stored;
        try
        {
            stored = await _stream.GetAsync(_last + 1, cancellationToken).ConfigureAwait(false);
        }
        catch (ReplicationException)
        {
            return false; // It is asked again.
        }
        return stored is not { } entry ? false
            : entry.Payload.Span.SequenceEqual(payload.Span) ? true
            : throw new ReplicationException($"{_stream.Name}: another node has stored entry {_last + 1}.");
    }
}
