using System.Collections.Concurrent;
using System.Collections.Immutable;
using LightQ.Broker.DeadLetters;
using LightQ.Broker.Logs;
using LightQ.Broker.Streams;
using LightQ.Broker.Subscriptions;
using LightQ.Broker.Topics;
using LightQ.Broker.Users;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using LightQ.Storage;
using LightQ.Storage.State;

namespace LightQ.Broker.Groups;

/// <summary>Finds, makes and changes groups, and keeps the state of those on durable topics. Thread-safe.</summary>
/// <remarks>
/// A group is one object on each partition it was ever used on; what is said of a group is said of all of them, but for
/// those that other nodes of a cluster lead: each node does its own.
/// </remarks>
public sealed class GroupRegistry
{
    /// <summary>How long the ages of messages are looked up for one answer; a monitor gives up soon after.</summary>
    private static readonly TimeSpan ReadingTime = TimeSpan.FromSeconds(1);

    private readonly ConcurrentDictionary<(Guid Topic, string Group), GroupAssignment> _assignments = new();
    private readonly GroupStore _store;
    private readonly DeadLetterOffice _deadLetters;
    private readonly LightQBroker _broker;

    /// <summary>
    /// What is kept of a group is taken from it and written in one step, or a group that is just being forgotten is
    /// written once more.
    /// </summary>
    private readonly Lock _keeping = new();
    private readonly Lock _settling = new();

    /// <summary>Groups are made one at a time, or together they might be too many.</summary>
    private readonly Lock _making = new();

    internal GroupRegistry(
        LightQBroker broker,
        OffsetStore positions,
        DeadLetterOffice deadLetters,
        JournalEnvironment environment
    )
    {
        (_broker, _store, _deadLetters) = (broker, new GroupStore(positions), deadLetters);
        SettledRetention = new SettledRetention(this, _store, deadLetters, environment, () => broker.Options);
    }

    /// <summary>What removes messages that all groups have settled.</summary>
    internal SettledRetention SettledRetention { get; }

    /// <summary>The names of a topic's groups, in order.</summary>
    public IReadOnlyList<string> NamesOf(Topic topic) => [.. NamesOf([topic]).Select(g => g.Group)];

    /// <summary>
    /// The groups of topics, by topic as they are given, then by name; groups that only their kept positions know of
    /// are among them.
    /// </summary>
    public IReadOnlyList<(Topic Topic, string Group)> NamesOf(IReadOnlyList<Topic> topics)
    {
        ILookup<Guid, string> kept = _store.NamesOf(topics);
        return
        [
            .. topics.SelectMany(t =>
                t.Partitions.SelectMany(p => p.Groups())
                    .Select(g => g.Name)
                    .Concat(kept[t.Id])
                    .Distinct()
                    .Order(StringComparer.Ordinal)
                    .Select(name => (t, name))
            ),
        ];
    }

    /// <summary>
    /// Groups as they are now, those left out that are gone or on no partition that could be opened. Each age is there
    /// that is found within a second.
    /// </summary>
    public async Task<IReadOnlyList<GroupSummary>> ReadAsync(
        IEnumerable<(Topic Topic, string Group)> groups,
        CancellationToken cancellationToken
    )
    {
        using CancellationTokenSource reading = BeginReading(cancellationToken);
        var summaries = new List<GroupSummary>();
        foreach ((Topic topic, string name) in groups)
        {
            if (LoadAll(topic, name) is { Count: > 0 } found)
                summaries.Add(await GroupSummary.ReadAsync(topic, name, found, reading.Token).ConfigureAwait(false));
        }
        cancellationToken.ThrowIfCancellationRequested();
        return summaries;
    }

    /// <summary>One group as it is now.</summary>
    /// <exception cref="BrokerException">As of <see cref="Find"/>.</exception>
    public async Task<GroupSummary> ReadAsync(Topic topic, string name, CancellationToken cancellationToken)
    {
        using CancellationTokenSource reading = BeginReading(cancellationToken);
        return await GroupSummary.ReadAsync(topic, name, Find(topic, name), reading.Token).ConfigureAwait(false);
    }

    /// <summary>Groups as they are now, likewise, without the ages: nothing is read.</summary>
    public IEnumerable<GroupSummary> Summarize(IEnumerable<(Topic Topic, string Group)> groups) =>
        from g in groups
        let found = LoadAll(g.Topic, g.Group)
        where found.Count != 0
        select GroupSummary.Of(g.Topic, g.Group, found);

    /// <summary>The topic that messages go to which the groups of a topic give up; null while there is none.</summary>
    public Topic? DeadLetterTopicOf(Topic topic) =>
        topic.Settings.Kind == TopicKind.Durable
        && _broker.TryGetTopic(DeadLetterOffice.TopicOf(topic), out Topic? dead)
            ? dead
            : null;

    /// <summary>The group on each partition it was used on, those that could not be opened left out.</summary>
    /// <exception cref="BrokerException">
    /// There is none of that name: <see cref="ErrorCode.UnknownGroup"/>. Or it may be on a partition that could not be
    /// opened, and is on no other.
    /// </exception>
    public IReadOnlyList<Group> Find(Topic topic, string name)
    {
        IReadOnlyList<Group> found = LoadAll(topic, name);
        if (found.Count != 0)
            return found;
        topic.ThrowIfBroken();
        throw new BrokerException(
            ErrorCode.UnknownGroup,
            $"The topic '{topic.Name}' has no group '{TopicName.Printable(name)}'{ListOf(topic)}."
        );
    }

    /// <summary>Starts a group again. Blocks while a time is looked up.</summary>
    /// <param name="topic">The topic.</param>
    /// <param name="name">The group.</param>
    /// <param name="partition">Only this partition; null for all.</param>
    /// <param name="start">Earliest, latest, offset or timestamp.</param>
    /// <param name="value">The offset, or unix microseconds.</param>
    /// <param name="offsets">Where it now stands, by partition.</param>
    /// <exception cref="BrokerException">
    /// There is no such group, or one of the partitions could not be opened: then nothing has changed.
    /// </exception>
    /// <exception cref="UnstoredException">The disk refuses; it stands there all the same.</exception>
    public void Reset(
        Topic topic,
        string name,
        uint? partition,
        StartKind start,
        long value,
        out IReadOnlyList<long> offsets
    )
    {
        if (partition is { } one)
            topic.GetPartition(one);
        else
            topic.ThrowIfBroken();
        Group[] groups = [.. Find(topic, name).Where(g => partition is null || g.Partition.Index == partition)];
        if (groups.Length == 0)
        {
            throw new BrokerException(
                ErrorCode.UnknownPartition,
                $"The group '{name}' was never used on partition {partition} of '{topic.Name}'."
            );
        }

        offsets = [.. groups.Select(g => LogStart.Find(g.Partition.Log, start, value))];
        foreach ((Group group, long offset) in groups.Zip(offsets))
        {
            group.Reset(offset);
            Keep(group);
        }
        Flush(topic);
    }

    /// <summary>Stops or resumes a group's deliveries; on a durable topic that is on disk when this returns.</summary>
    /// <exception cref="BrokerException">
    /// There is no such group.
    /// </exception>
    public void SetPaused(Topic topic, string name, bool paused)
    {
        foreach (Group group in Find(topic, name))
        {
            group.SetPaused(paused);
            Keep(group);
        }
        foreach (Partition refused in topic.Partitions.Where(p => p.IsBroken))
        {
            // Once the partition is repaired, the position holds there, too.
            if (Read(refused, name) is { Committed: >= 0 } state)
                _store.Set(refused, name, state.Committed, (state with { IsPaused = paused }).Encode());
        }
        Flush(topic);
    }

    /// <summary>Forgets a group.</summary>
    /// <exception cref="BrokerException">
    /// It has members, <see cref="ErrorCode.GroupInUse"/>.
    /// </exception>
    public void Delete(Topic topic, string name)
    {
        IReadOnlyList<Group> groups = Find(topic, name);
        int members = groups.Sum(g => g.MemberCount);
        if (members != 0 || groups.Any(g => !g.Partition.TryRemove(g)))
        {
            throw new BrokerException(
                ErrorCode.GroupInUse,
                $"The group '{name}' has {members} members; it can be deleted when they have left."
            );
        }

        Forget(topic, name, groups);
        Flush(topic);
        NoteSettled(topic);
    }

    /// <summary>
    /// Ends a group that nobody has used since a time, unless it gets a member meanwhile; stored later. Of one whose
    /// last use is not known it notes that it is used now.
    /// </summary>
    /// <returns>Whether it has.</returns>
    internal bool TryEndUnused(Topic topic, string name, long before)
    {
        bool isUnused = !topic.IsBroken;
        foreach (Partition partition in topic.Partitions.Where(p => p.Refusal is null))
            isUnused &= IsUnused(partition, name, before);
        if (!isUnused || LoadAll(topic, name) is not { Count: > 0 } groups)
            return false;
        if (groups.Any(g => !g.Partition.TryRemove(g)))
            return false;
        Forget(topic, name, groups);
        NoteSettled(topic);
        return true;
    }

    private bool IsUnused(Partition partition, string name, long before)
    {
        lock (_keeping)
        {
            if (partition.FindGroup(name) is { } group)
            {
                if (!group.IsEmpty || group.Used == 0)
                    group.MarkUsed();
                return group.Used < before;
            }
            if (Read(partition, name) is not { Committed: >= 0 } kept)
                return true;
            if (kept.Used != 0)
                return kept.Used < before;
            kept = kept with { Used = UnixMicroseconds.From(_broker.Clock.GetUtcNow()) };
            _store.Set(partition, name, kept.Committed, kept.Encode());
            return false;
        }
    }

    private void Forget(Topic topic, string name, IReadOnlyList<Group> groups)
    {
        foreach (Group group in groups)
            Forget(group);
        foreach (Partition refused in topic.Partitions.Where(p => p.IsBroken))
            _store.Remove(refused, name);
        topic.RemoveGroup(name);
        foreach (Partition place in topic.Partitions.Select(Redrive.PlaceOf).Distinct())
            _store.Remove(place, Redrive.NameOf(name));
    }

    /// <summary>Makes a group's dead-lettered messages available to it again.</summary>
    /// <returns>Messages that it gets again, and messages that are gone from the topic or not settled.</returns>
    public Task<(long Redriven, long Skipped)> RedriveAsync(
        Topic topic,
        string name,
        CancellationToken cancellationToken
    ) => new Redrive(_broker, _store, topic, name, Find(topic, name)).RunAsync(cancellationToken);

    /// <summary>The dead letters of a group, one by one.</summary>
    /// <exception cref="BrokerException">There is no such group.</exception>
    internal GroupLetters LettersOf(Topic topic, string name) => new(_broker, _store, topic, name, Find(topic, name));

    /// <summary>Says why a group gets nothing at the moment.</summary>
    public IReadOnlyList<GroupReason> Explain(Topic topic, string name)
    {
        string? failure = _deadLetters.FailureOf(DeadLetterOffice.TopicOf(topic));
        return
        [
            .. Find(topic, name).SelectMany(g => GroupExplanation.Explain(g, failure)),
            .. topic.Partitions.Where(p => p.IsBroken).SelectMany(GroupExplanation.Refusals),
        ];
    }

    /// <summary>
    /// What keeps most of a topic that removes messages when all groups have settled them, and how many messages that
    /// is; null where nothing is kept.
    /// </summary>
    public (RetentionHold Hold, long Messages)? FindRetentionHold(Topic topic) => SettledRetention.FindWorst(topic);

    /// <summary>Whether the broker has a topic, and it is not just being opened.</summary>
    internal bool IsServed(Topic topic) => _broker.TryGetTopic(topic.Name, out Topic? served) && served == topic;

    /// <summary>The names of all groups that a topic has; from the first call on they are in memory.</summary>
    internal ImmutableHashSet<string> AllNamesOf(Topic topic)
    {
        ImmutableHashSet<string>? names;
        while ((names = topic.AllGroups(out int ownership)) is null)
        {
            foreach (string name in NamesOf(topic))
            {
                if (LoadAll(topic, name).Count != 0)
                    topic.AddGroup(name);
            }
            topic.FoundAllGroups(ownership);
        }
        return names;
    }

    /// <summary>
    /// Letters up to one were redriven: the disk gets that only after their originals are unsettled there.
    /// </summary>
    internal void KeepRedriven(
        Topic topic,
        string name,
        IReadOnlyList<Group> driven,
        IReadOnlyList<Partition> partitions,
        long nextLetter
    )
    {
        KeepSettled(
            topic,
            name,
            driven,
            partitions.Select(Redrive.PlaceOf).Distinct(),
            (_, settled) => settled.WithNext(nextLetter)
        );
    }

    /// <summary>
    /// Single letters were redriven or deleted: the disk gets that only after redriven originals are unsettled there.
    /// </summary>
    /// <param name="topic">The topic.</param>
    /// <param name="name">The group.</param>
    /// <param name="driven">What the group has to settle again; empty when nothing was redriven.</param>
    /// <param name="letters">The letters' offsets, by where that is kept.</param>
    /// <exception cref="UnstoredException">The disk refuses; it counts all the same.</exception>
    internal void KeepLetters(
        Topic topic,
        string name,
        IReadOnlyList<Group> driven,
        IReadOnlyDictionary<Partition, List<long>> letters
    ) => KeepSettled(topic, name, driven, letters.Keys, (place, settled) => settled.With(letters[place]));

    /// <summary>All letters in front of one are settled; stored later.</summary>
    internal void MoveLetters(Topic topic, string name, Partition place, long nextLetter)
    {
        Settle(name, [place], (_, settled) => settled.WithNext(nextLetter));
        NoteSettled(topic);
    }

    private void KeepSettled(
        Topic topic,
        string name,
        IReadOnlyList<Group> driven,
        IEnumerable<Partition> places,
        Func<Partition, SettledLetters, SettledLetters> change
    )
    {
        foreach (Group group in driven)
            Keep(group);
        UnstoredException? unstored = UnstoredException.Of(() => Flush(topic));
        Settle(name, places, change);
        if (unstored is not null)
            throw unstored;
        Flush(topic);
        NoteSettled(topic);
    }

    private void Settle(
        string name,
        IEnumerable<Partition> places,
        Func<Partition, SettledLetters, SettledLetters> change
    )
    {
        lock (_settling)
        {
            foreach (Partition place in places)
            {
                SettledLetters settled = change(place, SettledLetters.Of(_store, place, name));
                _store.Set(place, Redrive.NameOf(name), settled.Next, settled.Encode());
            }
        }
    }

    /// <summary>Adds a member to the group that a request names.</summary>
    /// <exception cref="BrokerException">
    /// The topic is not one for explicit settlement, or the group's members settle in the other way.
    /// </exception>
    internal Subscription Join(IStreamOwner owner, uint id, Partition partition, in SubscribeFrame request)
    {
        SettleMode mode = request.SettleMode;
        if (mode == SettleMode.Explicit && partition.Topic.Settings.Kind != TopicKind.Durable)
        {
            throw new BrokerException(
                ErrorCode.NotSupported,
                $"The topic '{partition.Topic.Name}' is transient: a message that a group member holds would hold up "
                    + $"its producers. Groups settle explicitly on durable topics only."
            );
        }
        string name = request.Group;
        Group group = Enter(partition, name, mode, owner.User);
        try
        {
            GroupMember member = group is ExplicitGroup settled
                ? new ExplicitMember(owner, id, partition, settled, request) { Member = request.Member }
                : new AutomaticMember(owner, id, partition, (AutomaticGroup)group, request.Start, request.StartValue)
                {
                    Member = request.Member,
                };
            if (partition.Topic.Settings.Partitions > 1)
            {
                member.Assignment = _assignments.GetOrAdd(
                    (partition.Topic.Id, name),
                    static _ => new GroupAssignment()
                );
                member.Assignment.Join(member);
            }
            if (partition.Topic.Settings.Retention == Retention.Settled)
                KeepBeginning(group);
            return member;
        }
        finally
        {
            group.Expect(-1);
        }
    }

    /// <summary>The group, made if there is none and there may be another.</summary>
    private Group Enter(Partition partition, string name, SettleMode mode, uint user)
    {
        if (partition.FindGroup(name) is not null || _store.TryGet(partition, name, out _, out _))
            return partition.OpenGroup(name, known => Open(partition, name, mode, known));
        lock (_making)
        {
            uint maker = MakerOf(partition.Topic, name) ?? user;
            DemandRoom(partition.Topic, name, user);
            return partition.OpenGroup(name, known => Open(partition, name, mode, known, maker));
        }
    }

    /// <exception cref="BrokerException">The topic may have no other group, or the user may make none.</exception>
    private void DemandRoom(Topic topic, string name, uint user)
    {
        int most = _broker.Options.MaxGroupsPerTopic,
            percent = _broker.Options.MaxSharePercent;
        // Count the topic's own groups only if all positions together reach the limit.
        int bound = _store.CountBeside(topic) + topic.Partitions.Sum(p => p.GroupCount);
        bool sharesMatter = UserShare.Matters(user, bound, most, percent);
        if ((bound < most && !sharesMatter) || NamesOf(topic) is not { } names || names.Contains(name))
            return;
        const string Limit = nameof(BrokerOptions.MaxGroupsPerTopic);
        if (names.Count >= most)
            throw _broker.Refusals.Exhausted(Limit, most, $"The topic '{topic.Name}' has {names.Count} groups");
        if (!UserShare.Matters(user, names.Count, most, percent))
            return;
        int own = names.Count(n => MakerOf(topic, n) == user);
        if (UserShare.IsUsedUp(user, own, names.Count, most, percent))
        {
            string what = $"groups of the topic '{topic.Name}'";
            throw _broker.Refusals.Exhausted(Limit, most, UserShare.Describe(own, names.Count, what));
        }
    }

    /// <summary>
    /// The <see cref="UserNumber"/> of whoever made a group; that of nobody for one of an earlier version, and null for
    /// one that is on no partition of this node.
    /// </summary>
    public uint? MakerOf(Topic topic, string name)
    {
        foreach (Partition partition in topic.Partitions)
        {
            if (partition.FindGroup(name) is { } group)
                return group.Maker;
            if (Read(partition, name) is { Committed: >= 0 } kept)
                return kept.Maker;
        }
        return null;
    }

    /// <summary>Forgets all groups of a partition that is deleted.</summary>
    internal void Remove(Partition partition)
    {
        foreach (Group group in partition.Groups())
            Forget(group);
        _store.RemoveAll(partition);
    }

    /// <summary>Keeps what changed of a partition's groups.</summary>
    internal void Keep(Partition partition)
    {
        foreach (Group group in partition.Groups())
            Keep(group);
        GroupStore.RequestStore(partition);
    }

    /// <summary>
    /// What is kept on the disk of a partition's groups, as a partition with replicas keeps it: how far letters were
    /// redriven, too, which stands beside the first partition on the disk.
    /// </summary>
    internal StreamPositions ForStream(Partition partition)
    {
        var positions = new StreamPositions();
        foreach ((string name, long offset, ReadOnlyMemory<byte> state) in _store.OnDisk(partition))
        {
            if (!Redrive.IsPosition(name))
                positions.Set(name, offset, state.ToArray());
        }
        foreach ((string name, long offset, _) in _store.OnDisk(Redrive.PlaceOf(partition)))
        {
            if (Redrive.IsPosition(name))
                positions.Set(name, offset, []);
        }
        return positions;
    }

    /// <summary>Forgets what is on the disk of a topic whose positions are in streams now.</summary>
    internal void ForgetDisk(Topic topic) => _store.ForgetDisk(topic.Id);

    /// <summary>Ends the groups of a partition that this node has lost: its next owner goes on with them.</summary>
    internal void End(Partition partition)
    {
        lock (_keeping)
        {
            foreach (Group group in partition.Groups())
                group.Retire();
        }
    }

    private static CancellationTokenSource BeginReading(CancellationToken cancellationToken)
    {
        CancellationTokenSource reading = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        reading.CancelAfter(ReadingTime);
        return reading;
    }

    private void Keep(Group group)
    {
        if (group.Partition.Topic.Settings.Kind != TopicKind.Durable)
            return;
        lock (_keeping)
        {
            if (group.TryTakeState(out GroupState state) && state.Committed >= 0)
            {
                _store.Set(group.Partition, group.Name, state.Committed, state.Encode());
                if (group.Partition.Topic.Settings.Retention == Retention.Settled)
                    SettledRetention.Note(group.Partition, TimeSpan.Zero);
            }
        }
    }

    /// <summary>
    /// A group that a client has seen holds messages, also behind a kill: it is on the disk before its first member is
    /// answered.
    /// </summary>
    private void KeepBeginning(Group group)
    {
        if (_store.TryGetKept(group.Partition, group.Name, out _))
            return;
        Keep(group);
        // The store reports why, and tries again; retention removes nothing until it has succeeded.
        _ = UnstoredException.Of(() => Flush(group.Partition.Topic));
    }

    private void NoteSettled(Topic topic)
    {
        if (topic.Settings.Retention != Retention.Settled)
            return;
        foreach (Partition partition in topic.Partitions)
            SettledRetention.Note(partition, TimeSpan.Zero);
    }

    /// <summary>
    /// Returns when everything that a topic's groups have settled, and what was said of them, is on the disk, or in the
    /// streams of a topic with replicas.
    /// </summary>
    /// <exception cref="UnstoredException">The disk refuses; it counts all the same.</exception>
    /// <exception cref="BrokerException">
    /// <see cref="ErrorCode.NotLeader"/>: a partition with replicas was lost before.
    /// </exception>
    internal void Flush(Topic topic) => _store.Flush(topic);

    private void Forget(Group group)
    {
        lock (_keeping)
        {
            group.Retire();
            _store.Remove(group.Partition, group.Name);
        }
        _assignments.TryRemove((group.Partition.Topic.Id, group.Name), out _);
    }

    private string ListOf(Topic topic) =>
        NamesOf(topic) switch
        {
            [] => "; no client has subscribed with a group yet",
            { } names => $"; it has {string.Join(", ", names.Take(10))}{(names.Count > 10 ? ", …" : "")}",
        };

    private IReadOnlyList<Group> LoadAll(Topic topic, string name) =>
        [.. topic.Partitions.Where(p => p.Refusal is null).Select(p => Load(p, name)).OfType<Group>()];

    /// <summary>
    /// The group on a partition, made of its stored state if no client uses it; null when there never was one.
    /// </summary>
    private Group? Load(Partition partition, string name)
    {
        Group? group = partition.FindGroup(name);
        if (group is not null || Read(partition, name) is not { Committed: >= 0 } state)
            return group;
        group = partition.OpenGroup(name, known => Open(partition, name, known?.SettleMode ?? state.SettleMode, known));
        group.Expect(-1);
        return group;
    }

    private Group Open(Partition partition, string name, SettleMode mode, Group? known, uint maker = UserNumber.None)
    {
        if (known?.SettleMode == mode)
        {
            known.Expect(1);
            return known;
        }
        if (known is { IsEmpty: false })
        {
            throw new BrokerException(
                ErrorCode.InvalidArgument,
                $"The members of the group '{name}' settle "
                    + $"{(known.SettleMode == SettleMode.Explicit ? "explicitly" : "automatically")}; a member that "
                    + $"settles otherwise can join when they have left."
            );
        }
        GroupState state = known?.Whole() ?? Read(partition, name);
        if (state == GroupState.None)
            state = state with { Maker = maker, Used = UnixMicroseconds.From(_broker.Clock.GetUtcNow()) };
        known?.Retire();
        partition.Topic.AddGroup(name);
        Group group =
            mode == SettleMode.Explicit
                ? new ExplicitGroup(partition, name, state, _deadLetters)
                : new AutomaticGroup(partition, name, state);
        if (known is not null)
        {
            group.GoOnCounting(known);
            // Store the new settle mode, and what the group before had not stored yet.
            group.MarkDirty();
        }
        group.Expect(1);
        return group;
    }

    private GroupState Read(Partition partition, string name) =>
        partition.Topic.Settings.Kind == TopicKind.Durable
        && _store.TryGet(partition, name, out long committed, out ReadOnlyMemory<byte> state)
            ? GroupState.Decode(committed, state.Span)
            : GroupState.None;
}
