using LightQ.Broker.Replication;
using LightQ.Disruptor;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Storage;
using LightQ.Storage.Backups;

namespace LightQ.Broker.Logs;

/// <summary>
/// A durable topic's log with replicas, for as long as this node owns the partition: batches wait in a ring until a
/// replicated stream has them, and are then copied into a journal, from which they are read. The journal never holds
/// what is not committed, so it is never cut back.
/// </summary>
/// <remarks>
/// <para>
/// One append is under way at a time, a run of whole batches as long as the ring has them: docs/design/cluster.md, The
/// rules of the log. Whatever is not confirmed ends the ownership (rule R1), and with it this log: producers send what
/// was not acknowledged to the next owner.
/// </para>
/// <para>
/// Positions are those of the ring. <see cref="Durability.Replicated"/> is the only level: it is answered when the
/// stream has confirmed.
/// </para>
/// </remarks>
internal sealed class ReplicatedLog : ITopicLog
{
    private readonly IReplicatedStream _stream;
    private readonly JournalLog _local;
    private readonly RunSender _sender;
    private readonly IPartitionState _state;
    private readonly int _mostBodyBytes;
    private readonly Lock _appendLock;
    private readonly TimeProvider _time;
    private readonly Func<string, bool>? _yieldsTo;
    private readonly TimeSpan _longestClaim;
    private readonly RingMemory _memory;
    private readonly ByteRing _ring;
    private readonly TaskCompletionSource<string> _lost = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private long _nextOffset;
    private long _appendTime;
    private uint _epoch;
    private bool _isOwner;
    private volatile bool _holdsBack;
    private volatile string? _whyNot = "the partition is not claimed yet";
    private volatile string? _streamLoss;
    private volatile string? _lossReason;

    /// <summary>Makes the log of a partition that this node does not own yet.</summary>
    /// <param name="stream">The partition's stream.</param>
    /// <param name="local">What is committed.</param>
    /// <param name="state">The partition's state.</param>
    /// <param name="options">Sizes.</param>
    /// <param name="appendLock">The lock that the appending thread holds.</param>
    /// <param name="time">The clock.</param>
    /// <param name="progress">Called when the committed position has moved.</param>
    public ReplicatedLog(
        IReplicatedStream stream,
        Journal local,
        IPartitionState state,
        ReplicatedLogOptions options,
        Lock appendLock,
        TimeProvider time,
        Action progress
    )
    {
        (_stream, _local, _state, _appendLock, _time) = (stream, new JournalLog(local), state, appendLock, time);
        _yieldsTo = options.YieldsTo;
        _longestClaim = options.LongestClaim;
        _memory = RingMemory.Native(options.RingBytes);
        _ring = new ByteRing(_memory, options.MaxBatchBytes);
        MarkFile? marks = options.MarkPath is { } path
            ? new MarkFile(path, stream.Name, () => local.DurableOffset)
            : null;
        Copy = new CommittedCopy(local, state, appendLock, marks, options.WrongMark);
        Fill = new JournalFill(stream, Copy, time);
        _mostBodyBytes = options.MaxBodyBytes;
        Ledger = new StreamLedger(time);
        _sender = new RunSender(stream, Ledger, _ring, Copy, Capture, OnStored, options, progress, OnLost);
    }

    public long StartOffset => _local.StartOffset;

    public long EndOffset => Volatile.Read(ref _nextOffset);

    public long DurableOffset => _local.EndOffset;

    public long ReadableOffset => _local.ReadableOffset;

    public long EndPosition => _sender.End;

    public ulong Incarnation => _local.Incarnation;

    public uint Epoch => Volatile.Read(ref _epoch);

    public long StoredBytes => _local.StoredBytes;

    public Durability MaxDurability => Durability.Replicated;

    public Durability MinDurability => Durability.Replicated;

    public string? Failure => _local.Failure ?? _whyNot ?? _lossReason;

    /// <summary>
    /// Another node may serve it, or this one again; but for a stream that has lost something, which none can serve.
    /// </summary>
    public ErrorCode FailureCode =>
        _local.Failure is null && _whyNot is null ? ErrorCode.TopicFailed : ErrorCode.NotLeader;

    public bool IsDiskFull => _local.IsDiskFull || _sender.Full is not null;

    string? ITopicLog.FullReason => _sender.Full;

    bool ITopicLog.IsLocalFull => _local.IsDiskFull;

    /// <summary>
    /// Whether producers wait while the broker's own disk has no room, because another node has and takes the partition
    /// over; else they are told.
    /// </summary>
    public bool WaitsWhenFull { get; set; }

    /// <summary>Whether the journal takes nothing: the disk has no room, or the journal has failed.</summary>
    public bool IsLocalStuck => _local.IsDiskFull || _local.Failure is not null;

    /// <summary>Whether the ownership has ended because of this node's own journal.</summary>
    public bool HasLocalFailure => _local.Failure is not null;

    public IEnumerable<JournalDamage> Damage => _local.Damage;

    JournalLog? ITopicLog.Local => _local;

    /// <summary>Whether this node owns the partition, as far as it knows.</summary>
    public bool IsOwner => Volatile.Read(ref _isOwner);

    /// <summary>
    /// Completes, with the reason, when the ownership has ended other than by <see cref="StepDownAsync"/>.
    /// </summary>
    public Task<string> Lost => _lost.Task;

    /// <summary>How many entries of the stream were void when it was claimed.</summary>
    public long VoidEntries { get; private set; }

    /// <summary>
    /// What the stream has lost, so that nothing is taken, and what is here is read on; null while it is whole.
    /// </summary>
    public string? StreamLoss => _streamLoss;

    /// <summary>The partition's stream.</summary>
    internal IReplicatedStream Stream => _stream;

    /// <summary>What is known of the stream.</summary>
    internal StreamLedger Ledger { get; }

    /// <summary>The local copy, which takes in what is committed.</summary>
    internal CommittedCopy Copy { get; }

    /// <summary>Reads the stream into the journal, before the partition is claimed.</summary>
    internal JournalFill Fill { get; }

    /// <summary>
    /// Claims the partition: reads what counts of its stream, rebuilds its state, and takes batches from then on. Once.
    /// </summary>
    /// <param name="node">This node's name.</param>
    /// <param name="cancellationToken">Stops it.</param>
    /// <param name="heard">The newest owner that was heard of.</param>
    /// <exception cref="ReplicationException">The engine cannot be reached, or the stream is damaged.</exception>
    /// <exception cref="OperationCanceledException">Stopped, or another node has claimed it first.</exception>
    public async Task ClaimAsync(string node, CancellationToken cancellationToken, HeardOwner heard = default)
    {
        var takeover = new Takeover(_stream, Copy, _time)
        {
            Heard = heard,
            Yields = _yieldsTo,
            Patience = _longestClaim,
            Mark = Copy.Marks?.Latest,
            MarkIsWrong = Copy.ForgetMark,
            Known = Fill.Passed,
        };
        Ownership owned = await takeover.ClaimAsync(node, _local.EndOffset, cancellationToken).ConfigureAwait(false);
        await Copy.WrittenAsync(cancellationToken).ConfigureAwait(false);
        VoidEntries = takeover.Replay.VoidEntries;
        lock (_appendLock)
        {
            _sender.Begin(owned);
            (_nextOffset, _appendTime, _epoch) = (owned.NextOffset, owned.AppendTime, owned.Epoch);
            _whyNot = null;
            Volatile.Write(ref _isOwner, true);
        }
    }

    /// <summary>
    /// Writes a snapshot while batches are taken, so that <see cref="StepDownAsync"/> takes the less time.
    /// </summary>
    public Task PrepareStepDownAsync(CancellationToken cancellationToken) => _sender.PrepareEndAsync(cancellationToken);

    /// <summary>
    /// Takes nothing more, waits until what was taken is confirmed, and writes a snapshot, unless one was prepared: the
    /// next owner reads no more than that.
    /// </summary>
    /// <param name="reason">Why, for those that come meanwhile.</param>
    /// <param name="holdsBack">
    /// Whether what comes meanwhile waits, as for room, until the next owner has claimed: then its producers, whose
    /// streams are ended at that moment, find an owner at once.
    /// </param>
    /// <param name="cancellationToken">Stops waiting; what is not confirmed then is not acknowledged.</param>
    public async Task StepDownAsync(string reason, bool holdsBack, CancellationToken cancellationToken)
    {
        _holdsBack = holdsBack;
        if (!TryEnd(reason))
            return;
        _state.Collect();
        await _sender.EndAsync(cancellationToken).ConfigureAwait(false);
    }

    /// <summary>
    /// The ownership is about to end, and the journal takes nothing more: what is confirmed from now on stays with the
    /// stream, and nothing waits for the journal.
    /// </summary>
    public void LeaveJournal() => Copy.Leave();

    /// <summary>The journal has failed: this node cannot serve the partition, though the stream takes more.</summary>
    public void OnLocalFailed(string reason) => OnLost($"this node's journal has failed ({reason})");

    /// <summary>The stream has lost something, or is whole again.</summary>
    /// <param name="loss">What; null when it is whole.</param>
    /// <param name="reason">What clients get to read.</param>
    public void NoteLoss(string? loss, string reason)
    {
        lock (_appendLock)
            (_streamLoss, _lossReason) = (loss, loss is null ? null : reason);
    }

    /// <summary>
    /// The partition's state, of one that was ended; null where it knows of batches that nobody has confirmed.
    /// </summary>
    public byte[]? SaveState()
    {
        lock (_appendLock)
            return EndOffset == _local.EndOffset ? _state.Save() : null;
    }

    /// <summary>Stores the positions of groups that have changed, behind what is under way. Any thread.</summary>
    public void RequestPositions() => _sender.RequestPositions();

    /// <summary>Everything: what is committed is never cut back, whichever epoch it is of.</summary>
    public long EndOfEpoch(uint epoch) => EndOffset;

    public AppendResult TryAppend(ReadOnlySpan<byte> batch, long appendTime, out long baseOffset, uint user = 0)
    {
        baseOffset = -1;
        if (!_isOwner || _local.Failure is not null || _streamLoss is not null)
            return _holdsBack && _local.Failure is null ? AppendResult.Full : AppendResult.Failed;
        if (_local.IsDiskFull)
            return WaitsWhenFull ? AppendResult.Full : AppendResult.DiskFull;
        if (_sender.Full is not null)
            return AppendResult.DiskFull;
        if (_ring.TryClaim(batch.Length, out RingClaim claim) != ClaimResult.Claimed)
            return AppendResult.Full;
        Span<byte> entry = claim.Span;
        batch.CopyTo(entry);
        _appendTime = Math.Max(_appendTime, appendTime);
        baseOffset = _nextOffset;
        // The chain of checksums and the signature are each journal's own.
        BatchWriter.Stamp(entry, new BatchStamp(baseOffset, _appendTime, _epoch, 0, 0, User: user));
        Volatile.Write(ref _nextOffset, baseOffset + new BatchView(entry).OffsetSpan);
        _ring.Publish(claim);
        _sender.End = _ring.Published;
        return AppendResult.Appended;
    }

    public void Flush() => _sender.Signal();

    public long PositionOf(Durability durability) => _sender.Committed;

    public void NotifyWritten()
    {
        // Progress is announced when something is committed, and no level is below that.
    }

    public LogReader OpenReader(StartKind start, long value, bool holds, Action ready) =>
        _local.OpenReader(start, value, holds, ready);

    public long Truncate(long beforeOffset) => _local.Truncate(beforeOffset);

    public void SetRetention(long bytes, TimeSpan age) => _local.SetRetention(bytes, age);

    public void RequestLook() => _local.RequestLook();

    public JournalSnapshot? Capture() => _local.Capture();

    public async ValueTask DeleteAsync()
    {
        await EndAsync().ConfigureAwait(false);
        if (Copy.Marks is { } marks)
            await marks.DeleteAsync().ConfigureAwait(false);
        await _local.DeleteAsync().ConfigureAwait(false);
    }

    public async ValueTask DisposeAsync()
    {
        await EndAsync().ConfigureAwait(false);
        try
        {
            await _local.DisposeAsync().ConfigureAwait(false);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // The disk does not take the rest, which the stream has. Everything else is closed.
        }
        if (Copy.Marks is { } marks)
            await marks.CloseAsync().ConfigureAwait(false);
    }

    private PendingEntry Capture(EntryKind kind)
    {
        lock (_appendLock)
        {
            IReadOnlyList<ReadOnlyMemory<byte>>? bodies =
                kind == EntryKind.Positions ? _state.SavePositions(_mostBodyBytes) : null;
            kind = bodies is null ? EntryKind.Snapshot : kind;
            bodies ??= SavedState.Split(_state.Save(), _mostBodyBytes);
            return new PendingEntry(kind, _sender.End, _nextOffset, _appendTime, bodies);
        }
    }

    private void OnStored()
    {
        lock (_appendLock)
            _state.OnStored();
    }

    private void OnLost(string reason)
    {
        if (TryEnd(reason))
            _lost.TrySetResult(reason);
    }

    /// <returns>Whether it was the owner until now.</returns>
    private bool TryEnd(string reason)
    {
        lock (_appendLock)
        {
            bool wasOwner = _isOwner;
            Volatile.Write(ref _isOwner, false);
            _whyNot ??= reason;
            return wasOwner;
        }
    }

    private async Task EndAsync()
    {
        _holdsBack = false;
        TryEnd("the log is closed");
        await _sender.DisposeAsync().ConfigureAwait(false);
        _memory.Dispose();
    }
}
