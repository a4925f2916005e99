using System.Diagnostics;
using LightQ.Broker.Cluster;
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

    /// <summary>Of so many looks that find nothing new, one compares what is there with what was applied.</summary>
    private const int LooksPerComparison = 10;

    private readonly IReplicatedStream _stream;
    private readonly ReplicationOptions _options;
    private readonly CatalogEnd _end;
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
    private Guid _appliedId; // Of the entry there: a stream that was made anew has another.
    private int _looks;
    private volatile ReplicationException? _lost;

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
        _end = new CatalogEnd(stream.Name);
        _time = time;
        _failureChanged = failureChanged;
        Tables = load.Tables;
        _applied = load.Applied;
        _copiedAt = load.CopiedAt;
        _appliedId = load.LastId;
    }

    /// <summary>What its records add up to.</summary>
    public CatalogTables Tables { get; }

    /// <inheritdoc/>
    public bool IsShared => true;

    /// <inheritdoc/>
    public ulong Applied => Volatile.Read(ref _applied);

    /// <inheritdoc/>
    public JournalFailure? Failure => _failure;

    /// <summary>What the stream has lost, or why it is another one; null while it is neither.</summary>
    public string? Loss => _lost?.Message;

    /// <summary>Opens the catalog of a cluster, or makes it; tries for a while.</summary>
    /// <param name="options">The cluster.</param>
    /// <param name="isMember">Whether this node has belonged to the cluster: then it never makes the catalog.</param>
    /// <param name="time">The clock.</param>
    /// <param name="failureChanged">
    /// Called when the stream cannot be read, and with null when it can again; nothing is locked.
    /// </param>
    /// <exception cref="ReplicationException">
    /// The stream cannot be read; or the catalog is lost (<see cref="ReplicationException.IsLoss"/>).
    /// </exception>
    public static async Task<StreamRecordLog> OpenAsync(
        ReplicationOptions options,
        bool isMember,
        TimeProvider time,
        Action<JournalFailure?> failureChanged
    )
    {
        (IReplicatedStream stream, CatalogLoad load) = await new CatalogBeginning(options, isMember)
            .WaitAsync(time, failureChanged)
            .ConfigureAwait(false);
        return new StreamRecordLog(stream, options, load, time, failureChanged);
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

    /// <summary>
    /// Writes the stream anew from what this node knows, if it has lost something. The other nodes take it for the
    /// catalog if that is at least what they know.
    /// </summary>
    /// <param name="cancellationToken">Stops it; an unfinished stream is nobody's catalog.</param>
    /// <exception cref="ReplicationException">The engine does not take it.</exception>
    public async Task RewriteAsync(CancellationToken cancellationToken)
    {
        await _appending.WaitAsync(cancellationToken).ConfigureAwait(false);
        await _reading.WaitAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            int found = await CountRewritesAsync(cancellationToken).ConfigureAwait(false);
            CatalogRecord[] live;
            lock (Tables.Lock)
            {
                var cluster = new CatalogRecord
                {
                    Cluster = Tables.Cluster! with
                    {
                        Rewritten = Math.Max(Tables.Cluster.Rewritten, found) + 1,
                        RewrittenFrom = _applied,
                    },
                };
                live = [cluster, .. Tables.Live().Where(r => r.Cluster is null)];
            }
            CatalogLoad load = await CatalogRewrite.RunAsync(_options, live, cancellationToken).ConfigureAwait(false);
            lock (Tables.Lock)
                Adopt(load);
        }
        finally
        {
            _reading.Release();
            _appending.Release();
        }
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

    private async Task FollowAsync(Action news, CancellationToken cancellationToken)
    {
        long? silentSince = null,
            lostSince = null;
        while (!cancellationToken.IsCancellationRequested)
        {
            try
            {
                await CatchUpAsync(cancellationToken).ConfigureAwait(false);
                silentSince = lostSince = null;
                SetLost(null);
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
                long now = Stopwatch.GetTimestamp(); // The polls wait by that clock, too.
                silentSince ??= now;
                lostSince = e is ReplicationException { IsLoss: true } ? lostSince ?? now : null;
                if (lostSince is { } lost && Stopwatch.GetElapsedTime(lost, now) >= _options.LostAfter)
                    SetLost((ReplicationException)e);
                if (_lost is not null || Stopwatch.GetElapsedTime(silentSince.Value, now) >= LongestSilence)
                    SetFailure(e);
            }
            await Task.Delay(Poll, cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    /// <summary>
    /// What the stream says is not taken for the cluster's catalog, and what was applied goes on to count, until the
    /// stream has that again.
    /// </summary>
    private void SetLost(ReplicationException? reason)
    {
        if (_lost?.Message == reason?.Message)
            return;
        _lost = reason;
        if (reason is null)
        {
            _options.Conditions.End(ConditionKind.CatalogLost, _stream.Name);
            return;
        }
        _options.Conditions.Begin(
            ConditionKind.CatalogLost,
            _stream.Name,
            reason.Message,
            "Nothing of it is applied. 'lightq cluster repair --catalog' writes it anew from what this broker knows; "
                + "see docs/operate/cluster.md."
        );
    }

    /// <summary>A stream that was made anew may end where the other one did.</summary>
    private async Task CompareAsync(ulong applied, CancellationToken cancellationToken)
    {
        // When it is another one, the next look compares, too.
        if (
            applied != 0
            && _looks == LooksPerComparison
            && await _stream.GetAsync(applied, cancellationToken).ConfigureAwait(false) is { } entry
        )
        {
            DemandSame(entry);
        }
        _looks = _looks == LooksPerComparison ? 0 : _looks + 1;
    }

    private void DemandSame(in StreamEntry entry)
    {
        lock (Tables.Lock)
            _end.Demand(entry, _applied, _appliedId);
    }

    private void SetFailure(Exception? error)
    {
        JournalFailure? before = _failure;
        _failure = error is null ? null : CatalogBeginning.FailureOf(error);
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
                if (_lost is { } lost)
                    throw UnstoredException.Unreachable(lost.Message);
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
                if (_lost is not null)
                    break;
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
            try
            {
                await ReadNewAsync(cancellationToken).ConfigureAwait(false);
            }
            catch (ReplicationException e) when (e.IsLoss)
            {
                if (!await TryAdoptAsync(cancellationToken).ConfigureAwait(false))
                    throw;
            }
        }
        finally
        {
            _reading.Release();
        }
    }

    private async Task ReadNewAsync(CancellationToken cancellationToken)
    {
        ulong applied = Applied; // Before the question: what this node stores meanwhile is no part of the answer.
        StreamBounds bounds = await _stream.GetBoundsAsync(cancellationToken).ConfigureAwait(false);
        _end.Demand(bounds, applied);
        lock (Tables.Lock)
            applied = _applied;
        if (bounds.Last <= applied)
        {
            await CompareAsync(applied, cancellationToken).ConfigureAwait(false);
            return;
        }
        bool isFirst = true;
        await foreach (
            StreamEntry entry in _stream
                .ReadAsync(Math.Max(applied, 1), bounds.Last, cancellationToken)
                .ConfigureAwait(false)
        )
        {
            DemandSame(entry);
            bool isHole = isFirst && applied != 0 && entry.Sequence != applied;
            isFirst = false;
            if (isHole || !TryApply(entry))
            {
                await ReloadAsync(cancellationToken).ConfigureAwait(false);
                return;
            }
        }
    }

    /// <summary>
    /// How often the catalog that is there was written anew: also by a node that knew less, whose writing others may
    /// have taken. They take what is written next.
    /// </summary>
    private async Task<int> CountRewritesAsync(CancellationToken cancellationToken)
    {
        try
        {
            CatalogLoad load = await CatalogLoad.ReadAsync(_stream, cancellationToken).ConfigureAwait(false);
            lock (load.Tables.Lock)
            {
                return load.Tables.Cluster is { } cluster && cluster.Id == Tables.Cluster!.Id ? cluster.Rewritten : 0;
            }
        }
        catch (ReplicationException)
        {
            return 0; // It is gone, or cannot be read, by anybody.
        }
    }

    /// <summary>
    /// Takes the stream for the cluster's catalog again, though it is another than before, if a node has written it
    /// anew that knew at least as much as this one.
    /// </summary>
    private async Task<bool> TryAdoptAsync(CancellationToken cancellationToken)
    {
        CatalogLoad load;
        try
        {
            load = await CatalogLoad.ReadAsync(_stream, cancellationToken).ConfigureAwait(false);
        }
        catch (ReplicationException)
        {
            return false; // What was found before says more.
        }
        lock (Tables.Lock)
        {
            if (
                load.Tables.Cluster is not { } found
                || found.Id != Tables.Cluster!.Id
                || found.Rewritten <= Tables.Cluster.Rewritten
                || found.RewrittenFrom < _applied
            )
            {
                return false;
            }
            Adopt(load);
            return true;
        }
    }

    /// <summary>Begins anew with a stream. The tables are locked.</summary>
    private void Adopt(CatalogLoad load)
    {
        lock (load.Tables.Lock)
            Tables.Become(load.Tables);
        (_applied, _appliedId, _copiedAt) = (load.Applied, load.LastId, load.CopiedAt);
        _copies++;
        _sent.Clear(); // Nobody will know.
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
        (_applied, _appliedId) = (sequence, entry.Id);
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
            _end.Demand(load.Tables, Tables);
            if (load.Applied <= _applied)
                return;
            lock (load.Tables.Lock)
                Tables.Become(load.Tables);
            (_applied, _appliedId) = (load.Applied, load.LastId);
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
                if (_lost is not null || at - _copiedAt < (ulong)_options.RecordsPerCopy)
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
