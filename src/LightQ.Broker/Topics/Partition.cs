using System.Collections.Immutable;
using LightQ.Broker.Deduplication;
using LightQ.Broker.Delays;
using LightQ.Broker.Groups;
using LightQ.Broker.Logs;
using LightQ.Broker.Producers;
using LightQ.Broker.Streams;
using LightQ.Broker.Subscriptions;
using LightQ.Broker.Users;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Scheduling;
using LightQ.Storage;

namespace LightQ.Broker.Topics;

/// <summary>One log of a topic with the producers and subscriptions on it.</summary>
/// <remarks>
/// Lock order: a producer stream's lock, then <see cref="AppendLock"/>. Subscriptions and producers are immutable
/// arrays that are swapped, so waking them takes no lock.
/// </remarks>
public sealed class Partition : IHousekept
{
    private const int FewReaders = 4;
    private const int IdsForgottenAtOnce = 16384;
    private static readonly TimeSpan EndPoll = TimeSpan.FromMilliseconds(5),
        LongestEnd = TimeSpan.FromSeconds(30),
        SayForgottenEvery = TimeSpan.FromHours(1);
    private readonly SteadyClock _time;
    private readonly Dictionary<string, Group> _groups = [];
    private ImmutableArray<Subscription> _subscriptions = [];
    private ImmutableArray<ProducerStream> _producers = [];
    private ImmutableArray<ProducerStream> _waiting = [];
    private long _lastAppendTime;
    private PartitionHousekeeping? _housekeeping;
    private long _restingSince;
    private volatile string? _failure;
    private volatile StreamClose? _end;
    private int _watched;
    private uint _firstToWake;
    private bool _waited;
    private long _growthNoted;
    private bool _forgettingNoted;
    private long _forgettingSaid;

    internal Partition(Topic topic, uint index, TimeProvider time, Func<Partition, DelayedDelivery>? delays = null)
    {
        Topic = topic;
        Index = index;
        _time = SteadyClock.Over(time);
        MaxBatchBytes = topic.Settings.MaxBatchBytes;
        Delays = delays?.Invoke(this);
    }

    /// <summary>The topic.</summary>
    public Topic Topic { get; }

    /// <summary>Its number within the topic.</summary>
    public uint Index { get; }

    /// <summary>The log.</summary>
    public ITopicLog Log { get; internal set; } = null!;

    /// <summary>Why it could not be opened; null for a partition that is served.</summary>
    public PartitionRefusal? Refusal { get; internal init; }

    /// <summary>Whether it could not be opened. One that another node leads is that node's to open.</summary>
    internal bool IsBroken => Refusal is { Code: not ErrorCode.NotLeader };

    /// <summary>
    /// Of a topic with replicas: the newest epoch, and where clients find the node that leads the partition now, if
    /// that is another one.
    /// </summary>
    internal Func<(uint Epoch, string Address)>? Leader { get; set; }

    /// <summary>
    /// Why the log takes nothing more; null while it does. Cheaper than asking the log, which may know a moment
    /// earlier.
    /// </summary>
    internal string? Failure => _failure;

    /// <summary>Why every stream ends, and none opens any more; null while they do.</summary>
    internal StreamClose? End => _end;

    /// <summary>The counters.</summary>
    public PartitionCounters Counters { get; } = new();

    /// <summary>The largest batch, in bytes.</summary>
    public int MaxBatchBytes { get; }

    /// <summary>Open subscriptions, group members included.</summary>
    public ImmutableArray<Subscription> Subscriptions => _subscriptions;

    /// <summary>Open producer streams.</summary>
    public ImmutableArray<ProducerStream> Producers => _producers;

    /// <summary>Held while a batch is checked for duplicates, stamped and copied.</summary>
    internal Lock AppendLock { get; } = new();

    /// <summary>Messages that were published and are not due yet.</summary>
    public long DelayedMessages => Delays?.Messages ?? 0;

    /// <summary>
    /// Delivers what was published for later; null for a transient topic, which takes no such messages.
    /// </summary>
    internal DelayedDelivery? Delays { get; }

    /// <summary>What was published for later and waits, in no order.</summary>
    public IReadOnlyList<ScheduledBatch> Scheduled => Delays?.List() ?? [];

    /// <summary>
    /// The ids of messages that it remembers; null for a topic without a window. Guarded by <see cref="AppendLock"/>.
    /// </summary>
    internal DedupWindow? Dedup { get; set; }

    /// <summary>The <see cref="UserNumber"/> of whose named producer an id is.</summary>
    internal Func<ulong, uint> OwnerOf { get; init; } = static _ => UserNumber.None;

    /// <summary>Whether it looks at ids of messages. Under the append lock.</summary>
    internal bool ChecksIds => Dedup is not null;

    /// <summary>How many ids of messages are remembered. Any thread.</summary>
    public int RememberedIds => Dedup?.Count ?? 0;

    /// <summary>What is kept of the groups of a partition with replicas that this node owns; null for others.</summary>
    internal StreamPositions? Positions { get; init; }

    /// <summary>Whether another node may own it by now: nothing that happens here is kept any more.</summary>
    internal bool IsLost { get; private set; }

    /// <summary>Whether another node is to lead it: its groups deliver nothing more.</summary>
    internal bool IsLeaving { get; private set; }

    /// <summary>
    /// Whether the node does not hear itself, so that another one may lead it: its groups deliver nothing for now.
    /// </summary>
    internal bool IsUnsure { get; private set; }

    /// <summary>The named producers; guarded by <see cref="AppendLock"/>.</summary>
    internal ProducerTable NamedProducers { get; } = new();

    /// <summary>Messages that the slowest subscription or group has not been sent.</summary>
    public long QueueSize
    {
        get
        {
            long end = Log.EndOffset,
                slowest = end;
            foreach (Subscription subscription in _subscriptions)
                slowest = Math.Min(slowest, subscription.NextOffset);
            return Math.Max(0, end - slowest);
        }
    }

    /// <summary>The clock.</summary>
    internal SteadyClock Time => _time;

    /// <summary>Whether readers are served before the producer's ack.</summary>
    /// <remarks>
    /// Every send costs some ten microseconds, and a reader waits for the message where the producer only waits for
    /// word of it. Behind many readers the ack would come too late.
    /// </remarks>
    internal bool ReadersFirst => _subscriptions.Length <= FewReaders;

    /// <summary>How many groups there are in memory.</summary>
    internal int GroupCount
    {
        get
        {
            lock (_groups)
                return _groups.Count;
        }
    }

    /// <summary>
    /// A batch that the log held when the partition was opened, behind what <see cref="LoadState"/> read.
    /// </summary>
    /// <param name="header">The batch.</param>
    /// <param name="tableOf">
    /// Where a producer of an id and an epoch is remembered; null for one that is nobody's.
    /// </param>
    internal void OnRecovered(in BatchView header, Func<ulong, uint, ProducerTable?> tableOf)
    {
        Delays?.OnRecovered(header);
        if (header.ProducerId == 0)
            return;
        tableOf(header.ProducerId, header.ProducerEpoch)
            ?.Open(header.ProducerId, header.ProducerEpoch)
            .Remember(ProducerState.Remembered.Of(header, header.BaseOffset), header.AppendTime);
    }

    /// <exception cref="BrokerException">The partition could not be opened.</exception>
    internal void ThrowIfRefused()
    {
        if (Refusal is { } refusal)
            throw Refused(refusal.Code, Topic.Describe(Index, refusal.Reason));
    }

    /// <exception cref="BrokerException">The log takes nothing.</exception>
    internal void ThrowIfFailed()
    {
        if (Log.Failure is { } failure)
            throw Refused(Log.FailureCode, failure);
    }

    /// <summary>Why a stream ends, or is not opened; names the leader where it is another node.</summary>
    internal StreamClose CloseOf(ErrorCode code, string reason)
    {
        var close = new StreamClose(code, reason);
        if (code != ErrorCode.NotLeader || Leader is not { } leader)
            return close;
        (uint epoch, string address) = leader();
        return close with { Epoch = epoch, Address = address };
    }

    internal long NextAppendTime() =>
        _lastAppendTime = Math.Max(_lastAppendTime, UnixMicroseconds.From(_time.GetUtcNow()));

    /// <summary>
    /// Whether the topic takes what a batch asks for: the only errors that are those of its messages alone. Under the
    /// append lock.
    /// </summary>
    internal ErrorCode CheckAsked(in BatchView batch, uint user)
    {
        if (batch.Length > MaxBatchBytes)
            return ErrorCode.MessageTooLarge;
        if ((batch.Flags & BatchLayout.HasDueTime) == 0)
            return ErrorCode.None;
        return Delays is null ? ErrorCode.NotSupported : Delays.Check(batch, user);
    }

    internal AppendResult Append(in BatchView batch, long appendTime, out long baseOffset, uint user = UserNumber.None)
    {
        // For a start to find whose id it is; the id of a named producer says it itself.
        bool isStamped = (batch.Flags & BatchLayout.HasMessageId) != 0 && batch.ProducerId == 0;
        AppendResult result = Log.TryAppend(
            batch.Bytes,
            appendTime,
            out baseOffset,
            isStamped ? user : UserNumber.None
        );
        if (result != AppendResult.Appended)
            return result;
        Counters.Received(batch.RecordCount, batch.Length);
        if ((batch.Flags & BatchLayout.HasDueTime) != 0)
            Delays!.OnAppended(batch, baseOffset, appendTime, user);
        return result;
    }

    /// <summary>
    /// What recovery need not find out from batches: named producers, and what is not due yet. Under the append lock.
    /// </summary>
    internal byte[] SaveState() =>
        Delays?.Save() is { Length: > 0 } delays ? [.. delays, .. NamedProducers.Save()] : NamedProducers.Save();

    /// <summary>
    /// Reads what <see cref="SaveState"/> wrote; of producers what <see cref="ProducerTable.Load"/> says.
    /// </summary>
    /// <param name="state">What was kept.</param>
    /// <param name="tableOf">As for <see cref="OnRecovered"/>.</param>
    internal void LoadState(ReadOnlySpan<byte> state, Func<ulong, uint, ProducerTable?> tableOf) =>
        ProducerTable.LoadInto(tableOf, Delays is null ? state : Delays.Load(state));

    /// <summary>Cancels messages that were published for later.</summary>
    /// <inheritdoc cref="CancelledMessages.CancelAsync"/>
    public Task<IReadOnlyList<bool>> CancelAsync(IReadOnlyList<long> messages, CancellationToken cancellationToken) =>
        Delays is { } delays
            ? delays.Cancelled.CancelAsync(messages, cancellationToken)
            : throw new BrokerException(
                ErrorCode.NotSupported,
                Topic.Describe(Index, "a transient topic delays no messages, so there is none to cancel.")
            );

    /// <summary>Gets appended batches on their way: once for all that one receive brought.</summary>
    public void FlushAndWake()
    {
        Log.Flush();
        Wake();
    }

    /// <summary>
    /// Schedules every subscription that waits for data, each time another one first: of the members of a group the
    /// first gets a message that comes alone.
    /// </summary>
    internal void Wake()
    {
        ReadOnlySpan<Subscription> all = _subscriptions.AsSpan();
        // Steps of the golden ratio reach all alike, also where a message takes two wake-ups, or three. A step may be
        // lost where two threads take one at once.
        uint step = _firstToWake + 0x9E37_79B9;
        _firstToWake = step;
        int first = (int)(((ulong)step * (uint)all.Length) >> 32);
        foreach (Subscription subscription in all[first..])
            subscription.OnPublished();
        foreach (Subscription subscription in all[..first])
            subscription.OnPublished();
    }

    /// <summary>The journal moved its written or durable end.</summary>
    internal void OnProgress()
    {
        Interlocked.MemoryBarrier();
        bool readersFirst = ReadersFirst;
        if (readersFirst)
            Wake();
        foreach (ProducerStream producer in _producers)
            producer.OnProgress();
        if (!readersFirst)
            Wake();
        RoomMade();
        Delays?.OnProgress();
    }

    /// <summary>The journal failed.</summary>
    internal void OnFailed(string reason)
    {
        _failure = reason;
        foreach (ProducerStream producer in _producers)
            producer.OnFailed(ErrorCode.TopicFailed, reason);
        Delays?.OnProgress();
        Wake(); // Subscriptions that have read everything report that no more will come.
    }

    /// <summary>
    /// Registers a producer for the next room; a full fence, so the caller tries once more behind it.
    /// </summary>
    internal void AwaitRoom(ProducerStream producer)
    {
        ImmutableInterlocked.Update(
            ref _waiting,
            static (waiting, p) => waiting.Contains(p) ? waiting : waiting.Add(p),
            producer
        );
        if (Volatile.Read(ref _watched) == 0 && Interlocked.Exchange(ref _watched, 1) == 0)
            RequestLook(TimeSpan.Zero);
    }

    /// <summary>A reader or the writer has moved on: those that wait for room try again.</summary>
    internal void RoomMade()
    {
        Interlocked.MemoryBarrier();
        if (_waiting.IsEmpty)
            return;
        foreach (ProducerStream producer in ImmutableInterlocked.InterlockedExchange(ref _waiting, []))
            producer.OnRoom();
    }

    internal void Attach(ProducerStream producer)
    {
        ImmutableInterlocked.Update(ref _producers, static (all, p) => all.Add(p), producer);
        if (_end is { } end)
            producer.RequestClose(end);
    }

    internal void Detach(ProducerStream producer)
    {
        ImmutableInterlocked.Update(ref _waiting, static (all, p) => all.Remove(p), producer);
        ImmutableInterlocked.Update(ref _producers, static (all, p) => all.Remove(p), producer);
        if (producer.IsNamed && _housekeeping is { } housekeeping)
            RequestLook(housekeeping.Options.ProducerExpiry);
        RestWhenUnused();
    }

    internal void Attach(Subscription subscription)
    {
        ImmutableInterlocked.Update(ref _subscriptions, static (all, s) => all.Add(s), subscription);
        if (_end is { } end)
            subscription.RequestClose(end);
    }

    internal void Detach(Subscription subscription)
    {
        ImmutableInterlocked.Update(ref _subscriptions, static (all, s) => all.Remove(s), subscription);
        RoomMade();
        RestWhenUnused();
    }

    /// <summary>Finds a group, or puts the one there that <paramref name="make"/> makes of what it finds.</summary>
    internal Group OpenGroup(string name, Func<Group?, Group> make)
    {
        lock (_groups)
        {
            _groups.TryGetValue(name, out Group? known);
            return _groups[name] = make(known);
        }
    }

    /// <summary>The group of a name, if it is in memory.</summary>
    internal Group? FindGroup(string name)
    {
        lock (_groups)
            return _groups.GetValueOrDefault(name);
    }

    /// <summary>Takes a group off, unless it has members or is about to.</summary>
    internal bool TryRemove(Group group)
    {
        lock (_groups)
            return group.IsEmpty && _groups.Remove(group.Name);
    }

    internal Group[] Groups()
    {
        lock (_groups)
            return [.. _groups.Values];
    }

    /// <summary>Ends every stream on this partition, and each that is about to open on it.</summary>
    internal void CloseAll(StreamClose reason)
    {
        _end = reason;
        Interlocked.MemoryBarrier(); // Either the stream is among these, or who attaches it sees the end.
        foreach (ProducerStream producer in _producers)
            producer.RequestClose(reason);
        foreach (Subscription subscription in _subscriptions)
            subscription.RequestClose(reason);
        Delays?.OnProgress();
    }

    /// <summary>Completes when no stream is left; they end on their connections' own turns.</summary>
    internal async Task Emptied()
    {
        long began = _time.GetTimestamp();
        while (!_producers.IsEmpty || !_subscriptions.IsEmpty)
        {
            if (_time.GetElapsedTime(began) > LongestEnd)
            {
                throw new BrokerException(
                    ErrorCode.Internal,
                    "A stream of the topic does not end; its files stay until the next start."
                );
            }

            await Task.Delay(EndPoll, _time).ConfigureAwait(false);
        }
    }

    /// <summary>From now on housekeeping looks after the partition whenever it has something to do later.</summary>
    internal void BeginHousekeeping(PartitionHousekeeping housekeeping)
    {
        _housekeeping = housekeeping;
        lock (AppendLock)
        {
            if (!NamedProducers.IsEmpty || Dedup is { Count: > 0 })
                RequestLook(TimeSpan.Zero);
        }
    }

    /// <summary>The partition is going.</summary>
    internal void EndHousekeeping()
    {
        _housekeeping?.Schedule.Remove(this);
        _housekeeping = null;
    }

    /// <summary>The partition was lost.</summary>
    internal void MarkLost() => IsLost = true;

    /// <summary>Its groups deliver nothing from now on; settlements are taken.</summary>
    internal void DrainGroups()
    {
        IsLeaving = true; // A group that is not among these yet sees it.
        foreach (Group group in Groups())
            group.Drain();
    }

    /// <summary>Its groups deliver nothing for now, or go on.</summary>
    internal void HoldGroups(bool isHeld)
    {
        IsUnsure = isHeld; // A group that is not among these yet sees it.
        foreach (Group group in Groups())
            group.Hold(isHeld);
    }

    /// <summary>
    /// Its groups, which are drained, take no settlements from now on: what was answered is what is kept.
    /// </summary>
    /// <param name="isForced">Also while letters are on their way to the dead-letter topic.</param>
    /// <returns>Whether none does.</returns>
    internal bool TryEndSettling(bool isForced)
    {
        bool hasEnded = true;
        foreach (Group group in Groups())
            hasEnded &= group.TryTakeBack(isForced);
        return hasEnded;
    }

    /// <summary>Notes how far its groups have got.</summary>
    internal void KeepPositions() => _housekeeping?.KeepPositions(this);

    /// <summary>A group's position moved, for the first time since positions were kept.</summary>
    internal void OnPositionMoved()
    {
        if (_housekeeping is { } housekeeping && Topic.Settings.Kind == TopicKind.Durable)
            // Rounded up to the next grain, that is the interval at most.
            RequestLook(housekeeping.Options.PositionInterval - housekeeping.Grain);
    }

    TimeSpan? IHousekept.Look(DateTimeOffset now)
    {
        if (_housekeeping is not { } housekeeping)
            return null;
        housekeeping.KeepPositions(this);
        TimeSpan? later = NoteForgotten(housekeeping.Options);
        TimeSpan? sooner = Look(
            _time.GetTimestamp(),
            housekeeping.Options.SlowTimeout,
            housekeeping.Options.RestAfter,
            housekeeping.Options.ProducerExpiry
        );
        return Sooner(sooner, later);
    }

    /// <summary>
    /// Tells of ids that were forgotten before their time, once an hour while that goes on. Called by housekeeping
    /// alone.
    /// </summary>
    private TimeSpan? NoteForgotten(BrokerOptions options)
    {
        if (!_forgettingNoted)
            return null;
        long now = _time.GetTimestamp(),
            count;
        TimeSpan left =
            _forgettingSaid == 0 ? TimeSpan.Zero : SayForgottenEvery - _time.GetElapsedTime(_forgettingSaid, now);
        if (left > TimeSpan.Zero)
            return left;
        lock (AppendLock)
        {
            count = Counters.ForgottenIds;
            _forgettingNoted = false;
        }
        _forgettingSaid = now;
        options.StorageEvents?.OnIdsForgotten(this, count);
        return null;
    }

    /// <summary>
    /// Ends subscriptions that stand still while producers wait; forgets named producers; gives back the memory of a
    /// ring that no client uses.
    /// </summary>
    /// <returns>Within which time there is more of it to do; null when that depends on what happens.</returns>
    internal TimeSpan? Look(long now, TimeSpan slowTimeout, TimeSpan restAfter, TimeSpan producerExpiry)
    {
        TimeSpan? expiry = Sooner(ExpireProducers(producerExpiry), ForgetIds()),
            rest = ReleaseUnused(now, restAfter);
        if (CheckProgress(now, slowTimeout))
            return TimeSpan.Zero;
        return Sooner(rest, expiry);
    }

    /// <summary>
    /// Tells of a log that has grown and is not limited, or is held: once for every doubling. Called by housekeeping
    /// alone.
    /// </summary>
    internal void NoteGrowth(BrokerOptions options, RetentionHold? hold)
    {
        TopicSettings settings = Topic.Settings;
        if (settings.RetentionBytes != 0 || settings.RetentionAge != TimeSpan.Zero)
            return;
        long bytes = Log.StoredBytes;
        if (bytes < options.GrowthNoticeBytes)
            _growthNoted = 0;
        if (bytes < Math.Max(options.GrowthNoticeBytes, 2 * _growthNoted))
            return;
        _growthNoted = bytes;
        if (hold is { } held)
            options.StorageEvents?.OnHeld(this, bytes, held);
        else
            options.StorageEvents?.OnGrown(this, bytes);
    }

    /// <summary>Remembers the id that was looked for last, in a topic with a window. Under the append lock.</summary>
    internal void Remember(long offset, long time)
    {
        if (Dedup is not { } window)
            return;
        if (window.Add(offset, time))
        {
            Counters.ForgetId();
            if (!_forgettingNoted)
                RequestLook(TimeSpan.Zero);
            _forgettingNoted = true;
        }
        if (window.Count == 1)
            RequestLook(window.Window); // An id is forgotten in time, whether or not another one arrives.
    }

    /// <summary>Ids were remembered: some are to be forgotten.</summary>
    internal void AttendToIds() => RequestLook(TimeSpan.Zero);

    /// <summary>The settings of its topic have changed.</summary>
    /// <returns>What <see cref="DedupSwitch.Change"/> says.</returns>
    internal Task Apply(TopicSettings settings)
    {
        Log.SetRetention(settings.RetentionBytes, settings.RetentionAge);
        return DedupSwitch.Change(this, settings);
    }

    private BrokerException Refused(ErrorCode code, string reason)
    {
        if (code != ErrorCode.NotLeader)
            return new BrokerException(code, reason);
        StreamClose close = CloseOf(code, reason);
        return new NotLeaderException(reason, close.Epoch, close.Address);
    }

    private static TimeSpan? Sooner(TimeSpan? one, TimeSpan? other) => one is null || other < one ? other : one;

    private void RequestLook(TimeSpan within) => _housekeeping?.Schedule.Request(this, within);

    /// <summary>
    /// The time to compare ids with that are remembered for so long: what was appended so long ago lies that far behind
    /// it, whether or not the clock was set since.
    /// </summary>
    /// <param name="window">For how long.</param>
    /// <param name="now">The time of the append, unix microseconds.</param>
    internal long WindowNow(TimeSpan window, long now) =>
        _time.StepsTaken == 0 ? now : UnixMicroseconds.From(_time.Ago(window) + window);

    private TimeSpan? ForgetIds()
    {
        if (Dedup is null)
            return null; // Most topics: their appends do not wait for this.
        lock (AppendLock)
        {
            if (Dedup is not { } window)
                return null;
            long now = WindowNow(window.Window, UnixMicroseconds.From(_time.GetUtcNow()));
            return window.Forget(now, IdsForgottenAtOnce) is { } next
                ? TimeSpan.FromMicroseconds(Math.Max(0, next - now))
                : null;
        }
    }

    private TimeSpan? ExpireProducers(TimeSpan producerExpiry)
    {
        lock (AppendLock)
        {
            long before = UnixMicroseconds.From(_time.SureAgo(producerExpiry));
            return NamedProducers.Expire(before) is { } oldest ? TimeSpan.FromMicroseconds(oldest - before) : null;
        }
    }

    /// <returns>Whether producers wait, so that the next look counts.</returns>
    private bool CheckProgress(long now, TimeSpan slowTimeout)
    {
        bool wait = !_waiting.IsEmpty;
        // The first look after producers begin to wait only notes each position: the time since the look before says
        // nothing.
        foreach (Subscription subscription in _subscriptions)
            subscription.CheckProgress(_time, now, producersWait: wait && _waited, slowTimeout);
        _waited = wait;
        if (wait)
            return true;
        Interlocked.Exchange(ref _watched, 0);
        return !_waiting.IsEmpty; // A producer that came meanwhile took the partition for watched.
    }

    private void RestWhenUnused()
    {
        if (Log is not RingLog || !_producers.IsEmpty || !_subscriptions.IsEmpty)
            return;
        Volatile.Write(ref _restingSince, _time.GetTimestamp());
        if (_housekeeping is { } housekeeping)
            RequestLook(housekeeping.Options.RestAfter);
    }

    private TimeSpan? ReleaseUnused(long now, TimeSpan restAfter)
    {
        if (Log is not RingLog { StoredBytes: > 0 } ring || !_producers.IsEmpty || !_subscriptions.IsEmpty)
            return null;
        TimeSpan left = restAfter - _time.GetElapsedTime(Volatile.Read(ref _restingSince), now);
        if (left > TimeSpan.Zero)
            return left;
        return ring.TryRelease() ? null : restAfter;
    }
}
