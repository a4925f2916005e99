using LightQ.Protocol.Batches;

namespace LightQ.Broker.Replication;

/// <summary>
/// Reads a partition's stream into this node's journal while another node leads the partition, and goes on with it: so
/// that little is left to read when this node takes it over.
/// </summary>
/// <remarks>
/// What counts is decided as at a takeover (rule R3), and stays so for ever. The partition's state is not made of it:
/// the takeover begins at the snapshot that rule R4 names, as ever.
/// </remarks>
/// <param name="stream">The stream.</param>
/// <param name="copy">The journal.</param>
/// <param name="time">The clock.</param>
internal sealed class JournalFill(IReplicatedStream stream, CommittedCopy copy, TimeProvider time) : IReplayTarget
{
    /// <summary>
    /// What one look may find that was added since the one before, of a journal that goes up to the end.
    /// </summary>
    public const long MostNew = 256;

    /// <summary>The same in bytes: a takeover reads them in some 20 ms.</summary>
    private const long MostNewBytes = 8 * 1024 * 1024;

    /// <summary>So many times of that must be new until the journal does not go up to the end any more.</summary>
    private const long Slack = 4;

    private static readonly TimeSpan Poll = TimeSpan.FromMilliseconds(50);
    private LogReplay? _replay;
    private long _last;
    private long _bytes;
    private volatile bool _isNear;

    /// <summary>The last snapshot that was read; a takeover that begins there need not read it again.</summary>
    public SavedState? Passed { get; private set; }

    /// <summary>Whether the journal goes up to the stream's end, but for a few entries.</summary>
    public bool IsNear => _isNear;

    /// <summary>The entries of the stream that are left to read; null when that is not known yet.</summary>
    public long? Left =>
        Volatile.Read(ref _replay) is { } replay && Volatile.Read(ref _last) is > 0 and var last
            ? Math.Max(0, last - (long)replay.Sequence)
            : null;

    /// <summary>Reads until it is stopped.</summary>
    /// <param name="changed">Called when <see cref="IsNear"/> has changed.</param>
    /// <param name="cancellationToken">Stops it.</param>
    /// <exception cref="ReplicationException">
    /// The engine cannot be reached, the stream is damaged, or the journal cannot take it in.
    /// </exception>
    /// <exception cref="OperationCanceledException">Stopped.</exception>
    public async Task RunAsync(Action changed, CancellationToken cancellationToken)
    {
        var replay = new LogReplay(this);
        long heldTo = copy.EndOffset;
        bool isWrong = await ReplayStart
            .BeginAsync(replay, stream, heldTo, copy.Marks?.Latest, Passed, cancellationToken)
            .ConfigureAwait(false);
        if (isWrong)
            copy.ForgetMark();
        while (true)
        {
            StreamBounds bounds = await stream.GetBoundsAsync(cancellationToken).ConfigureAwait(false);
            ReplayStart.DemandFront(stream, bounds);
            Volatile.Write(ref _last, (long)bounds.Last);
            Volatile.Write(ref _replay, replay);
            long added = (long)(bounds.Last - Math.Min(bounds.Last, replay.Sequence));
            _bytes = 0;
            await replay.ReadAsync(stream, bounds.Last, cancellationToken).ConfigureAwait(false);
            ReplayStart.DemandEnd(stream, replay, heldTo);
            ((IReplayTarget)copy).OnEnd(replay.NextOffset);
            long most = _isNear ? Slack : 1;
            bool isNear = added <= most * MostNew && _bytes <= most * MostNewBytes;
            if (isNear != _isNear)
            {
                _isNear = isNear;
                changed();
            }
            if (isNear)
                await Task.Delay(Poll, time, cancellationToken).ConfigureAwait(false);
        }
    }

    void IReplayTarget.OnSnapshot(ReadOnlySpan<byte> state)
    {
        // The takeover loads it.
    }

    void IReplayTarget.OnPassed(ReadOnlySpan<byte> state)
    {
        if (Volatile.Read(ref _replay) is { } replay)
        {
            Passed = new SavedState(
                replay.ConfirmedSnapshot,
                replay.Epoch,
                replay.NextOffset,
                replay.AppendTime,
                state.ToArray()
            );
        }
    }

    void IReplayTarget.OnPositions(ReadOnlySpan<byte> changed)
    {
        // The takeover reads them again, behind its snapshot.
    }

    bool IReplayTarget.TryTake(in BatchView batch, bool isInSnapshot) =>
        ((IReplayTarget)copy).TryTake(batch, isInSnapshot: true);

    void IReplayTarget.OnRead(in StreamMark mark, long bytes)
    {
        _bytes += bytes;
        ((IReplayTarget)copy).OnRead(mark, bytes);
    }

    void IReplayTarget.OnEnd(long nextOffset) => ((IReplayTarget)copy).OnEnd(nextOffset);

    ValueTask IReplayTarget.WaitForRoomAsync(CancellationToken cancellationToken) =>
        copy.WaitForRoomAsync(cancellationToken);
}
