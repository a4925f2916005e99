using LightQ.Broker.Cluster;
using LightQ.Broker.Groups;
using LightQ.Broker.Logs;
using LightQ.Broker.Replication;
using LightQ.Scheduling;

namespace LightQ.Broker.Topics;

/// <summary>
/// Keeps one partition of a topic with replicas: waits until this node is to lead it, claims it, serves it until it is
/// lost or handed over, and waits again.
/// </summary>
/// <remarks>
/// Each ownership is a <see cref="Partition"/> of its own, opened from journal and stream as at a start: what survives
/// a restart survives the loss of a partition. In between, the topic has a partition that is refused with
/// <see cref="ErrorCode.NotLeader"/>.
/// </remarks>
internal sealed class ReplicaKeeper : IAsyncDisposable
{
    private static readonly TimeSpan PreparationPoll = TimeSpan.FromMilliseconds(250),
        LongestStart = TimeSpan.FromSeconds(2),
        DefectPause = TimeSpan.FromSeconds(1);

    private const string Defect = "its broker has failed; its log says how";

    private readonly ReplicaSite _site;
    private readonly Topic _topic;
    private readonly uint _index;
    private readonly PartitionId _id;
    private readonly Signal _changed;
    private readonly CancellationTokenSource _stop = new();
    private readonly TaskCompletionSource _led = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly MoveWish _move = new();
    private readonly ChangeWait _wait;
    private readonly ClaimPause _pause;
    private readonly StreamTrouble _trouble;
    private readonly UnledPartition _unled;
    private Task _running = Task.CompletedTask;
    private (PartitionStand Stand, long? Left) _told;
    private ReplicaTaker? _taker;
    private bool _isLent;
    private StreamPositions? _positions; // Of the groups, while this node was the last that led it.

    public ReplicaKeeper(ReplicaSite site, Topic topic, uint index)
    {
        (_site, _topic, _index) = (site, topic, index);
        _id = new PartitionId(topic.Id, index);
        _changed = site.Members.Watch(_id);
        _wait = new ChangeWait(_changed, _stop.Token);
        _pause = new ClaimPause(site.Options, site.Time);
        _trouble = new StreamTrouble(site.Conditions, topic, index, site.Time, _changed.Set);
        _unled = new UnledPartition(site.Conditions, topic.Name, Subject, site.Options, site.Time);
    }

    /// <summary>Completes when any node leads the partition, as far as this one knows, for the first time.</summary>
    public Task Led => _led.Task;

    /// <summary>What is wrong with its stream, and what operators ask about that.</summary>
    public StreamTrouble Trouble => _trouble;

    private ClusterMembers Members => _site.Members;

    private TimeProvider Time => _site.Time;

    private string Subject => $"{_topic.Name}/{_index}";

    /// <summary>What this node is to a partition that others are to lead.</summary>
    private PartitionStand StandAside =>
        _pause.LeftUnable > TimeSpan.Zero ? PartitionStand.Unable : PartitionStand.Follows;

    /// <summary>Begins. The topic has a partition in its place already.</summary>
    public void Begin() => _running = Task.Run(RunAsync);

    /// <summary>Hands the partition over to a node.</summary>
    /// <returns>Why not; empty when that node leads it.</returns>
    public async Task<string> MoveAsync(string to)
    {
        if (_move.Begin(to, out Task<string> done) is { } other)
            return $"it is being handed over to {other} already";
        _changed.Set();
        try
        {
            // The node that asked waits for the answer as long, and is to have it in time.
            return await done.WaitAsync(_site.Options.AnswerTimeout - _site.Options.AskAgain, Time)
                .ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            return
                Members.Of(_id).Takers.FirstOrDefault(taker => taker.Node == to)
                    is { Stand: PartitionStand.Prepares, Left: { } left }
                ? $"the node {to} still has {left} entries to read, and takes it when it has read them"
                : $"the node {to} has not taken it within {_site.Options.AnswerTimeout.TotalSeconds} s";
        }
    }

    /// <summary>Hands the partition over, and waits for nothing but that what was taken is confirmed.</summary>
    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync().ConfigureAwait(false);
        await _running.ConfigureAwait(false);
        _led.TrySetCanceled();
        _move.End(_move.To, "the broker is stopping");
        Members.Unwatch(_id);
        _trouble.End();
        _unled.End();
        _stop.Dispose();
    }

    private async Task RunAsync()
    {
        try
        {
            while (true)
            {
                try
                {
                    if (_topic.Partitions[(int)_index] is { Log: ReplicatedLog log } left)
                        await LoseAsync(left, log, Defect).ConfigureAwait(false);
                    bool isPinned = await WaitForTurnAsync().ConfigureAwait(false);
                    await LeadAsync(isPinned).ConfigureAwait(false);
                }
                catch (Exception e) when (e is not OperationCanceledException || !_stop.IsCancellationRequested)
                {
                    // Nothing that nobody has thought of may end the keeping: nobody would lead the partition, or know.
                    _site.Events()?.OnRefused($"partition {_index} of the topic {_topic.Name}", e);
                    if (_topic.Partitions[(int)_index].Log is not ReplicatedLog)
                        Put(Refused(NotLeader(Defect, "", Members.Of(_id).Epoch)));
                    _pause.OnFailedForLong();
                    TellIfNew(StandAside);
                    await Task.Delay(DefectPause, Time, _stop.Token).ConfigureAwait(false);
                }
            }
        }
        catch (OperationCanceledException) when (_stop.IsCancellationRequested)
        {
            await StepDownAsync().ConfigureAwait(false);
        }
        finally
        {
            if (_taker is { } taker)
                await taker.DisposeAsync().ConfigureAwait(false);
        }
    }

    /// <returns>Whether an operator wished that this node leads it.</returns>
    private async Task<bool> WaitForTurnAsync()
    {
        var leaderless = new Leaderless(Time);
        long? wanted = null;
        while (true)
        {
            if (_trouble.IsRepairWanted && _taker is null)
            {
                await RepairAsync(null, null).ConfigureAwait(false);
                return false;
            }
            _trouble.Answer(() => _taker is null ? _site.Opener.ReadCopy(_topic, _index) : new PartitionCopy("", 0, 0));
            Situation now = Members.Of(_id);
            bool mayClaim = Members.MayClaim;
            TimeSpan unled = leaderless.Look(now.IsLed || !mayClaim);
            string? failure = _pause.IsFailing ? _topic.Partitions[(int)_index].Refusal?.Detail : null;
            TimeSpan? unsaid = _unled.Look(now, Members.Node, mayClaim, failure);
            if (now.IsLed)
            {
                _led.TrySetResult();
                _pause.OnLedElsewhere();
                if (now.Leader != Members.Node)
                {
                    _positions = null;
                    _trouble.End(); // What is wrong there its leader says.
                }
            }
            Turn turn = mayClaim ? Turn.Of(now, Members.Node, unled, _site.Options) : default;
            if (turn.IsEarly)
                leaderless.Reset();
            TimeSpan pause = _pause.Left;
            if (turn.IsMine && pause <= TimeSpan.Zero)
                return turn.IsPinned;
            await PrepareAsync(now).ConfigureAwait(false);
            TimeSpan untilAsking = _pause.LeftToAsk;
            // What it gave up only because it could not serve it, it wants back.
            bool isWanted =
                turn.Wants || (_isLent && mayClaim && now is { IsLed: true, IsPinned: false } && IsFit(now));
            if (isWanted)
                wanted ??= Time.GetTimestamp();
            else
                wanted = null;
            TimeSpan early = wanted is { } since ? _site.Options.WantAfter - Time.GetElapsedTime(since) : TimeSpan.Zero;
            if (early > untilAsking)
                untilAsking = early;
            bool mayAsk = untilAsking <= TimeSpan.Zero;
            if (_taker is { } taker)
                TellIfNew(taker.Stand, taker.Left);
            else
                TellIfNew(isWanted && mayAsk ? PartitionStand.Wants : StandAside);
            Refuse(now);
            _move.Answer(now);
            TimeSpan? wait =
                turn.IsMine ? pause
                : isWanted && !mayAsk ? untilAsking
                : turn.Wait;
            if (unsaid is not null && (wait is null || wait > unsaid))
                wait = unsaid;
            TimeSpan unable = _pause.LeftUnable;
            if (unable > TimeSpan.Zero && (wait is null || wait > unable))
                wait = unable;
            else if (unable <= TimeSpan.Zero)
                Members.Conditions.End(ConditionKind.CopyFailed, Subject); // It is tried again.
            if (_taker is { Stand: PartitionStand.Prepares } && (wait is null || wait > PreparationPoll))
                wait = PreparationPoll;
            await WaitForChangeAsync(wait).ConfigureAwait(false);
        }
    }

    /// <summary>
    /// Begins to read a partition that its leader is about to hand over to this node, and ends that when it is not.
    /// </summary>
    private async Task PrepareAsync(Situation now)
    {
        if (!now.IsLed)
            return; // This node may claim it in a moment.
        bool isNamed = now.NextLeader == Members.Node && now.Leader != Members.Node;
        if (isNamed && _taker is null)
        {
            _taker = new ReplicaTaker(_site.Opener, _topic, _index, YieldsTo, Time, _changed.Set);
            _taker.Begin();
        }
        else if (!isNamed && _taker is { } taker)
        {
            // It was passed over, and does not ask again at once; unless another node is placed first by now.
            if (taker.Stand != PartitionStand.Ready && now.Ranking is [var first, ..] && first == Members.Node)
                _pause.OnPassedOver();
            _taker = null;
            await taker.DisposeAsync().ConfigureAwait(false);
        }
    }

    private bool YieldsTo(string node) => node != Members.Node && Members.Find(node) is { IsLive: true };

    private async Task LeadAsync(bool isPinned)
    {
        TellIfNew(PartitionStand.Claims);
        if (await ClaimAsync().ConfigureAwait(false) is not (var partition, var log))
            return;
        _pause.OnLeads();
        _unled.End();
        _isLent = false;
        Members.Conditions.End(ConditionKind.CopyFailed, Subject);
        uint epoch = log.Epoch;
        partition.Leader = FindLeader;
        Put(partition);
        _site.Serve(partition);
        Members.SayEnd(_id, () => log.Copy.EndOffset);
        Tell(PartitionStand.Leads, epoch, isPinned: isPinned);
        _led.TrySetResult();
        Members.Events?.OnLeads(partition, epoch);
        _trouble.End();
        using IDisposable watching = _site.Watch.Begin(log, _trouble.Reason, _changed.Set);
        using IDisposable noting = _site.Opener.Owners.Begin(_id, epoch, () => log.Copy.EndOffset);
        var succession = new Succession(_site.Options, Time);
        using var start = new StartSlot(_site.Preparations, Time);
        while (true)
        {
            Situation now = Members.Of(_id);
            if (Members.IsCutOff != partition.IsUnsure)
                partition.HoldGroups(Members.IsCutOff);
            string? fit = FitterOf(now, succession);
            if (log.WaitsWhenFull != (fit is not null))
            {
                log.WaitsWhenFull = fit is not null;
                partition.RoomMade(); // Those that wait are told, if nobody can take it.
            }
            if (log.Lost.IsCompleted)
            {
                string reason = await log.Lost.ConfigureAwait(false);
                await LoseAsync(partition, log, reason).ConfigureAwait(false);
                return;
            }
            if (now.IsLed && now.Leader != Members.Node && now.Epoch > epoch)
            {
                await LoseAsync(partition, log, $"node {now.Leader} leads it in epoch {now.Epoch}")
                    .ConfigureAwait(false);
                return;
            }
            _trouble.Answer(() => new PartitionCopy("", log.StartOffset, log.Copy.EndOffset, IsLeader: true));
            if (log.StreamLoss is { } loss)
            {
                if (_trouble.Find(loss))
                    partition.OnFailed(_trouble.Reason);
                if (_trouble.IsRepairWanted)
                {
                    await RepairAsync(partition, log).ConfigureAwait(false);
                    return;
                }
                await WaitForChangeAsync(within: null, log.Lost).ConfigureAwait(false);
                continue;
            }
            if (_trouble.IsThere)
            {
                await LoseAsync(partition, log, "its stream is whole again").ConfigureAwait(false);
                return;
            }
            TimeSpan? wait = null;
            (string? to, bool toPinned) = FindSuccessor(now, isPinned, succession);
            if (to == Members.Node)
            {
                isPinned = toPinned;
                Tell(PartitionStand.Leads, epoch, isPinned: isPinned);
                _move.Answer(Members.Of(_id));
            }
            else if (to is not null && (to == succession.To || start.TryTake()))
            {
                SuccessionStep step = Look(partition, succession, now, to);
                switch (step.Act)
                {
                    case SuccessionAct.Name:
                        Tell(PartitionStand.Leads, epoch, to, isPinned);
                        continue;
                    case SuccessionAct.HandOver:
                        if (await TryHandOverAsync(partition, log, to, toPinned, step.Reason).ConfigureAwait(false))
                            return;
                        continue;
                    case SuccessionAct.PassOver:
                        PassOver(partition, succession, to, step.Reason);
                        continue;
                }
                wait = start.Within(LongestStart, step.Wait);
            }
            else if (to is not null)
            {
                wait = PreparationPoll;
            }
            if (to is null && succession.To.Length != 0)
            {
                succession.End();
                start.Release();
                Tell(PartitionStand.Leads, epoch, isPinned: isPinned);
            }
            await WaitForChangeAsync(wait, log.Lost).ConfigureAwait(false);
        }
    }

    private SuccessionStep Look(Partition partition, Succession succession, in Situation now, string to)
    {
        bool isNews = succession.Left is null;
        SuccessionStep step = succession.Look(now, to, CandidatesOf(now, to), Members.IsStopping);
        if (isNews && step.Act == SuccessionAct.Wait && succession.Left is > JournalFill.MostNew and var left)
            Members.Events?.OnPrepares(partition, to, left);
        return step;
    }

    /// <summary>Of a node that drains or stops: those that may get the partition. Else only one may.</summary>
    private string[]? CandidatesOf(in Situation now, string to) =>
        Members.IsDraining && _move.To != to ? [.. SettledOf(now)] : null;

    /// <summary>A node that can serve the partition and claim it at once, other than this one; null for none.</summary>
    private string? FitterOf(in Situation now, Succession succession) =>
        SettledOf(now).Intersect(now.Ranking.Take(now.Fit)).FirstOrDefault(succession.MayHave);

    /// <summary>Whether this node can serve the partition, as far as the others are told.</summary>
    private bool IsFit(in Situation now) =>
        _pause.LeftUnable <= TimeSpan.Zero && now.Ranking.Take(now.Fit).Contains(Members.Node);

    private void PassOver(Partition partition, Succession succession, string to, string reason)
    {
        Members.Events?.OnPassedOver(partition, to, reason);
        _move.End(to, $"the node {to} does not take it: {reason}");
        if (!Members.IsDraining)
            succession.Refuse(to);
    }

    /// <returns>Null when it failed, or when another node leads it meanwhile.</returns>
    private async Task<(Partition Partition, ReplicatedLog Log)?> ClaimAsync()
    {
        using var claiming = CancellationTokenSource.CreateLinkedTokenSource(_stop.Token);
        (Partition, ReplicatedLog)? opened = null;
        if (_taker is { } taker)
        {
            _taker = null;
            opened = await taker.TakeAsync().ConfigureAwait(false);
            await taker.DisposeAsync().ConfigureAwait(false);
        }
        Situation before = Members.Of(_id);
        Task<(Partition, ReplicatedLog)> claim = _site.Opener.ClaimAsync(
            _topic,
            _index,
            opened,
            YieldsTo,
            _site.Opener.Owners.Newest(_id, before),
            claiming.Token
        );
        while (!claim.IsCompleted && !_stop.IsCancellationRequested)
        {
            if (Members.Of(_id) is { IsLed: true } now && now.Leader != Members.Node)
                await claiming.CancelAsync().ConfigureAwait(false);
            else
                _unled.LookWhileClaimed(Members.Node);
            await WaitForChangeAsync(_site.Options.Silence, claim)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
        try
        {
            return await claim.ConfigureAwait(false);
        }
        catch (OperationCanceledException) when (!_stop.IsCancellationRequested)
        {
            // Another node has it, and says so in a moment.
            _pause.OnYielded();
            return null;
        }
        catch (Exception e) when (e is ReplicationException or IOException or UnauthorizedAccessException)
        {
            Situation now = Members.Of(_id);
            bool isLoss = e is ReplicationException { IsLoss: true } && _trouble.Suspect(e.Message);
            var refusal = PartitionRefusal.OfClaim(e, now.Epoch, isLoss ? _trouble.Reason : null);
            if (_topic.Partitions[(int)_index].Refusal != refusal) // It is tried again and again, and said once.
                Put(Refused(refusal), e);
            _pause.OnFailed();
            if (e is not ReplicationException)
                OnCopyFailed(refusal.Reason);
            // The next choice does not wait until this one has tried again.
            TellIfNew(StandAside);
            return null;
        }
    }

    /// <summary>The node that is to lead the partition in the place of this one, if any.</summary>
    private (string? To, bool IsPinned) FindSuccessor(in Situation now, bool isPinned, Succession succession)
    {
        if (_move.To is { } wished)
        {
            if (now.Ranking.Contains(wished))
                return (wished, wished != now.Ranking[0]);
            _move.End(wished, $"the node {wished} takes no partitions: it is silent or drains");
        }
        if (now.Ranking.Count == 0 || now.Ranking[0] == Members.Node)
            return default;
        if (Members.IsDraining)
            return (succession.Choose(SettledOf(now)) ?? now.Ranking[0], false);
        // One that can serve it is not waited for until it asks: it may have been passed over, as the first choice.
        if (now.IsUnfit(Members.Node))
            return (FitterOf(now, succession), false);
        return !isPinned && now.IsWanted && succession.MayHave(now.Ranking[0]) ? (now.Ranking[0], false) : default;
    }

    /// <summary>
    /// The node that is to take the partition from one that stops: one that has read it, if there is one.
    /// </summary>
    private string? NextOf(in Situation now)
    {
        string[] settled = [.. SettledOf(now)];
        Taker[] takers = [.. now.Takers.Where(taker => settled.Contains(taker.Node))];
        return takers.FirstOrDefault(taker => taker.Stand == PartitionStand.Ready).Node
            ?? takers.FirstOrDefault(taker => taker.Stand == PartitionStand.Prepares).Node
            ?? settled.FirstOrDefault();
    }

    /// <summary>The nodes besides this one that can claim at once, the first choice in front.</summary>
    private IEnumerable<string> SettledOf(Situation now) =>
        now.Ranking.Where(node => node != Members.Node && !now.Settling.Contains(node));

    /// <param name="partition">The partition.</param>
    /// <param name="log">Its log.</param>
    /// <param name="to">The node that gets it.</param>
    /// <param name="isPinned">Whether an operator wished that.</param>
    /// <param name="unprepared">Why it gets it though it is not ready; empty when it is.</param>
    private async Task<bool> TryHandOverAsync(
        Partition partition,
        ReplicatedLog log,
        string to,
        bool isPinned,
        string unprepared
    )
    {
        uint epoch = log.Epoch;
        string reason = $"it is handed over to node {to}";
        await _site.Handovers.WaitAsync(_stop.Token).ConfigureAwait(false);
        try
        {
            // The wait may have been long.
            if (log.Lost.IsCompleted || Members.Find(to) is not { IsLive: true, State: MemberState.Alive })
                return false;
            if (unprepared.Length != 0)
                Members.Events?.OnUnprepared(partition, to, unprepared);
            else if (!Members.Of(_id).Takers.Any(taker => taker.Node == to && taker.Stand == PartitionStand.Ready))
                return false;
            if (log.IsLocalStuck)
                log.LeaveJournal();
            _isLent = Members.Of(_id).IsUnfit(Members.Node);
            await _site.PatientlyAsync(log.PrepareStepDownAsync).ConfigureAwait(false);
            await _site.EndSettlingAsync(partition, _stop.Token).ConfigureAwait(false);
            long began = Time.GetTimestamp();
            partition.Leader = () => (epoch, Members.Find(to)?.DataAddress ?? "");
            await EndAppendsAsync(log, reason, holdsBack: true).ConfigureAwait(false);
            partition.MarkLost();
            Tell(PartitionStand.Released, epoch, to, isPinned);
            partition.Leader = FindLeader;
            Put(Refused(NotLeader(reason, to, epoch)));
            Situation now;
            do
            {
                now = Members.Of(_id);
                TimeSpan left = _site.Options.LongestGap - Time.GetElapsedTime(began);
                if (now.IsLed || left <= TimeSpan.Zero || _stop.IsCancellationRequested)
                    break;
                await WaitForChangeAsync(left).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            } while (true);
            Members.Events?.OnHandedOver(partition, to, Time.GetElapsedTime(began));
            _move.Answer(now);
            partition.CloseAll(partition.CloseOf(ErrorCode.NotLeader, reason));
        }
        finally
        {
            _site.Handovers.Release();
        }
        await EndAsync(partition, log).ConfigureAwait(false);
        return true;
    }

    private async Task LoseAsync(Partition partition, ReplicatedLog log, string reason)
    {
        _site.Events()?.OnPartitionLost(partition, reason);
        Situation now = Members.Of(_id);
        Tell(PartitionStand.Released, log.Epoch);
        if (log.HasLocalFailure)
        {
            _isLent = true;
            _pause.OnFailedForLong();
            OnCopyFailed(reason);
            TellIfNew(StandAside);
        }
        // The engine may just have been slow: it claims again at once, and the others leave it to it.
        else if (!now.IsLed || now.Leader == Members.Node)
        {
            if (now.Ranking.Count != 0 && now.Ranking[0] == Members.Node)
                TellIfNew(PartitionStand.Claims);
        }
        Put(Refused(NotLeader(reason, "", log.Epoch))); // No stream opens on it any more.
        partition.MarkLost();
        partition.CloseAll(partition.CloseOf(ErrorCode.NotLeader, reason));
        await EndAsync(partition, log).ConfigureAwait(false);
    }

    /// <summary>Others are to lead it, for a while at least.</summary>
    private void OnCopyFailed(string reason)
    {
        if (_pause.LeftUnable <= TimeSpan.Zero)
            _pause.OnUnable();
        Members.Conditions.Begin(
            ConditionKind.CopyFailed,
            Subject,
            $"{Members.Node} cannot keep its copy: {reason}",
            "Look at that broker's disk; when it serves again, the broker leads the partition again by itself. A copy "
                + "that is damaged is made anew when its directory is deleted while the broker is stopped.",
            _topic.Name
        );
    }

    /// <summary>Writes the stream anew; what comes of it is to be claimed.</summary>
    /// <param name="led">The partition, if this node leads it.</param>
    /// <param name="log">Its log, likewise.</param>
    private async Task RepairAsync(Partition? led, ReplicatedLog? log)
    {
        uint epoch = Math.Max(_site.Opener.Owners.Newest(_id, Members.Of(_id)).Epoch, log?.Epoch ?? 0) + 1;
        _trouble.BeginRepair();
        byte[]? state = led is null ? null : await EndForRepairAsync(led, log!).ConfigureAwait(false);
        Tell(PartitionStand.Leads, epoch); // Nobody claims it meanwhile.
        Exception? failure = await _site
            .Repair.TryRunAsync(_topic, _index, epoch, state, _positions, _stop.Token)
            .ConfigureAwait(false);
        if (failure is null)
            _pause.OnLeads();
        else
            _site.Events()?.OnRefused($"the repair of partition {_index} of the topic {_topic.Name}", failure);
        _trouble.EndRepair(failure?.Message ?? "");
        Tell(PartitionStand.Claims);
    }

    /// <returns>The partition's state; null where it knows of what nobody has confirmed.</returns>
    private async Task<byte[]?> EndForRepairAsync(Partition partition, ReplicatedLog log)
    {
        string reason = _trouble.Reason;
        await EndAppendsAsync(log, reason, holdsBack: false).ConfigureAwait(false);
        byte[]? state = log.SaveState();
        Put(Refused(new PartitionRefusal(ErrorCode.TopicFailed, reason, reason)));
        partition.MarkLost();
        partition.CloseAll(partition.CloseOf(ErrorCode.NotLeader, reason));
        await EndAsync(partition, log).ConfigureAwait(false);
        return state;
    }

    private async Task EndAsync(Partition partition, ReplicatedLog log)
    {
        _positions = partition.Positions;
        Members.SayEnd(_id, null);
        try
        {
            await partition.Emptied().ConfigureAwait(false);
        }
        catch (BrokerException e)
        {
            // It goes with its log.
            _site.Events()?.OnRefused($"a stream of partition {_index} of the topic {_topic.Name}", e);
        }
        partition.EndHousekeeping();
        _site.Groups.End(partition);
        partition.Delays?.Stop();
        await log.DisposeAsync().ConfigureAwait(false);
    }

    /// <summary>The broker stops: its streams are ended already, and its logs are closed behind this.</summary>
    private async Task StepDownAsync()
    {
        if (_topic.Partitions[(int)_index].Log is not ReplicatedLog log)
            return;
        await EndAppendsAsync(log, "the broker is stopping", holdsBack: false).ConfigureAwait(false);
        Situation now = Members.Of(_id);
        string to = NextOf(now) ?? "";
        if (now.Takers.Any(taker => taker.Node == to && taker.Stand == PartitionStand.Prepares))
        {
            Members.Events?.OnUnprepared(
                _topic.Partitions[(int)_index],
                to,
                "this broker stops, and StopTimeout is too short for that"
            );
        }
        Tell(PartitionStand.Released, log.Epoch, to);
    }

    /// <remarks>What is not confirmed in time is not acknowledged; the next owner finds out.</remarks>
    private Task EndAppendsAsync(ReplicatedLog log, string reason, bool holdsBack) =>
        _site.PatientlyAsync(patience => log.StepDownAsync(reason, holdsBack, patience));

    /// <summary>The partition says who leads it, for as long as it is not this node.</summary>
    private void Refuse(in Situation now)
    {
        Partition held = _topic.Partitions[(int)_index];
        // That it cannot be opened is the better reason while no other node leads it.
        if (!now.IsLed && _pause.IsFailing && held.Refusal is not null)
            return;
        string node = now.IsLed ? now.Leader : now.ReleasedTo;
        PartitionRefusal refusal = NotLeader(
            node.Length == 0 ? "no node leads it at the moment" : $"node {node} leads it",
            node,
            now.Epoch
        );
        if (held.Refusal != refusal)
            Put(Refused(refusal));
    }

    private void TellIfNew(PartitionStand stand, long? left = null)
    {
        // A node that is ready goes on to read; how much is left does not matter then.
        left = stand == PartitionStand.Prepares ? left : null;
        if (_told != (stand, left))
            Tell(stand, left: left);
    }

    private void Tell(PartitionStand stand, uint epoch = 0, string to = "", bool isPinned = false, long? left = null)
    {
        _told = (stand, left);
        bool isLent = _isLent && stand is (PartitionStand.Wants or PartitionStand.Prepares or PartitionStand.Ready);
        Members.Tell(new PartitionNews(_id.Topic, _id.Partition, stand, epoch, to, isPinned, left, isLent));
    }

    private Task WaitForChangeAsync(TimeSpan? within, Task? or = null) => _wait.WaitAsync(within, Time, or);

    private (uint Epoch, string Address) FindLeader() => Members.LeaderOf(_id);

    private static PartitionRefusal NotLeader(string reason, string node, uint epoch) =>
        new(ErrorCode.NotLeader, reason, reason) { Node = node, Epoch = epoch };

    private Partition Refused(PartitionRefusal refusal) =>
        new(_topic, _index, Time)
        {
            Refusal = refusal,
            Log = new RefusedLog(refusal),
            Leader = FindLeader,
        };

    private void Put(Partition refused, Exception reason)
    {
        Put(refused);
        if (reason is ReplicationException)
            _site.Events()?.OnPartitionLost(refused, reason.Message);
        else
            _site.Events()?.OnRefused($"partition {_index} of the topic {_topic.Name}", reason);
    }

    private void Put(Partition partition) => _topic.Put(partition);
}
