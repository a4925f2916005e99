using LightQ.Protocol.Batches;
using LightQ.Scheduling;
using LightQ.Storage.Backups;
using LightQ.Storage.Files;
using LightQ.Storage.Inspection;
using LightQ.Storage.Reading;
using LightQ.Storage.Recovery;
using LightQ.Storage.Segments;
using LightQ.Storage.Writing;

namespace LightQ.Storage;

/// <summary>A durable log of batches: appended through a ring, written and synced in groups, read in place.</summary>
/// <remarks>
/// Appending is one thread at a time, under the caller's append lock; everything else is thread-safe. Offsets and
/// positions are plain volatile reads and only grow.
/// </remarks>
/// <example>
/// <code>
/// using var environment = new JournalEnvironment();
/// await using Journal journal = Journal.Open(new JournalOptions { Directory = path, TopicId = id }, environment);
/// lock (appendLock)
/// {
///     journal.TryAppend(batch, out long baseOffset, out long position);
/// }
/// journal.Signal();               // once for all batches of a receive
/// // IJournalListener.OnProgress: journal.DurablePosition &gt;= position means that the batch is on the disk
/// </code>
/// </example>
public sealed class Journal : IAsyncDisposable, IHousekept, ILogHost
{
    /// <summary>
    /// Segments are filled ahead only while all journals write less than this between two steps, about 50 MB/s.
    /// </summary>
    private const long FillBelowBytes = 1 << 20;

    private readonly JournalEnvironment _environment;
    private readonly LogState _log;
    private readonly SegmentSource _source;
    private readonly WorkerThreads<ILogHost> _thread;
    private readonly JournalHousekeeping _housekeeping;
    private WritePath? _active;
    private TaskCompletionSource? _ended;
    private byte[]? _closingProducers;
    private long _fillSeen;
    private int _ending;
    private int _scheduled;
    private int _spaceWanted;
    private int _attended;
    private int _toldFull;
    private bool _notifyWritten;

    private Journal(
        JournalOptions options,
        JournalEnvironment environment,
        IJournalListener? listener,
        RecoveredLog recovered
    )
    {
        _environment = environment;
        Listener = listener;
        _log = new LogState(this, options, environment.Files, recovered);
        _source = new SegmentSource(options, environment.Files);
        _housekeeping = new JournalHousekeeping(this, _log, _source, recovered.Checkpoints, environment);
        _thread = environment.NextWriter();
        foreach (Segment segment in _log.Segments.All)
        {
            // Recovery has read it. It holds no descriptor until a client publishes or reads.
            segment.Rest(0, _log.Durable);
            segment.Owner = this;
        }
        RequestLook();
        Rebuilt = recovered.Rebuilt;
        _log.NoteDamage(recovered.Damage);
        environment.Scrubber.Add(_log);
    }

    /// <summary>The settings.</summary>
    public JournalOptions Options => _log.Options;

    /// <summary>Called about progress, on the writer's thread.</summary>
    public IJournalListener? Listener { get; set; }

    /// <summary>
    /// True: the listener is also called when bytes are written, before they are durable. Set it while a caller waits
    /// for that.
    /// </summary>
    public bool NotifyWritten
    {
        get => Volatile.Read(ref _notifyWritten);
        set => Volatile.Write(ref _notifyWritten, value);
    }

    /// <summary>The first offset that can be read.</summary>
    public long StartOffset => _log.StartOffset;

    /// <summary>The offset that the next message gets.</summary>
    public long EndOffset => Active?.Appender.NextOffset ?? _log.Written.Offset;

    /// <summary>Below it, messages are in the page cache.</summary>
    public long WrittenOffset => _log.Written.Offset;

    /// <summary>Below it, messages are on the disk.</summary>
    public long DurableOffset => _log.Durable.Offset;

    /// <summary>Below it, messages can be read.</summary>
    public long ReadableOffset => _log.Readable.Offset;

    /// <summary>
    /// Log position below which bytes are in the page cache; compares with what <see cref="TryAppend"/> gave.
    /// </summary>
    public long WrittenPosition => _log.Written.Position;

    /// <summary>
    /// Log position below which bytes are on the disk; compares with what <see cref="TryAppend"/> gave.
    /// </summary>
    public long DurablePosition => _log.Durable.Position;

    /// <summary>
    /// Rises on every start after an unclean stop at which the log was not at rest, and may have been cut; 1 at first.
    /// </summary>
    public uint LeaderEpoch => _log.Epoch;

    /// <summary>Which life of the topic this is.</summary>
    public ulong Incarnation => Options.Incarnation;

    /// <summary>Bytes of batches in the segments, those still in the ring included.</summary>
    public long StoredBytes
    {
        get
        {
            long end = Active?.Appender.Position ?? _log.Written.Position;
            return end - (_log.Segments.First?.BasePosition ?? end);
        }
    }

    /// <summary>Whether appending is refused for want of disk space; clears itself.</summary>
    public bool DiskFull => _log.DiskFull || _log.IsBlocked || !_log.IsEpochKept;

    /// <summary>What must be free on the disk for the next segment to be made, in bytes.</summary>
    public long WantedBytes => SegmentSource.Wanted(SegmentGrowth.Next(_log.Segments.Last?.FileBytes ?? 0, Options));

    /// <summary>
    /// What was found damaged since the journal was opened and is not past retention. Readers get a gap there.
    /// </summary>
    public IEnumerable<JournalDamage> Damage => _log.Damage.Where(damage => damage.LastOffset >= StartOffset);

    /// <summary>What the start has made anew because it was not as it had been left, for people.</summary>
    public IReadOnlyList<string> Rebuilt { get; }

    /// <summary>Why the journal stopped for good; null while it works.</summary>
    public JournalFailure? Failure => _log.Failure;

    internal LogState Log => _log;

    internal CatchUpThreads Disk => _environment.Disk;

    /// <summary>
    /// Whether the writer's thread has nothing to do with this journal: for tests that go step by step.
    /// </summary>
    internal bool IsIdle => Volatile.Read(ref _scheduled) == 0;

    /// <summary>Whether it has what only appending needs: for tests.</summary>
    internal bool IsActive => Active is not null;

    /// <summary>Whether everything appended is durable, and the writer's thread has nothing to do.</summary>
    internal bool IsQuiet => IsIdle && IsDrained;

    internal long TailBytes => _environment.Options.TailBytes;

    private bool IsDrained => !HasWork && _log.Written.Position == _log.Durable.Position;

    private bool HasWork => Active is { } active && active.Writer.HasWork;

    /// <summary>Null until the first append, and at rest. Made and given back under the append lock.</summary>
    private WritePath? Active => Volatile.Read(ref _active);

    private JournalEnding Ending => (JournalEnding)Volatile.Read(ref _ending);

    /// <summary>
    /// One behind the last offset of what is still as it was in an epoch: what was beyond then has been cut.
    /// </summary>
    /// <param name="epoch">An epoch in which a reader saw messages.</param>
    public long EndOfEpoch(uint epoch)
    {
        // Any later epoch may have begun further back than the one before it.
        long end = EndOffset;
        foreach ((uint later, long firstOffset) in _log.Epochs)
        {
            if (later > epoch)
                end = Math.Min(end, firstOffset);
        }
        return end;
    }

    /// <summary>Makes or recovers the journal in a directory.</summary>
    /// <param name="options">How it is kept.</param>
    /// <param name="environment">Threads and files; outlives the journal.</param>
    /// <param name="visitor">Gets what idempotent producers' state is rebuilt from.</param>
    /// <param name="listener">Called about progress; may also be set later.</param>
    /// <exception cref="JournalCorruptException">
    /// Bytes that had been durable are damaged; nothing was changed.
    /// </exception>
    /// <exception cref="JournalMissingException">It is gone, and <see cref="JournalOptions.MustExist"/>.</exception>
    /// <exception cref="JournalFormatException">
    /// A file is of another version or of another topic; nothing was changed.
    /// </exception>
    /// <exception cref="IOException">The directory cannot be read or written.</exception>
    public static Journal Open(
        JournalOptions options,
        JournalEnvironment environment,
        IRecoveredBatchVisitor? visitor = null,
        IJournalListener? listener = null
    )
    {
        ArgumentNullException.ThrowIfNull(options);
        ArgumentNullException.ThrowIfNull(environment);
        if (options.RingBytes / 4 < options.MaxBatchBytes)
        {
            throw new ArgumentException(
                $"RingBytes ({options.RingBytes}) must hold four batches of MaxBatchBytes ({options.MaxBatchBytes}).",
                nameof(options)
            );
        }

        if (options.MustExist && !JournalInspector.IsJournal(options.Directory, environment.Files))
            throw new JournalMissingException(options.Directory);
        environment.Files.CreateDirectory(options.Directory);
        return new Journal(options, environment, listener, JournalRecovery.Run(options, environment.Files, visitor));
    }

    /// <summary>
    /// Copies a producer's batch into the ring and stamps it. Never blocks; wakes no thread (see <see cref="Signal"/>).
    /// </summary>
    /// <remarks>The caller holds the log's append lock and has validated the batch header.</remarks>
    /// <param name="batch">One whole batch.</param>
    /// <param name="baseOffset">The offset of its first message.</param>
    /// <param name="logPosition">
    /// Where it ends: compares with <see cref="WrittenPosition"/> and <see cref="DurablePosition"/>.
    /// </param>
    /// <param name="user">See <see cref="BatchStamp.User"/>.</param>
    public AppendResult TryAppend(ReadOnlySpan<byte> batch, out long baseOffset, out long logPosition, uint user = 0)
    {
        baseOffset = logPosition = -1;
        AppendResult result = TryGetAppender(out LogAppender? appender);
        if (result != AppendResult.Appended)
            return result;
        result = appender!.TryAppend(batch, out baseOffset, out logPosition, user);
        if (result != AppendResult.Full)
            return result;

        // Either the writer sees the request after it has made room, or the second try finds the room.
        Interlocked.Exchange(ref _spaceWanted, 1);
        return appender.TryAppend(batch, out baseOffset, out logPosition, user);
    }

    /// <summary>
    /// As <see cref="TryAppend"/>, for a batch that another log has stamped, such as one that comes from a replicated
    /// stream: it keeps its offset, its append time and its epoch. The chain of checksums is this journal's own.
    /// </summary>
    /// <param name="batch">One whole batch, checked.</param>
    /// <param name="logPosition">Where it ends.</param>
    /// <exception cref="ArgumentException">
    /// Its offset is not the next one, or its append time is before that of the batch in front of it.
    /// </exception>
    public AppendResult TryAppendCopy(in BatchView batch, out long logPosition)
    {
        logPosition = -1;
        AppendResult result = TryGetAppender(out LogAppender? appender);
        if (result != AppendResult.Appended)
            return result;
        result = appender!.TryAppendCopy(batch, out logPosition);
        if (result != AppendResult.Full)
            return result;
        Interlocked.Exchange(ref _spaceWanted, 1);
        return appender.TryAppendCopy(batch, out logPosition);
    }

    private AppendResult TryGetAppender(out LogAppender? appender)
    {
        appender = null;
        if (_log.Failure is not null || Ending != JournalEnding.None)
            return AppendResult.Failed;
        if (!_log.IsEpochKept || _log.IsBlocked)
            return AppendResult.DiskFull;
        appender = (_active ?? Activate())?.Appender;
        return appender is null ? AppendResult.Failed : AppendResult.Appended;
    }

    /// <summary>Wakes the writer: once after all the batches of a receive. Cheap when it is at work already.</summary>
    public void Signal()
    {
        // Pairs with the one in RunWriter: either the writer sees the batch, or this thread sees that the writer rests.
        Interlocked.MemoryBarrier();
        if (Volatile.Read(ref _scheduled) == 0 && Interlocked.Exchange(ref _scheduled, 1) == 0)
            _thread.Enqueue(this);
    }

    /// <summary>
    /// Makes offsets below one unreadable, at most up to the readable end, and removes the files that hold nothing
    /// else. Blocks on the disk.
    /// </summary>
    public void TruncateBefore(long offset) => _housekeeping.TruncateBefore(offset);

    /// <summary>Changes how much is kept; null is no limit. The next housekeeping acts on it.</summary>
    /// <param name="bytes">See <see cref="JournalOptions.RetentionBytes"/>.</param>
    /// <param name="age">See <see cref="JournalOptions.RetentionAge"/>.</param>
    public void SetRetention(long? bytes, TimeSpan? age)
    {
        _log.Options = _log.Options with { RetentionBytes = bytes, RetentionAge = age };
        RequestLook();
    }

    /// <summary>
    /// Gives back what only appending needs, the ring above all, if everything appended is durable. Call it under the
    /// append lock.
    /// </summary>
    /// <returns>Whether nothing of it is left.</returns>
    public bool TryReleaseMemory()
    {
        // While this is 1, the writer's thread does not have the journal, and no other caller queues it.
        if (Interlocked.CompareExchange(ref _scheduled, 1, 0) != 0)
            return false;
        bool isDone = IsDrained && Ending == JournalEnding.None;
        if (isDone)
        {
            _active?.Dispose();
            Volatile.Write(ref _active, null);
        }
        Volatile.Write(ref _scheduled, 0);
        Interlocked.MemoryBarrier();
        if (HasWork || Ending != JournalEnding.None)
            Signal(); // A caller that signalled meanwhile found it scheduled.
        return isDone;
    }

    /// <summary>What is written now, to be copied while the journal goes on.</summary>
    public JournalSnapshot Capture() => new(_log);

    /// <summary>
    /// Drains the ring, syncs and closes; the next start scans nothing. Call it under the append lock, or after the
    /// last append.
    /// </summary>
    /// <exception cref="IOException">What was appended could not be written.</exception>
    public Task CloseAsync()
    {
        _closingProducers ??= Ending == JournalEnding.None ? Options.ProducerSnapshot?.Invoke() : null;
        return EndAsync(JournalEnding.Close);
    }

    /// <summary>
    /// Stops at once and removes the journal's files. Call it under the append lock, or after the last append.
    /// </summary>
    public Task DeleteAsync() => EndAsync(JournalEnding.Delete);

    /// <summary>As <see cref="CloseAsync"/>.</summary>
    public ValueTask DisposeAsync() => new(CloseAsync());

    TimeSpan? IHousekept.Look(DateTimeOffset now)
    {
        Interlocked.Exchange(ref _attended, 0); // Before the look: what happens after this requests another.
        if (_log.Failure is not null || _log.Closed)
            return null;
        try
        {
            bool isUnsynced = Options.Flush == Durability.Written && _log.Written.Position != _log.Durable.Position;
            if (isUnsynced)
            {
                Active?.Writer.RequestFlush();
                Signal();
            }
            if (_log.DiskFull && _source.HasRoom(SegmentGrowth.Next(_log.Segments.Last?.FileBytes ?? 0, Options)))
                _log.DiskFull = false;
            if (_log.IsBlocked)
                // Only a write shows whether there is room: the free space that the disk reports ignores quotas.
                Signal();
            if (!_log.IsEpochKept)
                RunDerived("writing the epochs", _housekeeping.KeepEpoch);
            TimeSpan? within = _housekeeping.Look();
            TellDiskFull();
            if (_log.AtRest && Active is not null)
                Listener?.OnRested(this);
            return isUnsynced || DiskFull ? TimeSpan.Zero : within;
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            Fail("housekeeping", error);
            return null;
        }
    }

    private void TellDiskFull()
    {
        int isFull = DiskFull ? 1 : 0;
        if (Volatile.Read(ref _toldFull) != isFull && Interlocked.Exchange(ref _toldFull, isFull) != isFull)
            Listener?.OnDiskFull(this);
    }

    /// <summary>Ends as a killed process would: for tests.</summary>
    internal Task AbandonAsync() => EndAsync(JournalEnding.Abandon);

    bool ILogHost.RunWriter()
    {
        if (Ending != JournalEnding.None)
        {
            Finish();
            return false;
        }
        WriteOutcome outcome = WriteOutcome.Blocked;
        try
        {
            if (_log.Failure is null)
                outcome = Active?.Writer.Commit() ?? WriteOutcome.Drained;
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            Fail("writing", error);
        }
        _log.IsBlocked = outcome == WriteOutcome.Blocked && _log.Failure is null;
        TellDiskFull();
        if (outcome == WriteOutcome.More)
            return true;
        RequestLook(); // A commit has opened a file, filled the disk, or made a checkpoint due.
        Volatile.Write(ref _scheduled, 0);
        Interlocked.MemoryBarrier();
        // After the barrier: a batch, or space that returned, may have come with a signal that still saw this thread at
        // work.
        bool again =
            (_log.Failure is null && outcome == WriteOutcome.Drained && HasWork) || Ending != JournalEnding.None;
        return again && Interlocked.Exchange(ref _scheduled, 1) == 0;
    }

    void ILogHost.LeaveRest() => _housekeeping.LeaveRest();

    /// <summary>Has housekeeping look at the journal soon: something is open, was written, or is missing.</summary>
    public void RequestLook()
    {
        if (Interlocked.Exchange(ref _attended, 1) == 0)
            _environment.Housekeeping.Request(this, TimeSpan.Zero);
    }

    void ILogHost.OnSuspected(Segment segment, LogGap gap) => _environment.Scrubber.Suspect(_log, segment, gap);

    void ILogHost.OnDamaged(JournalDamage damage) => Listener?.OnDamaged(this, damage);

    void ILogHost.OnRefused(string file, Exception error) => Listener?.OnRefused(this, file, error);

    void ILogHost.OnWritten()
    {
        bool wanted = Interlocked.Exchange(ref _spaceWanted, 0) != 0;
        if (wanted || NotifyWritten || Options.ReadLevel == Durability.Written)
            Listener?.OnProgress(this);
    }

    void ILogHost.OnCommitted(long bytes)
    {
        _environment.CountCommitted(bytes);
        Listener?.OnProgress(this);
    }

    void ILogHost.OnSynced(TimeSpan duration) => _environment.CountSync(duration);

    void ILogHost.OnRolled(Segment? sealedSegment, Segment current, byte[]? producers) =>
        _environment.Supply.Post(() =>
            RunDerived("writing an index", () => _housekeeping.WriteDerived(sealedSegment, current, producers))
        );

    void ILogHost.RequestSegment(long ordinal, int bytes)
    {
        if (!_source.Request(ordinal, bytes))
            return;
        _environment.Supply.Post(() =>
        {
            if (RunDerived("making a segment", _source.Prepare))
                _environment.Supply.PostSteps(FillStep);
            else
                _log.DiskFull = true;
            RequestLook();
        });
    }

    /// <returns>Null when there is no memory for it: the journal has failed then.</returns>
    private WritePath? Activate()
    {
        try
        {
            var active = new WritePath(this, _log, _source, _environment.Options.TimeProvider);
            Volatile.Write(ref _active, active);
            return active;
        }
        catch (InsufficientMemoryException error)
        {
            Fail("making the ring", error);
            return null;
        }
    }

    private bool FillStep()
    {
        long committed = _environment.CommittedBytes;
        bool busy = committed - _fillSeen > FillBelowBytes;
        _fillSeen = committed;
        if (busy)
            return _source.IsUnfilled; // Later: writing everything twice would halve what the disk gives.
        bool more = false;
        RunDerived("filling a segment", () => more = _source.FillStep());
        return more;
    }

    private Task EndAsync(JournalEnding ending)
    {
        TaskCompletionSource ended = LazyInitializer.EnsureInitialized(
            ref _ended,
            static () => new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously)
        );
        Interlocked.CompareExchange(ref _ending, (int)ending, (int)JournalEnding.None);
        Signal();
        return ended.Task;
    }

    private void Finish()
    {
        JournalEnding ending = Ending;
        Exception? error = null;
        try
        {
            if (ending == JournalEnding.Close && _log.Failure is null)
                WriteRest();
        }
        catch (Exception caught) when (caught is IOException or UnauthorizedAccessException)
        {
            Fail("closing", caught);
            error = caught;
        }
        _environment.Housekeeping.Remove(this);
        _environment.Scrubber.Remove(_log);
        _log.Closed = true;
        try
        {
            _housekeeping.End(ending == JournalEnding.Delete);
        }
        catch (Exception caught) when (caught is IOException or UnauthorizedAccessException)
        {
            error ??= caught;
        }
        Active?.Dispose();
        Listener?.OnProgress(this);
        if (error is null)
            _ended!.SetResult();
        else
            _ended!.SetException(error);
    }

    private void WriteRest()
    {
        WriteOutcome outcome = WriteOutcome.More;
        while (outcome == WriteOutcome.More && Active is { } active)
        {
            active.Writer.RequestFlush();
            outcome = active.Writer.Commit();
        }
        if (outcome == WriteOutcome.Blocked)
            throw StorageIOException.DiskFull(Options.Directory);
        _housekeeping.WriteClosingState(_closingProducers);
    }

    /// <summary>Does work whose failure only a full disk excuses.</summary>
    /// <returns>False when the disk is full.</returns>
    private bool RunDerived(string what, Action work)
    {
        bool done = false;
        Guarded(
            what,
            () =>
            {
                try
                {
                    work();
                    done = true;
                }
                catch (IOException error) when (StorageIOException.IsDiskFull(error))
                {
                    // The result says so. Derived files can be rebuilt, and a segment is requested again.
                }
            }
        );
        return done || _log.Failure is not null;
    }

    private void Guarded(string what, Action work)
    {
        try
        {
            work();
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            Fail(what, error);
        }
    }

    private void Fail(string what, Exception error)
    {
        if (_log.Fail(JournalFailure.Of(what, error)))
            Listener?.OnFailed(this);
    }
}
