using System.Diagnostics;
using LightQ.Broker.Replication;
using LightQ.Storage;

namespace LightQ.Broker.Catalog;

/// <summary>The records of a cluster's catalog: a replicated stream that every node reads on and appends to.</summary>
/// <remarks>
/// An append names the last sequence that this node has applied, and so follows exactly what its change was checked
/// against. Refused, the node applies what came, and checks again. Without an answer it sends the same entry again for
/// the same sequence, until what is stored there is known. A change is refused only by a copy that was read on to the
/// stream's end after it was asked for. Thread-safe; calls block on the engine.
/// </remarks>
internal sealed class StreamRecordLog : IRecordLog
{
    private static readonly TimeSpan Poll = TimeSpan.FromMilliseconds(100),
        ShortPause = TimeSpan.FromMilliseconds(20),
        // Shorter ones are elections of the engine, of which nobody has to be told.
        LongestSilence = TimeSpan.FromSeconds(5);

    private readonly IReplicatedStream _stream;
    private readonly ReplicationOptions _options;
    private readonly TimeProvider _time;
    private readonly Action<JournalFailure?> _failureChanged;
    private readonly SemaphoreSlim _reading = new(1),
        _appending = new(1);
    private readonly CancellationTokenSource _stop = new(),
        _stopFollowing = new();
    private readonly List<SentEntry> _sent = [];
    private readonly Lock _sharing = new();
    private TaskCompletionSource? _nextReading; // Not begun yet: whoever asks now gets what is stored by now.
    private volatile JournalFailure? _failure;
    private Task _following = Task.CompletedTask;
    private bool _isCopyDue;
    private int _copies; // That are complete, as far as they are applied here.
    private ulong _applied,
        _copiedAt;

    private StreamRecordLog(
        IReplicatedStream stream,
        ReplicationOptions options,
        CatalogLoad load,
        TimeProvider time,
        Action<JournalFailure?> failureChanged
    )
    {
        _stream = stream;
        _options = options;
        _time = time;
        _failureChanged = failureChanged;
        Tables = load.Tables;
        _applied = load.Applied;
        _copiedAt = load.CopiedAt;
    }

    /// <summary>What its records add up to.</summary>
    public CatalogTables Tables { get; }

    /// <inheritdoc/>
    public bool IsShared => true;

    /// <inheritdoc/>
    public ulong Applied => Volatile.Read(ref _applied);

    /// <inheritdoc/>
    public JournalFailure? Failure => _failure;

    /// <summary>Opens the catalog of a cluster, or makes it; tries for a while.</summary>
    /// <param name="options">The cluster.</param>
    /// <param name="mayBegin">Whether this node may make the catalog: not when it has belonged to the cluster.</param>
    /// <param name="time">The clock.</param>
    /// <param name="failureChanged">
    /// Called when the stream cannot be read, and with null when it can again; nothing is locked.
    /// </param>
    /// <exception cref="ReplicationException">The stream cannot be read.</exception>
    public static async Task<StreamRecordLog> OpenAsync(
        ReplicationOptions options,
        bool mayBegin,
        TimeProvider time,
        Action<JournalFailure?> failureChanged
    )
    {
        using var patience = new CancellationTokenSource(options.CatalogPatience, time);
        JournalFailure? failure = null;
        while (true)
        {
            try
            {
                IReplicatedStream stream = await options
                    .Engine.CreateStreamAsync(options.CatalogStream, options.CatalogReplicas, patience.Token)
                    .ConfigureAwait(false);
                CatalogLoad load = await CatalogLoad.ReadAsync(stream, patience.Token).ConfigureAwait(false);
                if (load.Tables.Cluster is not null || !mayBegin)
                {
                    if (failure is not null)
                        failureChanged(null);
                    return new StreamRecordLog(stream, options, load, time, failureChanged);
                }
                var first = new CatalogRecord
                {
                    Cluster = new CatalogRecord.ClusterEntry(
                        Guid.NewGuid(),
                        time.GetUtcNow(),
                        CatalogRecord.ClusterEntry.NewSecret()
                    ),
                };
                // Whatever becomes of it: the next read says which node was the first.
                await stream
                    .AppendAsync(
                        EntryKind.Data,
                        new CatalogEntry(Guid.NewGuid(), [first]).Write(),
                        load.Applied,
                        patience.Token
                    )
                    .ConfigureAwait(false);
            }
            catch (Exception e) when (e is ReplicationException or OperationCanceledException)
            {
                if (patience.IsCancellationRequested)
                {
                    throw new ReplicationException(
                        $"The cluster's catalog cannot be read: {failure?.Exception.Message ?? e.Message}",
                        e
                    );
                }
                if (failure is null)
                    failureChanged(failure = FailureOf(e));
                await Task.Delay(Poll, CancellationToken.None).ConfigureAwait(false);
            }
        }
    }

    /// <inheritdoc/>
    public bool Change(Func<IReadOnlyList<CatalogRecord>> make, bool takesAway, Action? applied = null)
    {
        CancellationToken asker = CatalogAsker.Token;
        return Task.Run(() => ChangeAsync(make, applied, asker), CancellationToken.None).GetAwaiter().GetResult();
    }

    /// <inheritdoc/>
    public ValueTask<bool> ChangeAsync(
        Func<IReadOnlyList<CatalogRecord>> make,
        bool takesAway,
        Action? applied = null
    ) => new(ChangeAsync(make, applied, CancellationToken.None));

    /// <inheritdoc/>
    public void CatchUp()
    {
        var reading = Task.Run(() => CatchUpAsync(_stop.Token));
        // Without a timer, which needs the pool: its threads may be those that wait here.
        if (!((IAsyncResult)reading).AsyncWaitHandle.WaitOne(LongestSilence))
            throw new ReplicationException($"{_stream.Name}: it could not be read on.");
        reading.GetAwaiter().GetResult();
    }

    /// <inheritdoc/>
    public Task CatchUpAsync(CancellationToken cancellationToken)
    {
        TaskCompletionSource reading;
        bool isFirst = false;
        lock (_sharing)
        {
            if (_nextReading is null)
            {
                _nextReading = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
                isFirst = true;
            }
            reading = _nextReading;
        }
        if (isFirst)
            _ = ReadForAllAsync(reading);
        return reading.Task.WaitAsync(cancellationToken);
    }

    /// <inheritdoc/>
    public void Follow(Action news) => _following = Task.Run(() => FollowAsync(news, _stopFollowing.Token));

    /// <inheritdoc/>
    public async ValueTask StopFollowingAsync()
    {
        await _stopFollowing.CancelAsync().ConfigureAwait(false);
        await _following.ConfigureAwait(false);
    }

    /// <summary>Ends it: a change that is under way is not waited for.</summary>
    public void Dispose()
    {
        _stop.Cancel();
        StopFollowingAsync().AsTask().GetAwaiter().GetResult();
    }

    private static JournalFailure FailureOf(Exception e) =>
        new($"the cluster's catalog cannot be read: {e.Message}", e);

    private async Task FollowAsync(Action news, CancellationToken cancellationToken)
    {
        long? silentSince = null;
        while (!cancellationToken.IsCancellationRequested)
        {
            try
            {
                await CatchUpAsync(cancellationToken).ConfigureAwait(false);
                silentSince = null;
                SetFailure(null);
                news();
                if (_isCopyDue)
                    await CopyAsync(cancellationToken).ConfigureAwait(false);
            }
            catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
            {
                return;
            }
            catch (Exception e)
                when (e
                        is ReplicationException
                            or JournalFormatException
                            or BrokerException
                            or OperationCanceledException
                )
            {
                if (silentSince is not { } since)
                    silentSince = Stopwatch.GetTimestamp(); // The polls wait by that clock, too.
                else if (Stopwatch.GetElapsedTime(since) >= LongestSilence)
                    SetFailure(e);
            }
            await Task.Delay(Poll, cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    private void SetFailure(Exception? error)
    {
        JournalFailure? before = _failure;
        _failure = error is null ? null : FailureOf(error);
        if ((_failure is null) != (before is null))
            _failureChanged(_failure);
    }

    private async Task<bool> ChangeAsync(
        Func<IReadOnlyList<CatalogRecord>> make,
        Action? applied,
        CancellationToken asker
    )
    {
        using var late = new CancellationTokenSource(_options.CatalogPatience, _time);
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(_stop.Token, late.Token);
        if (!await TryEnterAsync(patience.Token).ConfigureAwait(false))
            throw UnstoredException.Unreachable("an earlier change is still under way");
        try
        {
            bool isReadOn = false;
            while (true)
            {
                SentEntry? sent = null;
                lock (Tables.Lock)
                {
                    // Last of all: whoever has given up does not want it any more, and may have asked elsewhere.
                    asker.ThrowIfCancellationRequested();
                    try
                    {
                        if (make() is { Count: > 0 } records)
                            sent = Begin(new CatalogEntry(Guid.NewGuid(), records), applied);
                    }
                    catch (BrokerException) when (!isReadOn)
                    {
                        // By a copy that may be old.
                    }
                }
                if (sent is null)
                {
                    if (isReadOn)
                        return false;
                    await ReadOnAsync(patience.Token).ConfigureAwait(false);
                    isReadOn = true;
                }
                else if (await SendAsync(sent, patience.Token).ConfigureAwait(false))
                {
                    return true;
                }
            }
        }
        finally
        {
            _appending.Release();
        }
    }

    /// <summary>Applies everything up to the stream's end; tries for a while.</summary>
    /// <exception cref="UnstoredException">It cannot be read.</exception>
    private async Task ReadOnAsync(CancellationToken cancellationToken)
    {
        string reason = "the engine does not answer in time";
        while (!cancellationToken.IsCancellationRequested)
        {
            try
            {
                await CatchUpAsync(cancellationToken).ConfigureAwait(false);
                return;
            }
            catch (Exception e) when (e is ReplicationException or JournalFormatException)
            {
                reason = e.Message;
            }
            catch (OperationCanceledException)
            {
                break;
            }
            await Task.Delay(ShortPause, cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
        throw UnstoredException.Unreachable(reason);
    }

    private async Task<bool> TryEnterAsync(CancellationToken cancellationToken)
    {
        try
        {
            await _appending.WaitAsync(cancellationToken).ConfigureAwait(false);
            return true;
        }
        catch (OperationCanceledException)
        {
            return false;
        }
    }

    /// <summary>Gives an entry its sequence. The tables are locked.</summary>
    private SentEntry Begin(CatalogEntry entry, Action? applied)
    {
        var sent = new SentEntry(entry, _applied + 1, applied);
        if (sent.Payload.Length > _options.Engine.MaxEntryBytes)
        {
            throw new BrokerException(
                ErrorCode.InvalidArgument,
                $"The change has {sent.Payload.Length} bytes; allowed: {_options.Engine.MaxEntryBytes}, which is what "
                    + $"{_options.Engine.Description} takes."
            );
        }
        _sent.Add(sent);
        return sent;
    }

    /// <summary>Sends an entry until it is known whether it is stored.</summary>
    /// <returns>Whether it is; else something else is stored at its sequence, and applied.</returns>
    /// <exception cref="UnstoredException">It is not stored, or that is not known.</exception>
    private async Task<bool> SendAsync(SentEntry sent, CancellationToken cancellationToken)
    {
        string reason = "the engine does not answer in time";
        while (!cancellationToken.IsCancellationRequested)
        {
            try
            {
                EntryAppend answer = await _stream
                    .AppendAsync(sent.Kind, sent.Payload, sent.Sequence - 1, cancellationToken)
                    .ConfigureAwait(false);
                reason = answer.Reason ?? reason;
                if (answer.Outcome == AppendOutcome.Stored)
                    ApplyOwn(sent);
                else if (answer.Outcome == AppendOutcome.Refused)
                    await CatchUpAsync(cancellationToken).ConfigureAwait(false);
                else
                    sent.IsInDoubt = true;
            }
            catch (OperationCanceledException)
            {
                sent.IsInDoubt = true;
            }
            catch (Exception e) when (e is ReplicationException or JournalFormatException)
            {
                reason = e.Message; // It was refused, and what is there instead cannot be read yet.
            }
            if (sent.Outcome.IsCompleted)
                return await sent.Outcome.ConfigureAwait(false);
            await Task.Delay(ShortPause, cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
        if (sent.IsInDoubt)
            throw UnstoredException.InDoubt(reason, sent.Outcome);
        lock (Tables.Lock)
            _sent.Remove(sent);
        throw UnstoredException.Unreachable(reason);
    }

    private void ApplyOwn(SentEntry sent)
    {
        lock (Tables.Lock)
        {
            if (_applied < sent.Sequence)
                Apply(sent.Sequence, sent.Entry);
            _isCopyDue |= sent.Kind == EntryKind.Data && _applied - _copiedAt >= (ulong)_options.RecordsPerCopy;
        }
    }

    private async Task ReadForAllAsync(TaskCompletionSource reading)
    {
        try
        {
            await ReadToEndAsync(_stop.Token).ConfigureAwait(false);
            reading.SetResult();
        }
#pragma warning disable CA1031 // Those that have asked throw it.
        catch (Exception e)
#pragma warning restore CA1031
        {
            lock (_sharing)
            {
                if (_nextReading == reading)
                    _nextReading = null;
            }
            reading.SetException(e);
            _ = reading.Task.Exception; // Or all have given up.
        }
    }

    private async Task ReadToEndAsync(CancellationToken cancellationToken)
    {
        await _reading.WaitAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            lock (_sharing)
                _nextReading = null;
            StreamBounds bounds = await _stream.GetBoundsAsync(cancellationToken).ConfigureAwait(false);
            ulong applied;
            lock (Tables.Lock)
                applied = _applied;
            if (bounds.Last <= applied)
                return;
            await foreach (
                StreamEntry entry in _stream
                    .ReadAsync(applied + 1, bounds.Last, cancellationToken)
                    .ConfigureAwait(false)
            )
            {
                if (!TryApply(entry))
                {
                    await ReloadAsync(cancellationToken).ConfigureAwait(false);
                    return;
                }
            }
        }
        finally
        {
            _reading.Release();
        }
    }

    /// <returns>Whether what is in front of it was applied: else it is purged, and a copy has it.</returns>
    private bool TryApply(StreamEntry entry)
    {
        lock (Tables.Lock)
        {
            if (entry.Sequence > _applied + 1)
                return false;
            if (entry.Sequence > _applied)
                Apply(entry.Sequence, CatalogEntry.Read(entry.Payload.Span));
            return true;
        }
    }

    /// <summary>Applies the next entry. The tables are locked.</summary>
    private void Apply(ulong sequence, CatalogEntry entry)
    {
        SentEntry? own = _sent.Find(s => s.Entry.Id == entry.Id);
        if (entry.Copy is null)
        {
            foreach (CatalogRecord record in entry.Records)
                Tables.Apply(record, isLocal: own is not null);
        }
        else if (entry.Copy.Part == entry.Copy.Parts - 1)
        {
            _copiedAt = Math.Max(_copiedAt, entry.Copy.At);
            _copies++;
        }
        _applied = sequence;
        own?.Applied?.Invoke();
        // What was sent for this sequence is this, or is refused for good.
        foreach (SentEntry sent in _sent.Where(s => s.Sequence == sequence).ToArray())
        {
            _sent.Remove(sent);
            sent.Resolve(sent == own);
        }
    }

    /// <summary>Reads everything again: what this node had not applied yet is purged.</summary>
    private async Task ReloadAsync(CancellationToken cancellationToken)
    {
        CatalogLoad load = await CatalogLoad.ReadAsync(_stream, cancellationToken).ConfigureAwait(false);
        lock (Tables.Lock)
        {
            if (load.Applied <= _applied)
                return;
            lock (load.Tables.Lock)
                Tables.Become(load.Tables);
            _applied = load.Applied;
            _copiedAt = Math.Max(_copiedAt, load.CopiedAt);
            _copies++;
            _sent.RemoveAll(s => s.Sequence <= _applied); // Nobody will know.
        }
    }

    /// <summary>Appends a copy of everything, in parts, and purges what it stands for.</summary>
    private async Task CopyAsync(CancellationToken cancellationToken)
    {
        using var late = new CancellationTokenSource(_options.CatalogPatience, _time);
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, late.Token);
        if (!await TryEnterAsync(patience.Token).ConfigureAwait(false))
            return;
        try
        {
            ulong at,
                first = 0;
            CatalogRecord[] live;
            int before;
            lock (Tables.Lock)
            {
                _isCopyDue = false;
                before = _copies;
                at = _applied;
                if (at - _copiedAt < (ulong)_options.RecordsPerCopy)
                    return; // Another node was faster.
                live = [.. Tables.Live()];
            }
            CatalogRecord[][] parts = [.. CatalogEntry.Split(live, _options.Engine.MaxEntryBytes)];
            var copy = Guid.NewGuid();
            for (int i = 0; i < parts.Length; i++)
            {
                var entry = new CatalogEntry(
                    Guid.NewGuid(),
                    parts[i],
                    new CatalogEntry.CopyPart(copy, at, i, parts.Length)
                );
                SentEntry sent;
                do
                {
                    lock (Tables.Lock)
                    {
                        // Each purges what the other lacks: of two that are under way, the first to be complete counts.
                        if (_copies != before)
                            return;
                        sent = Begin(entry, applied: null);
                    }
                } while (!await SendAsync(sent, patience.Token).ConfigureAwait(false));
                if (i == 0)
                    first = sent.Sequence;
            }
            await _stream.PurgeAsync(EntryKind.Data, at + 1, patience.Token).ConfigureAwait(false);
            await _stream.PurgeAsync(EntryKind.Snapshot, first, patience.Token).ConfigureAwait(false);
        }
        finally
        {
            _appending.Release();
        }
    }
}
