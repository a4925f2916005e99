using System.Diagnostics;
using LightQ.Disruptor;

namespace LightQ.Broker.Replication;

/// <summary>
/// Sends what an owner appends to the partition's stream: one append under way, each a run of whole batches, as long as
/// what has come since the one before. No thread of its own.
/// </summary>
/// <remarks>
/// Each append names the sequence of the one before it. After an answer other than "stored" nothing is sent any more,
/// and nothing is committed (rules R1 and R2).
/// </remarks>
internal sealed class RunSender : IAsyncDisposable
{
    /// <summary>What may follow the last snapshot of an owner that ends: the next one reads it in some 20 ms.</summary>
    private const long MostUnsaved = 1024 * 1024;

    /// <summary>Each so many bytes of the last snapshot put the next one off by an entry.</summary>
    private const long BytesPerEntry = 1024;

    private const int Resting = 0,
        Sending = 1,
        Ended = 2;

    private static readonly TimeSpan EndPoll = TimeSpan.FromMilliseconds(1),
        LongestTrim = TimeSpan.FromSeconds(2),
        FullPause = TimeSpan.FromSeconds(1),
        // An engine at a limit elects leaders, and does not answer then.
        LongestDoubt = TimeSpan.FromSeconds(30);
    private readonly IReplicatedStream _stream;
    private readonly StreamLedger _ledger;
    private readonly ByteRing _ring;
    private readonly CommittedCopy _copy;
    private readonly Func<EntryKind, PendingEntry> _capture;
    private readonly ReplicatedLogOptions _options;
    private readonly Action _stored;
    private readonly Action _progress;
    private readonly Action<string> _lost;
    private readonly Sequence _gate = new();
    private readonly CancellationTokenSource _stop = new();
    private readonly Queue<(long EndOffset, ulong First)> _saved = new();
    private PendingEntry? _pending;
    private TaskCompletionSource? _prepared;
    private TaskCompletionSource? _ended;
    private ulong _last;
    private ulong _confirmedSnapshot;
    private ulong _named;
    private ulong _previousSaved;
    private ulong _untrimmed;
    private uint _epoch;
    private long _end;
    private long _position;
    private long _committed;
    private long _unsaved;
    private long _inherited;
    private long _entries;
    private long _savedBytes;
    private bool _isSnapshotWanted;
    private bool _arePositionsWanted;
    private bool _isActive;
    private int _sending;
    private volatile string? _full;

    public RunSender(
        IReplicatedStream stream,
        StreamLedger ledger,
        ByteRing ring,
        CommittedCopy copy,
        Func<EntryKind, PendingEntry> capture,
        Action stored,
        ReplicatedLogOptions options,
        Action progress,
        Action<string> lost
    )
    {
        (_stream, _ledger, _ring, _copy) = (stream, ledger, ring, copy);
        (_capture, _stored, _options, _progress, _lost) = (capture, stored, options, progress, lost);
        _position = _committed = _end = ring.AddGate(_gate, ring.Published);
    }

    /// <summary>
    /// Where the last batch that was appended ends: set under the append lock. Kept beside the ring, whose memory goes
    /// with the ownership.
    /// </summary>
    public long End
    {
        get => Volatile.Read(ref _end);
        set => Volatile.Write(ref _end, value);
    }

    /// <summary>Why the engine has no room for what is under way; null while it takes it.</summary>
    public string? Full => _full;

    /// <summary>The position in the ring below which everything is committed.</summary>
    public long Committed => Volatile.Read(ref _committed);

    private bool IsActive => Volatile.Read(ref _isActive);

    private bool HasWork =>
        End != Volatile.Read(ref _position)
        || Volatile.Read(ref _isSnapshotWanted)
        || Volatile.Read(ref _arePositionsWanted)
        || IsUnnamed;

    /// <summary>Whether a takeover would read more behind the last snapshot than it should.</summary>
    private bool IsSnapshotDue =>
        _unsaved + _inherited >= _options.SnapshotBytes
        || _entries >= _options.SnapshotEntries + (_savedBytes / BytesPerEntry);

    /// <summary>
    /// Whether the ownership is to end and no later entry names its last snapshot yet: only then does the next owner
    /// begin there (rule R4).
    /// </summary>
    private bool IsUnnamed =>
        Volatile.Read(ref _ended) is not null && Volatile.Read(ref _named) != Volatile.Read(ref _confirmedSnapshot);

    /// <summary>The partition is owned from now on. Once.</summary>
    public void Begin(in Ownership owned)
    {
        (_last, _epoch) = (owned.Sequence, owned.Epoch);
        _ledger.Begin(owned.Sequence);
        _confirmedSnapshot = _named = owned.ConfirmedSnapshot;
        (_inherited, _entries) = (owned.Tail.Bytes, owned.Tail.Entries);
        Volatile.Write(ref _isActive, true);
    }

    /// <summary>Something was appended. Any thread; the first append of a pause goes out on it.</summary>
    public void Signal()
    {
        // Pairs with the one in SendAsync: that sees the batch, or this sees that it rests.
        Interlocked.MemoryBarrier();
        if (IsActive && HasWork && TryBegin())
            _ = SendAsync();
    }

    /// <summary>Stores positions of groups that have changed, behind what was appended. Any thread.</summary>
    public void RequestPositions()
    {
        Volatile.Write(ref _arePositionsWanted, true);
        Signal();
    }

    /// <summary>Stores a snapshot while the ownership goes on, so that little is left to do at its end.</summary>
    public async Task PrepareEndAsync(CancellationToken cancellationToken)
    {
        var prepared = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Volatile.Write(ref _prepared, prepared);
        Volatile.Write(ref _isSnapshotWanted, true);
        Signal();
        if (IsActive)
            await prepared.Task.WaitAsync(cancellationToken).ConfigureAwait(false);
    }

    /// <summary>
    /// Sends what is left, a snapshot unless one was stored just now, and positions, and ends the ownership. Nothing
    /// may be appended any more.
    /// </summary>
    public async Task EndAsync(CancellationToken cancellationToken)
    {
        var ended = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        if (_prepared is not { Task.IsCompleted: true } || Volatile.Read(ref _unsaved) > MostUnsaved)
            Volatile.Write(ref _isSnapshotWanted, true);
        Volatile.Write(ref _ended, ended);
        RequestPositions();
        if (IsActive)
            await ended.Task.WaitAsync(cancellationToken).ConfigureAwait(false);
        Volatile.Write(ref _isActive, false);
    }

    /// <summary>Ends it at once; what is under way is not waited for.</summary>
    public async ValueTask DisposeAsync()
    {
        Volatile.Write(ref _isActive, false);
        await _stop.CancelAsync().ConfigureAwait(false);
        // What is being sent lies in the ring.
        while (Interlocked.CompareExchange(ref _sending, Ended, Resting) == Sending)
            await Task.Delay(EndPoll).ConfigureAwait(false);
        _ring.RemoveGate(_gate);
        _stop.Dispose();
    }

    private bool TryBegin() => Interlocked.CompareExchange(ref _sending, Sending, Resting) == Resting;

    private async Task SendAsync()
    {
        bool isResting = false;
        try
        {
            while (IsActive && !isResting)
            {
                if (TryGetRun(out RingRun run))
                {
                    ReadOnlyMemory<byte> bytes = run.Memory;
                    (long begin, long end) = (run.Position, run.NextPosition);
                    if (!await AppendAsync(EntryKind.Data, bytes).ConfigureAwait(false))
                        return;
                    Volatile.Write(ref _committed, end);
                    _unsaved += end - begin;
                    _entries++;
                    _progress();
                    await _copy.AppendAsync(bytes, _last, _stop.Token).ConfigureAwait(false);
                    MoveTo(end);
                }
                else if (_pending is not null)
                {
                    if (!await SaveAsync(_pending).ConfigureAwait(false))
                        return;
                }
                else if (_untrimmed != 0 && HasEnded())
                {
                    // The next owner does not wait until the stream is trimmed.
                    await TrimAsync().ConfigureAwait(false);
                }
                else
                {
                    isResting = !TryGoOn();
                }
            }
        }
        catch (OperationCanceledException) when (_stop.IsCancellationRequested)
        {
            // The log ends; what is not confirmed is the next owner's to find out.
        }
        catch (Exception e) when (e is ReplicationException or ArgumentException or IOException)
        {
            Lose(e.Message);
        }
        finally
        {
            if (!isResting)
                Volatile.Write(ref _sending, Ended);
        }
    }

    /// <summary>The next run to send: in front of what was captured of the state, if there is something.</summary>
    private bool TryGetRun(out RingRun run)
    {
        _pending ??= TryCapture();
        long end = _pending?.Position ?? End;
        while (!_ring.TryGetRun(_position, end, _options.MaxRunBytes, out run))
        {
            if (run.NextPosition == _position)
                return false;
            MoveTo(run.NextPosition); // Padding at the end of a lap.
        }
        return true;
    }

    private PendingEntry? TryCapture()
    {
        if (IsSnapshotDue || Volatile.Read(ref _isSnapshotWanted))
        {
            Volatile.Write(ref _isSnapshotWanted, false);
            if (_unsaved > 0 || _inherited > MostUnsaved || End != _position)
            {
                Volatile.Write(ref _arePositionsWanted, false); // They are in it.
                return _capture(EntryKind.Snapshot);
            }
            _prepared?.TrySetResult(); // There is nothing to be saved.
        }
        if (!Volatile.Read(ref _arePositionsWanted) && !IsUnnamed)
            return null;
        Volatile.Write(ref _arePositionsWanted, false);
        PendingEntry positions = _capture(EntryKind.Positions);
        if (positions.Bodies.Count != 0)
            return positions;
        return IsUnnamed ? positions with { Bodies = [ReadOnlyMemory<byte>.Empty] } : null;
    }

    /// <returns>Whether there is more to do; otherwise it rests, until <see cref="Signal"/>.</returns>
    private bool TryGoOn()
    {
        HasEnded();
        Volatile.Write(ref _sending, Resting);
        Interlocked.MemoryBarrier();
        return HasWork && TryBegin();
    }

    /// <summary>Ends the ownership if it is to end and everything is stored.</summary>
    private bool HasEnded()
    {
        if (_ended is not { } ended || HasWork)
            return false;
        ended.TrySetResult();
        return true;
    }

    private async Task<bool> SaveAsync(PendingEntry pending)
    {
        bool isSnapshot = pending.Kind == EntryKind.Snapshot;
        ulong first = _last + 1;
        int count = pending.Bodies.Count;
        for (int i = 0; i < count; i++)
        {
            var entry = new ControlEntry(
                pending.Kind,
                _epoch,
                pending.EndOffset,
                pending.AppendTime,
                _confirmedSnapshot,
                pending.Bodies[i]
            )
            {
                Part = isSnapshot ? (ushort)i : (ushort)0,
                PartsLeft = isSnapshot ? (uint)(count - 1 - i) : 0,
            };
            byte[] bytes = entry.Encode();
            if (!await AppendAsync(pending.Kind, bytes).ConfigureAwait(false))
                return false;
            _unsaved += bytes.Length;
            _entries++;
            Volatile.Write(ref _named, _confirmedSnapshot);
        }
        _pending = null;
        _stored();
        if (isSnapshot)
        {
            Volatile.Write(ref _confirmedSnapshot, _last);
            Volatile.Write(ref _unsaved, 0);
            (_inherited, _entries) = (0, 0);
            _savedBytes = pending.Bodies.Sum(static body => (long)body.Length);
            _saved.Enqueue((pending.EndOffset, first));
            _untrimmed = first;
            _prepared?.TrySetResult();
            if (_prepared is null && _ended is null)
                await TrimAsync().ConfigureAwait(false);
        }
        return true;
    }

    /// <summary>
    /// Removes from the stream what the journal no longer holds, up to one of this owner's snapshots; never the last
    /// one, nor a claim. Positions go that are in front of the last but one, which holds them.
    /// </summary>
    private async ValueTask TrimAsync()
    {
        ulong before = 0;
        while (_saved.Count > 1 && _saved.Peek().EndOffset <= _copy.StartOffset)
            before = _saved.Dequeue().First;
        // The last one of an owner is not given up when its log is closed: the next owner may end before it trims.
        using var patience = new CancellationTokenSource(LongestTrim);
        CancellationToken stop = _ended is null ? _stop.Token : patience.Token;
        try
        {
            if (_previousSaved != 0)
                await PurgeAsync(EntryKind.Positions, _previousSaved, stop).ConfigureAwait(false);
            if (before != 0)
            {
                await PurgeAsync(EntryKind.Data, before, stop).ConfigureAwait(false);
                await PurgeAsync(EntryKind.Snapshot, before, stop).ConfigureAwait(false);
            }
        }
        catch (Exception e)
            when (e is ReplicationException || (e is OperationCanceledException && patience.IsCancellationRequested))
        {
            // The next snapshot removes it, too. Whether the owner is still one, its next append says.
        }
        (_previousSaved, _untrimmed) = (_untrimmed, 0);
    }

    private async ValueTask PurgeAsync(EntryKind kind, ulong before, CancellationToken cancellationToken)
    {
        ulong? removed = null;
        _ledger.BeginPurge();
        try
        {
            removed = await _stream.PurgeAsync(kind, before, cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            _ledger.EndPurge(removed);
        }
    }

    private async ValueTask<bool> AppendAsync(EntryKind kind, ReadOnlyMemory<byte> payload)
    {
        EntryAppend answer = await TryAppendAsync(kind, payload).ConfigureAwait(false);
        if (answer.Outcome == AppendOutcome.Stored && answer.Sequence == _last + 1)
        {
            _last = answer.Sequence;
            _ledger.OnStored(_last);
            return true;
        }
        Lose(
            answer.Outcome == AppendOutcome.Refused
                ? $"another node has claimed the partition ({answer.Reason})"
                : $"the replicated log does not answer ({answer.Reason})"
        );
        return false;
    }

    /// <summary>
    /// Appends, again and again while the engine has no room. It is the same entry for the same sequence, so that it is
    /// stored once or not at all; when another node has claimed the partition meanwhile, it is refused.
    /// </summary>
    private async ValueTask<EntryAppend> TryAppendAsync(EntryKind kind, ReadOnlyMemory<byte> payload)
    {
        long since = 0;
        while (true)
        {
            EntryAppend answer = await _stream.AppendAsync(kind, payload, _last, _stop.Token).ConfigureAwait(false);
            bool isFull = answer.Outcome == AppendOutcome.Full;
            if (isFull)
                since = Stopwatch.GetTimestamp();
            if (answer.Outcome == AppendOutcome.Refused && _full is not null)
                answer = await JudgeAsync(answer, kind, payload).ConfigureAwait(false);
            bool isInDoubt =
                answer.Outcome == AppendOutcome.Unknown
                && _full is not null
                && Stopwatch.GetElapsedTime(since) < LongestDoubt;
            if (!isFull && !isInDoubt)
            {
                if (_full is not null)
                {
                    _full = null;
                    _progress();
                }
                return answer;
            }
            if (isFull && _full != answer.Reason)
            {
                _full = answer.Reason;
                _progress(); // Producers that wait for room learn why.
            }
            await Task.Delay(FullPause, _stop.Token).ConfigureAwait(false);
        }
    }

    /// <summary>
    /// A server that is at a limit may say so of an entry that it has stored. It is this owner's when it is the same in
    /// kind and bytes, which name the epoch, and lies where it was sent to.
    /// </summary>
    private async ValueTask<EntryAppend> JudgeAsync(EntryAppend refused, EntryKind kind, ReadOnlyMemory<byte> payload)
    {
        StreamEntry? stored = await _stream.GetAsync(_last + 1, _stop.Token).ConfigureAwait(false);
        return stored is { } entry && entry.Kind == kind && entry.Payload.Span.SequenceEqual(payload.Span)
            ? EntryAppend.Stored(_last + 1)
            : refused;
    }

    /// <summary>
    /// Nothing is sent and nothing is committed any more: what comes of the last append is not known.
    /// </summary>
    private void Lose(string reason)
    {
        Volatile.Write(ref _isActive, false);
        _prepared?.TrySetResult();
        _ended?.TrySetResult();
        _lost(reason);
    }

    private void MoveTo(long position)
    {
        Volatile.Write(ref _position, position);
        _gate.Value = position;
    }
}
