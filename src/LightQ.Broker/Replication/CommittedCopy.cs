using LightQ.Protocol.Batches;
using LightQ.Storage;

namespace LightQ.Broker.Replication;

/// <summary>
/// Copies what is committed into the node's own journal, in order: runs of this owner, and what a takeover reads of
/// earlier ones, of which it also rebuilds the partition's state.
/// </summary>
/// <remarks>One thread at a time copies; the journal's threads call <see cref="OnProgress"/>.</remarks>
internal sealed class CommittedCopy(
    Journal journal,
    IPartitionState state,
    Lock appendLock,
    MarkFile? marks = null,
    Action<StreamMark>? wrongMark = null
) : IReplayTarget
{
    /// <summary>A wait is never longer: the writer may have made room just before it was asked.</summary>
    private static readonly TimeSpan Poll = TimeSpan.FromMilliseconds(20);
    private readonly Lock _journalLock = new();
    private TaskCompletionSource _room = NewRoom();
    private volatile bool _isLeft;
    private StreamMark _lastCopied;

    /// <summary>The first offset that the journal holds: retention has let go what is in front of it.</summary>
    public long StartOffset => journal.StartOffset;

    /// <summary>One behind the last offset that the journal holds.</summary>
    public long EndOffset => journal.EndOffset;

    /// <summary>Remembers how far of the stream the journal goes; null where that is not remembered.</summary>
    public MarkFile? Marks => marks;

    /// <summary>
    /// Where the stream begins, when retention has removed from it what would follow in the journal: only one that
    /// begins there can take it in. Null otherwise.
    /// </summary>
    public long? StreamFront { get; private set; }

    /// <summary>The journal's writer has made room, or the disk has.</summary>
    public void OnProgress()
    {
        // Most of the time nobody waits.
        if (!Volatile.Read(ref _room).Task.IsCompleted)
            Volatile.Read(ref _room).TrySetResult();
        marks?.OnProgress();
    }

    /// <summary>
    /// Nothing more is copied: the stream has it, and whoever leads the partition next reads it from there. For a
    /// journal that takes nothing, when the ownership is about to end.
    /// </summary>
    public void Leave()
    {
        _isLeft = true;
        Volatile.Read(ref _room).TrySetResult();
    }

    /// <summary>The stream has something else where the mark is: it is reported, and not believed any more.</summary>
    public void ForgetMark()
    {
        if (marks?.Latest is not { } mark)
            return;
        marks.Forget();
        wrongMark?.Invoke(mark);
    }

    /// <summary>Gives back the journal's memory, if nothing waits in it.</summary>
    public void TryReleaseMemory()
    {
        lock (_journalLock)
            journal.TryReleaseMemory();
    }

    /// <summary>Completes when everything that was copied can be read.</summary>
    public async ValueTask WrittenAsync(CancellationToken cancellationToken)
    {
        while (journal.WrittenOffset != journal.EndOffset)
            await WaitForRoomAsync(cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Copies a committed run of whole batches; waits while the journal has no room.</summary>
    /// <param name="run">The run.</param>
    /// <param name="sequence">Where the stream has it.</param>
    /// <param name="cancellationToken">Stops waiting.</param>
    /// <exception cref="ReplicationException">The journal has failed.</exception>
    public async ValueTask AppendAsync(ReadOnlyMemory<byte> run, ulong sequence, CancellationToken cancellationToken)
    {
        int length = run.Length;
        while (!run.IsEmpty && !_isLeft)
        {
            int copied = AppendSome(run.Span);
            run = run[copied..];
            journal.Signal();
            if (!run.IsEmpty && !_isLeft)
                await WaitForRoomAsync(cancellationToken).ConfigureAwait(false);
        }
        if (!run.IsEmpty)
            return;
        marks?.Note(_lastCopied with { Sequence = sequence }, length);
    }

    void IReplayTarget.OnSnapshot(ReadOnlySpan<byte> saved)
    {
        lock (appendLock)
            state.Load(saved);
    }

    /// <inheritdoc/>
    public ValueTask LearnAsync(CancellationToken cancellationToken) => state.LearnAsync(cancellationToken);

    void IReplayTarget.OnPassed(ReadOnlySpan<byte> saved)
    {
        lock (appendLock)
            state.LoadPositions(saved);
    }

    void IReplayTarget.OnPositions(ReadOnlySpan<byte> changed)
    {
        lock (appendLock)
            state.OnPositions(changed);
    }

    void IReplayTarget.OnEnd(long nextOffset)
    {
        DemandJournalTo(nextOffset);
        journal.Signal(); // It is written while the claim is under way.
    }

    bool IReplayTarget.TryTake(in BatchView batch, bool isInSnapshot)
    {
        DemandJournalTo(batch.BaseOffset);
        // What the node held before it claims is what the stream has: only committed batches ever get here.
        if (batch.BaseOffset >= journal.EndOffset)
        {
            if (AppendSome(batch.Bytes) == 0)
            {
                journal.Signal();
                return false;
            }
            lock (appendLock)
                state.OnCopied(batch);
        }
        if (!isInSnapshot)
        {
            lock (appendLock)
                state.OnReplayed(batch);
        }
        return true;
    }

    void IReplayTarget.OnRead(in StreamMark mark, long bytes)
    {
        // What retention has removed from the stream, the journal may lack: OnEnd finds out.
        if (mark.NextOffset <= journal.EndOffset)
            marks?.Note(mark, bytes);
    }

    /// <inheritdoc/>
    public async ValueTask WaitForRoomAsync(CancellationToken cancellationToken)
    {
        TaskCompletionSource room = NewRoom();
        Volatile.Write(ref _room, room);
        Interlocked.MemoryBarrier();
        journal.Signal(); // The writer makes room behind this, or had made it before: then it says so at once.
        if (journal.Failure is { } failure)
            throw new ReplicationException($"The local journal has failed: {failure.Reason}");
        await room.Task.WaitAsync(Poll, CancellationToken.None).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        cancellationToken.ThrowIfCancellationRequested();
    }

    private static TaskCompletionSource NewRoom() => new(TaskCreationOptions.RunContinuationsAsynchronously);

    private void DemandJournalTo(long offset)
    {
        if (offset <= journal.EndOffset)
            return;
        StreamFront = offset;
        throw new ReplicationException(
            $"The stream begins at offset {offset}, since retention has removed what was before, and this node's "
                + $"journal ends at {journal.EndOffset}."
        );
    }

    /// <returns>How many bytes were copied.</returns>
    private int AppendSome(ReadOnlySpan<byte> run)
    {
        int copied = 0;
        lock (_journalLock)
        {
            while (copied < run.Length && BatchView.TryRead(run[copied..], out BatchView batch))
            {
                AppendResult result = journal.TryAppendCopy(batch, out _);
                if (result == AppendResult.Failed)
                {
                    throw new ReplicationException(
                        $"The local journal takes nothing: {journal.Failure?.Reason ?? "it is closed"}"
                    );
                }
                if (result != AppendResult.Appended)
                    break;
                _lastCopied = StreamMark.Of(0, batch);
                copied += batch.Length;
            }
        }
        return copied;
    }
}
