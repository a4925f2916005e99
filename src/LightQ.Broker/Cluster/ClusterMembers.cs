using System.Collections.Concurrent;
using System.Text.Json;
using LightQ.Broker.Replication;
using LightQ.Scheduling;

namespace LightQ.Broker.Cluster;

/// <summary>
/// This node among the others: says that it is alive and what it leads, hears the same of them, and wakes those that
/// wait for a partition.
/// </summary>
/// <remarks>
/// Nothing of it is stored, and nothing that is said decides who owns a partition: the stream's claims do
/// (docs/design/cluster.md). What is lost is said again within a second.
/// </remarks>
internal sealed class ClusterMembers : IAsyncDisposable
{
    /// <summary>Partitions in one message, some 150 bytes each: below the 1 MiB that any engine takes.</summary>
    private const int PartitionsPerMessage = 1000;

    private readonly ReplicationOptions _options;
    private readonly TimeProvider _time;
    private readonly MemberTable _table;
    private readonly string _channel;
    private readonly CancellationTokenSource _stop = new();
    private readonly Signal _wake = new();
    private readonly SemaphoreSlim _speaking = new(1, 1);
    private readonly TaskCompletionSource _advertised = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly ConcurrentDictionary<PartitionId, Signal> _watchers = new();
    private readonly ConcurrentDictionary<PartitionId, Func<long>> _ends = new();
    private readonly Lock _lock = new();
    private readonly Dictionary<PartitionId, PartitionNews> _own = [];
    private readonly List<PartitionNews> _news = [];
    private readonly MemberQuestions _questions;
    private readonly MemberClocks _clocks;
    private TaskCompletionSource _changed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private string _data,
        _control;
    private volatile MemberState _state;
    private long _order;
    private bool _isSettled;
    private long _heard;
    private long _heardSince;
    private bool _isListening;
    private bool _hasHeard;
    private Guid _rival;
    private long _rivalHeard;
    private bool _isRefused;
    private volatile bool _isUnfit;
    private Task? _running;

    /// <summary>Makes a node that says and hears nothing yet.</summary>
    public ClusterMembers(ReplicationOptions options, TimeProvider time)
    {
        (_options, _time) = (options, time);
        (_data, _control) = (options.DataAddress, options.ControlAddress);
        _table = new MemberTable(options.Members, time);
        _clocks = new MemberClocks(time, options.Conditions);
        _channel = $"LQ_{options.Cluster}_members";
        _questions = new MemberQuestions(options.Members, time, Send);
        if (!options.IsAdvertisedLater)
            _advertised.TrySetResult();
        _table.Apply(Compose([])); // So that it is in the table; it is alive when it hears itself.
    }

    /// <summary>This node's name.</summary>
    public string Node => _options.Node;

    /// <summary>This process: made anew with every start.</summary>
    public Guid Run { get; } = Guid.NewGuid();

    /// <summary>How long nodes wait for each other.</summary>
    public MemberOptions Options => _options.Members;

    /// <summary>Where to report who comes and goes.</summary>
    public IClusterEvents? Events => _options.Events;

    /// <summary>Whether it gives its partitions away.</summary>
    public bool IsDraining => _state != MemberState.Alive;

    /// <summary>Whether it gives them away because it is about to stop.</summary>
    public bool IsStopping { get; private set; }

    /// <summary>
    /// Whether this node cannot serve what it leads: others lead it then, as far as they can, until that is over.
    /// </summary>
    public bool IsUnfit
    {
        get => _isUnfit;
        set
        {
            if (_isUnfit == value)
                return;
            _isUnfit = value;
            Announce(_table.Apply(Compose([])));
            _wake.Set();
        }
    }

    /// <summary>What is wrong with the cluster.</summary>
    public ClusterConditions Conditions => _options.Conditions;

    /// <summary>Does with a partition what another node asks.</summary>
    public Func<MemberCommand, Task<MemberAnswer>> Executing { get; set; } =
        static command =>
            Task.FromResult(new MemberAnswer(command.Id, $"the node {command.Node} does not know the topic"));

    /// <summary>
    /// Whether it may claim: it has listened long enough, hears itself, and no other process has its name.
    /// </summary>
    public bool MayClaim
    {
        get
        {
            lock (_lock)
                return _isSettled && !_isListening && IsHeard && !_isRefused;
        }
    }

    /// <summary>Whether it has just begun to listen, and may not have heard yet who leads what.</summary>
    public bool IsListening
    {
        get
        {
            lock (_lock)
                return !_isSettled || _isListening;
        }
    }

    /// <summary>
    /// Whether it has not heard itself for so long that the others take it for dead, and claim what it leads. Those
    /// that wait for a partition are woken when that changes.
    /// </summary>
    public bool IsCutOff => _hasHeard && _time.GetElapsedTime(Volatile.Read(ref _heard)) >= Options.Silence;

    /// <summary>Completes with the next change of nodes, or of what they are to a partition.</summary>
    public Task Changed => Volatile.Read(ref _changed).Task;

    /// <summary>The nodes, by name, this one among them.</summary>
    public IReadOnlyList<Member> Members => _table.Members;

    /// <summary>
    /// Half of the silence that makes others dead: a node that is cut off finds that out before it takes them for dead.
    /// </summary>
    private bool IsHeard => _hasHeard && _time.GetElapsedTime(_heard) < Options.Silence / 2;

    /// <summary>Begins to listen and to speak; not before it has addresses. Once or more.</summary>
    public void Begin()
    {
        lock (_lock)
            _running ??= Task.Run(RunAsync);
    }

    /// <summary>Where clients find this node: it takes part from now on.</summary>
    public void Advertise(string data, string control)
    {
        lock (_lock)
            (_data, _control) = (data, control);
        Begin();
        _advertised.TrySetResult();
    }

    /// <summary>Gives its partitions away from now on, and takes none.</summary>
    /// <param name="isStopping">Whether it is about to stop, and has little time.</param>
    public void Drain(bool isStopping = false)
    {
        IsStopping |= isStopping;
        _state = MemberState.Draining;
        _table.Apply(Compose([]));
        _wake.Set();
        WakeAll();
    }

    /// <summary>Partitions that are there: places are found for all of a topic at once.</summary>
    public void Know(IEnumerable<PartitionId> partitions) => _table.Know(partitions);

    /// <summary>Which partitions are to be led elsewhere, so that they are spread evenly.</summary>
    /// <param name="movesPinned">Whether those that an operator has moved are spread as well.</param>
    public IReadOnlyList<(PartitionId Id, string From, string To)> Plan(bool movesPinned) => _table.Plan(movesPinned);

    /// <summary>What operators have moved, and the nodes that lead it.</summary>
    public IReadOnlyList<(PartitionId Id, string Leader)> Pinned() => _table.Pinned();

    /// <summary>What is known of a partition.</summary>
    public Situation Of(PartitionId partition) => _table.Of(partition, Node);

    /// <summary>A node, if it has been heard of.</summary>
    public Member? Find(string node) => _table.Find(node);

    /// <summary>What the clock of a node says now; this node's where the other has not said its own.</summary>
    public DateTimeOffset TimeAt(string node) => _clocks.TimeAt(node);

    /// <summary>The partitions that a node leads.</summary>
    public IReadOnlyList<PartitionId> LedBy(string node) => _table.LedBy(node);

    /// <summary>The entries that other nodes have yet to read of what a node is about to hand over.</summary>
    public long EntriesLeft(string node) => _table.EntriesLeft(node);

    /// <summary>Where clients find the leader of a partition, and its epoch.</summary>
    public (uint Epoch, string Address) LeaderOf(PartitionId partition)
    {
        Situation now = _table.Of(partition, Node);
        string node = now.IsLed ? now.Leader : now.ReleasedTo;
        return (now.Epoch, node == Node ? "" : _table.Find(node)?.DataAddress ?? "");
    }

    /// <summary>Wakes with every change that may concern a partition.</summary>
    public Signal Watch(PartitionId partition) => _watchers[partition] = new Signal();

    /// <summary>A topic is gone, or this node goes.</summary>
    public void Unwatch(PartitionId partition)
    {
        _watchers.TryRemove(partition, out _);
        lock (_lock)
            _own.Remove(partition);
        _table.Forget(partition);
    }

    /// <summary>From now on what is told of a partition says up to where its stream has confirmed.</summary>
    /// <param name="partition">The partition.</param>
    /// <param name="end">One behind the last offset; null when the node does not lead it any more.</param>
    public void SayEnd(PartitionId partition, Func<long>? end)
    {
        if (end is null)
            _ends.TryRemove(partition, out _);
        else
            _ends[partition] = end;
    }

    /// <summary>Says what this node is to a partition; at once, and with everything else again and again.</summary>
    public void Tell(PartitionNews news)
    {
        news = WithEnd(news);
        lock (_lock)
        {
            if (news.Stand is PartitionStand.Follows or PartitionStand.Released)
                _own.Remove(news.Id);
            else
                _own[news.Id] = news;
            _news.Add(news);
        }
        _wake.Set();
        Announce(_table.ApplyOwn(Node, news));
    }

    /// <summary>Has another node do something, and waits until it has.</summary>
    /// <returns>Why it was not done; empty when it was.</returns>
    public async Task<string> AskAsync(MemberCommand command, CancellationToken cancellationToken) =>
        (await AskForAsync(command, cancellationToken).ConfigureAwait(false)).Refusal;

    /// <summary>The same, for what the other node says.</summary>
    public Task<MemberAnswer> AskForAsync(MemberCommand command, CancellationToken cancellationToken) =>
        command.Node == Node ? ExecuteAsync(command) : _questions.AskAsync(command, cancellationToken);

    /// <summary>Says that it leaves.</summary>
    public async ValueTask DisposeAsync()
    {
        if (_running is { } running && !_stop.IsCancellationRequested)
        {
            await _stop.CancelAsync().ConfigureAwait(false);
            await running.ConfigureAwait(false);
            if (_advertised.Task.IsCompleted)
            {
                await PublishNewsAsync().ConfigureAwait(false);
                _state = MemberState.Left;
                await PublishAsync(() => Compose([])).ConfigureAwait(false);
            }
        }
    }

    private Task<MemberAnswer> ExecuteAsync(MemberCommand command)
    {
        if (!command.IsDrain)
            return Executing(command);
        Drain();
        return Task.FromResult(new MemberAnswer(command.Id));
    }

    private async Task RunAsync()
    {
        try
        {
            await _advertised.Task.WaitAsync(_stop.Token).ConfigureAwait(false);
            IAsyncDisposable listening = await ListenAsync().ConfigureAwait(false);
            await using (listening.ConfigureAwait(false))
                await SpeakAsync().ConfigureAwait(false);
        }
        catch (OperationCanceledException) when (_stop.IsCancellationRequested)
        {
            // It leaves.
        }
    }

    private async Task<IAsyncDisposable> ListenAsync()
    {
        while (true)
        {
            try
            {
                return await _options.Engine.ListenAsync(_channel, OnMessage, _stop.Token).ConfigureAwait(false);
            }
            catch (ReplicationException)
            {
                await Task.Delay(Options.Silence, _time, _stop.Token).ConfigureAwait(false);
            }
        }
    }

    private async Task SpeakAsync()
    {
        long full = 0;
        Task woken = _wake.WaitAsync(_stop.Token).AsTask();
        while (true)
        {
            Announce(_table.Look()); // First: a process that was stopped finds out who took it for dead, itself too.
            bool isNews = await PublishNewsAsync().ConfigureAwait(false);
            if (full == 0 || _time.GetElapsedTime(full) >= Options.FullEvery)
            {
                full = _time.GetTimestamp();
                await PublishAllAsync().ConfigureAwait(false);
            }
            else if (!isNews)
            {
                await PublishAsync(() => Compose([])).ConfigureAwait(false);
            }
            Settle();
            await Task.WhenAny(woken, Task.Delay(Options.Heartbeat, _time, _stop.Token)).ConfigureAwait(false);
            _stop.Token.ThrowIfCancellationRequested();
            if (woken.IsCompleted)
                woken = _wake.WaitAsync(_stop.Token).AsTask();
        }
    }

    /// <summary>
    /// It knows who else there is when it has heard itself, and the others, for as long as any may be silent.
    /// </summary>
    private void Settle()
    {
        lock (_lock)
        {
            bool isFree = _isRefused && _time.GetElapsedTime(_rivalHeard) >= Options.Silence;
            if (_isRefused && !isFree)
                return; // It does not settle: the other process was there first.
            if (isFree)
                (_isRefused, _rival) = (false, default);
            bool settles = _isListening && IsHeard && _time.GetElapsedTime(_heardSince) >= Options.Silence;
            if (settles)
                (_isSettled, _isListening) = (true, false);
            if (!isFree && !settles)
                return;
        }
        WakeAll();
    }

    private async Task<bool> PublishNewsAsync()
    {
        PartitionNews[] news;
        lock (_lock)
        {
            news = [.. _news];
            _news.Clear();
        }
        foreach (PartitionNews[] some in news.Chunk(PartitionsPerMessage))
            await PublishAsync(() => Compose(some)).ConfigureAwait(false);
        return news.Length != 0;
    }

    private async Task PublishAllAsync()
    {
        PartitionNews[][] parts;
        lock (_lock)
            parts = [.. _own.Values.Chunk(PartitionsPerMessage)];
        int count = Math.Max(1, parts.Length); // That it leads nothing is said, too.
        for (int i = 0; i < count; i++)
        {
            int part = i;
            PartitionNews[] some = parts.Length == 0 ? [] : [.. parts[i].Select(WithEnd)];
            await PublishAsync(() =>
                    Compose(some) with
                    {
                        Part = part,
                        Parts = count,
                        Conditions = part == 0 ? _options.Conditions.Told : null,
                    }
                )
                .ConfigureAwait(false);
        }
    }

    private PartitionNews WithEnd(PartitionNews news) =>
        news.Stand is PartitionStand.Leads or PartitionStand.Released && _ends.TryGetValue(news.Id, out Func<long>? end)
            ? news with
            {
                End = end(),
            }
            : news;

    private MemberMessage Compose(IReadOnlyList<PartitionNews> news)
    {
        lock (_lock)
        {
            return new MemberMessage
            {
                Node = Node,
                Run = Run,
                Order = ++_order,
                State = _state,
                IsSettled = _isSettled,
                IsUnfit = _isUnfit,
                Data = _data,
                Control = _control,
                Version = _options.Version,
                Time = _time.GetUtcNow().ToUnixTimeMilliseconds(),
                Partitions = news,
            };
        }
    }

    private Task Send(MemberCommand? command, MemberAnswer? answer) =>
        PublishAsync(() => Compose([]) with { Command = command, Answer = answer });

    /// <summary>One at a time: a message that overtakes another one makes it an old one.</summary>
    private async Task PublishAsync(Func<MemberMessage> compose)
    {
        await _speaking.WaitAsync().ConfigureAwait(false);
        try
        {
            await _options
                .Engine.PublishAsync(_channel, compose().Encode(), CancellationToken.None)
                .ConfigureAwait(false);
        }
        finally
        {
            _speaking.Release();
        }
    }

    private void OnMessage(ReadOnlyMemory<byte> bytes)
    {
        MemberMessage message;
        try
        {
            message = MemberMessage.Decode(bytes.Span);
        }
        catch (JsonException)
        {
            return; // Of a later version, or of none: only LightQ publishes here.
        }
        if (message.Node == Node)
        {
            OnOwnName(message);
            // What it leads it knows better.
            if (message.Run == Run)
                message = message with { Partitions = [], Part = null, Command = null, Answer = null };
        }
        else if (message.Time != 0)
        {
            _clocks.Note(message.Node, DateTimeOffset.FromUnixTimeMilliseconds(message.Time));
        }
        if (message.Conditions is { } conditions && message.Node != Node)
            _options.Conditions.OnTold(message.Node, conditions);
        Announce(_table.Apply(message));
        if (message.Command is { } command && command.Node == Node && message.Node != Node)
            _questions.OnCommand(command, ExecuteAsync);
        if (message.Answer is { } answer)
            _questions.OnAnswer(answer);
    }

    private void OnOwnName(MemberMessage message)
    {
        bool isKept;
        lock (_lock)
        {
            if (message.Run == Run)
            {
                long now = _time.GetTimestamp();
                // It was cut off: those that it has not heard of meanwhile are not dead.
                if (!IsHeard)
                    (_isListening, _heardSince) = (true, now);
                (_heard, _hasHeard) = (now, true);
                return;
            }
            isKept = MemberMessage.Keeps(_isSettled, Run, message.IsSettled, message.Run);
            bool isKnown = _rival == message.Run && _isRefused == !isKept;
            (_rival, _rivalHeard, _isRefused) = (message.Run, _time.GetTimestamp(), !isKept);
            if (isKnown || message.State == MemberState.Left)
                return;
        }
        Events?.OnNameTaken(Node, isKept);
    }

    private void Announce(MemberChange change)
    {
        foreach (Member member in change.Joined.Where(member => member.Name != Node))
            Events?.OnJoined(member);
        foreach (Member member in change.Gone.Where(member => member.Name != Node))
        {
            _clocks.Forget(member.Name);
            Events?.OnGone(member);
        }
        if (change.IsOfNodes || change.Partitions.Count != 0)
        {
            Interlocked
                .Exchange(ref _changed, new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously))
                .TrySetResult();
        }
        if (change.IsOfNodes)
        {
            WakeAll();
            return;
        }
        foreach (PartitionId partition in change.Partitions)
        {
            if (_watchers.TryGetValue(partition, out Signal? watcher))
                watcher.Set();
        }
    }

    private void WakeAll()
    {
        foreach (Signal watcher in _watchers.Values)
            watcher.Set();
    }
}
