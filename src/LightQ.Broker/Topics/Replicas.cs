using System.Collections.Concurrent;
using LightQ.Broker.Cluster;
using LightQ.Broker.Groups;
using LightQ.Broker.Logs;
using LightQ.Broker.Replication;
using LightQ.Scheduling;

namespace LightQ.Broker.Topics;

/// <summary>The topics with replicas: makes their streams, keeps their partitions owned, removes them.</summary>
internal sealed class Replicas(
    PartitionOpener opener,
    GroupRegistry groups,
    Action<Partition> serve,
    Func<BrokerOptions> broker,
    TimeProvider time
) : IAsyncDisposable
{
    /// <summary>
    /// A new topic waits so long until its partitions are owned. The engine elects in a second or two.
    /// </summary>
    private static readonly TimeSpan LongestCreation = TimeSpan.FromSeconds(15),
        LongestBalance = TimeSpan.FromSeconds(30),
        Poll = TimeSpan.FromMilliseconds(10),
        RepairPoll = TimeSpan.FromMilliseconds(100);

    private readonly ConcurrentDictionary<Guid, ReplicaKeeper[]> _keepers = new();
    private readonly ReplicaSite? _site = SiteOf(opener, groups, serve, broker, time);
    private ClusterWatch? _watch;

    /// <summary>The nodes of the cluster; null without one.</summary>
    public ClusterMembers? Members => _site?.Members;

    /// <summary>Begins to look after what this node depends on to serve what it leads.</summary>
    public void BeginWatch(LightQBroker watched, HousekeepingSchedule housekeeping)
    {
        _watch = new ClusterWatch(broker().Replication!, _site!.Members, () => watched.Topics, time);
        opener.LocalChanged = _watch.Begin(
            housekeeping,
            () => watched.FreeBytes,
            () => watched.FailureOf(StoredState.ClusterCatalog)?.Reason
        );
    }

    /// <summary>Makes the streams of a new topic; those that are there already are its own.</summary>
    /// <exception cref="BrokerException">The engine cannot, or the broker has none.</exception>
    public void Create(Topic topic)
    {
        ReplicationOptions replication = broker().Replication!; // CreateTopic has looked.
        using var patience = new CancellationTokenSource(LongestCreation);
        Wait(
            topic,
            async () =>
            {
                replication.Demand(topic.Settings.MaxBatchBytes);
                await replication.DemandSyncAsync(topic.Settings.Replicas, patience.Token).ConfigureAwait(false);
                for (uint i = 0; i < topic.Settings.Partitions; i++)
                {
                    await replication
                        .Engine.CreateStreamAsync(
                            replication.StreamOf(topic.Id, i),
                            (int)topic.Settings.Replicas,
                            patience.Token
                        )
                        .ConfigureAwait(false);
                }
            }
        );
        topic.Partitions = [.. Enumerable.Range(0, (int)topic.Settings.Partitions).Select(i => Waiting(topic, i))];
    }

    /// <summary>
    /// Makes the stream of a partition anew: what was there, an attempt that came to nothing has left.
    /// </summary>
    /// <exception cref="ReplicationException">The engine cannot.</exception>
    public async Task<IReplicatedStream> CreateEmptyAsync(
        Topic topic,
        uint partition,
        uint replicas,
        CancellationToken cancellationToken
    )
    {
        ReplicationOptions replication = broker().Replication!;
        string name = replication.StreamOf(topic.Id, partition);
        if (await IsThereAsync(replication.Engine.GetStream(name), cancellationToken).ConfigureAwait(false))
        {
            replication.Events?.OnRemoved(
                $"the stream {name} of the engine",
                $"an earlier attempt to give the topic {topic.Name} replicas has left it, and the catalog says that "
                    + "the topic has none"
            );
        }
        await replication.Engine.DeleteStreamAsync(name, cancellationToken).ConfigureAwait(false);
        return await replication.Engine.CreateStreamAsync(name, (int)replicas, cancellationToken).ConfigureAwait(false);
    }

    /// <summary>A topic has its messages in streams from now on; its partitions were ended.</summary>
    public void Adopt(Topic topic)
    {
        for (int i = 0; i < topic.Partitions.Length; i++)
            topic.Put(Waiting(topic, i));
        Begin(topic);
    }

    /// <summary>Begins to keep a topic's partitions owned, here or on another node.</summary>
    public void Begin(Topic topic)
    {
        if (topic.Partitions.IsEmpty) // It was not made here just now.
            topic.Partitions = [.. Enumerable.Range(0, (int)topic.Settings.Partitions).Select(i => Waiting(topic, i))];
        if (_site is null)
            return; // Its partitions say so.
        _site.Members.Executing = ExecuteAsync;
        _site.Members.Begin();
        ReplicaKeeper[] keepers =
        [
            .. topic.Partitions.Select(partition => new ReplicaKeeper(_site, topic, partition.Index)),
        ];
        _keepers[topic.Id] = keepers;
        _site.Members.Know(topic.Partitions.Select(partition => new PartitionId(topic.Id, partition.Index)));
        foreach (ReplicaKeeper keeper in keepers)
            keeper.Begin();
    }

    /// <summary>
    /// Waits until the partitions of a new topic have leaders. It is served all the same when that takes longer:
    /// clients try again.
    /// </summary>
    public void WaitUntilOwned(Topic topic)
    {
        if (!_keepers.TryGetValue(topic.Id, out ReplicaKeeper[]? keepers))
            return;
        Task.WhenAll(keepers.Select(keeper => keeper.Led))
            .WaitAsync(LongestCreation)
            .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing)
            .GetAwaiter()
            .GetResult();
    }

    /// <summary>Has a partition led by another node.</summary>
    /// <param name="topic">The topic.</param>
    /// <param name="partition">Its number.</param>
    /// <param name="to">The node that is to lead it.</param>
    /// <param name="cancellationToken">Stops waiting; it may be moved all the same.</param>
    /// <returns>The new leader's epoch.</returns>
    /// <exception cref="BrokerException">That is not possible.</exception>
    public async Task<uint> MoveAsync(Topic topic, uint partition, string to, CancellationToken cancellationToken)
    {
        ClusterMembers members = Members ?? throw NoCluster();
        if (!topic.Settings.IsReplicated)
        {
            throw new BrokerException(
                ErrorCode.NotSupported,
                $"The topic '{topic.Name}' has no replicas: it stays on its node."
            );
        }
        if (partition >= topic.Settings.Partitions)
            topic.GetPartition(partition); // It says which there are.
        DemandNode(members, to, isToTake: true);
        var id = new PartitionId(topic.Id, partition);
        Situation now = members.Of(id);
        if (!now.IsLed)
        {
            throw new BrokerException(
                ErrorCode.Unavailable,
                $"No node leads partition {partition} of the topic '{topic.Name}' at the moment."
            );
        }
        string refusal = await members
            .AskAsync(new MemberCommand(Guid.NewGuid(), now.Leader, to, topic.Id, partition), cancellationToken)
            .ConfigureAwait(false);
        if (refusal.Length != 0)
        {
            throw new BrokerException(
                ErrorCode.Unavailable,
                $"Partition {partition} of the topic '{topic.Name}' was not moved to {to}: {refusal}."
            );
        }
        // This node may hear of it a moment later than the one that answered.
        long began = time.GetTimestamp();
        while ((now = members.Of(id)).Leader != to && time.GetElapsedTime(began) < members.Options.FullEvery)
            await Task.Delay(Poll, time, cancellationToken).ConfigureAwait(false);
        return now.Epoch;
    }

    /// <summary>What the live nodes hold of a partition, by node.</summary>
    /// <exception cref="BrokerException">There is no cluster.</exception>
    public async Task<IReadOnlyDictionary<string, PartitionCopy>> InspectAsync(
        Topic topic,
        uint partition,
        CancellationToken cancellationToken
    )
    {
        ClusterMembers members = Members ?? throw NoCluster();
        string[] nodes = [.. members.Members.Where(m => m.IsLive).Select(m => m.Name)];
        MemberAnswer[] answers = await Task.WhenAll(
                nodes.Select(node => AskAsync(node, topic, partition, CommandKind.Inspect, cancellationToken))
            )
            .ConfigureAwait(false);
        return nodes
            .Zip(answers)
            .Where(pair => pair.Second.Copy is not null)
            .ToDictionary(pair => pair.First, pair => pair.Second.Copy!);
    }

    /// <summary>Has a node write a partition's stream anew from its copy, and waits until it has.</summary>
    /// <returns>Why not; empty when it has.</returns>
    public async Task<string> RepairAsync(Topic topic, uint partition, string node, CancellationToken cancellationToken)
    {
        MemberAnswer begun = await AskAsync(node, topic, partition, CommandKind.Repair, cancellationToken)
            .ConfigureAwait(false);
        if (begun.Refusal.Length != 0)
            return begun.Refusal;
        while (true)
        {
            await Task.Delay(RepairPoll, time, cancellationToken).ConfigureAwait(false);
            MemberAnswer now = await AskAsync(node, topic, partition, CommandKind.Inspect, cancellationToken)
                .ConfigureAwait(false);
            if (now.Copy is not { } copy)
                return now.Refusal.Length != 0 ? now.Refusal : $"the node {node} does not say what became of it";
            if (!copy.IsRepairing)
                return copy.Failure;
        }
    }

    /// <summary>Which partitions are to move so that all are spread evenly.</summary>
    /// <exception cref="BrokerException">There is no cluster.</exception>
    public IReadOnlyList<(PartitionId Id, string From, string To)> PlanBalance() =>
        (Members ?? throw NoCluster()).Plan(movesPinned: true);

    /// <summary>
    /// Has them spread: what operators have moved is spread like all else from then on, and that moves by itself.
    /// </summary>
    /// <returns>How many have not moved in time; they go on.</returns>
    public async Task<int> BalanceAsync(CancellationToken cancellationToken)
    {
        ClusterMembers members = Members ?? throw NoCluster();
        foreach ((PartitionId id, string leader) in members.Pinned())
        {
            // A move to where it is already ends that an operator wished it.
            var command = new MemberCommand(Guid.NewGuid(), leader, leader, id.Topic, id.Partition);
            await members.AskAsync(command, cancellationToken).ConfigureAwait(false);
        }
        long began = time.GetTimestamp();
        while (PlanBalance().Count != 0 && time.GetElapsedTime(began) < LongestBalance)
            await Task.Delay(Poll, time, cancellationToken).ConfigureAwait(false);
        return PlanBalance().Count;
    }

    /// <summary>Has a node give all its partitions away, and take none until it starts again.</summary>
    /// <exception cref="BrokerException">It is not there, or does not answer.</exception>
    public async Task DrainAsync(string node, CancellationToken cancellationToken)
    {
        ClusterMembers members = Members ?? throw NoCluster();
        DemandNode(members, node, isToTake: false);
        string refusal = await members
            .AskAsync(new MemberCommand(Guid.NewGuid(), node), cancellationToken)
            .ConfigureAwait(false);
        if (refusal.Length != 0)
            throw new BrokerException(ErrorCode.Unavailable, $"The node {node} is not drained: {refusal}.");
    }

    /// <summary>
    /// The broker is about to stop: hands all partitions over, as long as there are other nodes and there is time.
    /// </summary>
    public async Task LeaveAsync(TimeSpan timeout)
    {
        if (Members is not { } members)
            return;
        members.Drain(isStopping: true);
        long began = time.GetTimestamp();
        while (
            time.GetElapsedTime(began) < timeout
            && members.LedBy(members.Node).Count != 0
            && members.Members.Any(m => m is { IsLive: true, State: MemberState.Alive })
        )
        {
            await Task.Delay(Poll, time).ConfigureAwait(false);
        }
    }

    /// <summary>Hands a topic's partitions over, before their streams are ended.</summary>
    public async Task EndAsync(Topic topic)
    {
        if (!_keepers.TryRemove(topic.Id, out ReplicaKeeper[]? keepers))
            return;
        foreach (ReplicaKeeper keeper in keepers)
            await keeper.DisposeAsync().ConfigureAwait(false);
    }

    /// <summary>Removes the streams of a topic that is gone.</summary>
    public async Task RemoveAsync(Topic topic)
    {
        if (topic.Settings.IsReplicated)
            await RemoveStreamsAsync(topic).ConfigureAwait(false);
    }

    /// <summary>Removes the streams of a topic, as far as there are any.</summary>
    public async Task RemoveStreamsAsync(Topic topic)
    {
        if (broker().Replication is not { } replication)
            return;
        using var patience = new CancellationTokenSource(LongestCreation);
        try
        {
            for (uint i = 0; i < topic.Settings.Partitions; i++)
            {
                await replication
                    .Engine.DeleteStreamAsync(replication.StreamOf(topic.Id, i), patience.Token)
                    .ConfigureAwait(false);
            }
        }
        catch (Exception e) when (e is ReplicationException or OperationCanceledException)
        {
            broker().StorageEvents?.OnRefused($"the removal of the streams of the topic {topic.Name}", e);
        }
    }

    /// <summary>Hands every partition over.</summary>
    public async ValueTask DisposeAsync()
    {
        if (_watch is not null)
            await _watch.DisposeAsync().ConfigureAwait(false);
        await Task.WhenAll(_keepers.Values.SelectMany(keepers => keepers).Select(k => k.DisposeAsync().AsTask()))
            .ConfigureAwait(false);
        _keepers.Clear();
        await opener.Owners.DisposeAsync().ConfigureAwait(false);
        if (_site is { } site)
        {
            await site.Watch.DisposeAsync().ConfigureAwait(false);
            await site.Members.DisposeAsync().ConfigureAwait(false);
        }
    }

    private static ReplicaSite? SiteOf(
        PartitionOpener opener,
        GroupRegistry groups,
        Action<Partition> serve,
        Func<BrokerOptions> broker,
        TimeProvider time
    ) =>
        broker().Replication is not { } replication
            ? null
            : new ReplicaSite
            {
                Members = new ClusterMembers(replication, time),
                Opener = opener,
                Groups = groups,
                Serve = serve,
                Events = () => broker().StorageEvents,
                Time = time,
                Conditions = replication.Conditions,
                Repair = new ReplicaRepair(opener, replication, time),
                Watch = new StreamWatch(time),
            };

    private Task<MemberAnswer> AskAsync(
        string node,
        Topic topic,
        uint partition,
        CommandKind kind,
        CancellationToken cancellationToken
    ) =>
        Members!.AskForAsync(
            new MemberCommand(Guid.NewGuid(), node, node, topic.Id, partition, kind),
            cancellationToken
        );

    private static async Task<bool> IsThereAsync(IReplicatedStream stream, CancellationToken cancellationToken) =>
        (await stream.ExamineAsync(cancellationToken).ConfigureAwait(false)).IsThere;

    private static BrokerException NoCluster() =>
        new(ErrorCode.NotSupported, "This broker has no cluster: set Cluster:Engine, see docs/operate/cluster.md.");

    private static void DemandNode(ClusterMembers members, string node, bool isToTake)
    {
        if (members.Find(node) is { IsLive: true } found && (!isToTake || found.State == MemberState.Alive))
        {
            return;
        }
        string known = string.Join(
            ", ",
            members.Members.Where(m => m.IsLive && (!isToTake || m.State == MemberState.Alive)).Select(m => m.Name)
        );
        throw new BrokerException(
            ErrorCode.InvalidArgument,
            $"node is '{node}'; allowed, of those that are alive{(isToTake ? " and do not drain" : "")}: {known}."
        );
    }

    private async Task<MemberAnswer> ExecuteAsync(MemberCommand command)
    {
        var answer = new MemberAnswer(command.Id);
        if (!_keepers.TryGetValue(command.Topic, out ReplicaKeeper[]? keepers) || command.Partition >= keepers.Length)
            return answer with { Refusal = $"the node {command.Node} does not know the topic" };
        ReplicaKeeper keeper = keepers[command.Partition];
        Situation now = Members!.Of(new PartitionId(command.Topic, command.Partition));
        switch (command.Kind)
        {
            case CommandKind.Inspect:
                TimeSpan longest = Members.Options.AnswerTimeout - Members.Options.AskAgain;
                return answer with { Copy = await keeper.Trouble.InspectAsync(longest).ConfigureAwait(false) };
            case CommandKind.Repair when now.IsLed && now.Leader != Members.Node:
                return answer with { Refusal = $"the node {now.Leader} leads it" };
            case CommandKind.Repair:
                keeper.Trouble.WantRepair();
                return answer;
            default:
                return answer with { Refusal = await keeper.MoveAsync(command.To).ConfigureAwait(false) };
        }
    }

    private void Wait(Topic topic, Func<Task> make)
    {
        try
        {
            Task.Run(make).GetAwaiter().GetResult();
        }
        catch (Exception e) when (e is ReplicationException or OperationCanceledException)
        {
            RemoveAsync(topic).GetAwaiter().GetResult(); // Those that were made.
            throw new BrokerException(
                ErrorCode.Internal,
                $"The streams of the topic '{topic.Name}' could not be made: {e.Message}"
            );
        }
    }

    private Partition Waiting(Topic topic, int index)
    {
        string reason = broker().Replication is null
            ? "this broker has no cluster, and the topic has replicas"
            : "the partition is being claimed";
        var refusal = new PartitionRefusal(ErrorCode.NotLeader, reason, reason);
        return new Partition(topic, (uint)index, time) { Refusal = refusal, Log = new RefusedLog(refusal) };
    }
}
