namespace LightQ.Broker.Cluster;

/// <summary>
/// What a node has heard: who is alive, and who leads which partition. Knows no channel and no threads; each member may
/// be called from any.
/// </summary>
internal sealed class MemberTable(MemberOptions options, TimeProvider time)
{
    private readonly Lock _lock = new();
    private readonly Dictionary<string, Node> _nodes = new(StringComparer.Ordinal);
    private readonly Dictionary<PartitionId, View> _views = [];
    private readonly HashSet<PartitionId> _known = [];
    private readonly HashSet<PartitionId> _moved = []; // Placed elsewhere since those that watch were told.
    private IReadOnlyDictionary<PartitionId, string> _places = new Dictionary<PartitionId, string>();
    private string[] _placed = [];
    private bool _arePlacesOld;

    /// <summary>The nodes, those that are gone for a while too, by name.</summary>
    public IReadOnlyList<Member> Members
    {
        get
        {
            lock (_lock)
                return [.. _nodes.Values.OrderBy(node => node.Name, StringComparer.Ordinal).Select(Describe)];
        }
    }

    /// <summary>A node said something.</summary>
    public MemberChange Apply(MemberMessage message)
    {
        var change = new MemberChange();
        lock (_lock)
        {
            if (Find(message, change) is not { } node)
                return change;
            foreach (PartitionNews news in message.Partitions)
                Apply(node, news, change);
            if (message.Part is { } part)
                Round(node, message, part, change);
            if (message.State == MemberState.Left)
                Leave(node, change);
            Forget(change);
        }
        return change;
    }

    /// <summary>This node has changed something, which it says to the others next.</summary>
    public MemberChange ApplyOwn(string node, PartitionNews news)
    {
        var change = new MemberChange();
        lock (_lock)
        {
            if (_nodes.TryGetValue(node, out Node? own)) // Else it has not heard itself for long.
                Apply(own, news, change);
            Forget(change);
        }
        return change;
    }

    /// <summary>
    /// Notices who has been silent for too long, and what is placed elsewhere since the last look: that depends on all
    /// other partitions, of which nobody tells those that wait for this one.
    /// </summary>
    public MemberChange Look()
    {
        var change = new MemberChange();
        lock (_lock)
        {
            foreach (Node node in _nodes.Values)
            {
                if (node.IsNoticed && SilenceOf(node) >= options.Silence)
                    Leave(node, change);
            }
            foreach (Node node in _nodes.Values.Where(IsForgotten).ToArray())
                _nodes.Remove(node.Name);
            Places();
            change.Partitions.UnionWith(_moved);
            _moved.Clear();
        }
        return change;
    }

    /// <summary>What is known of a partition.</summary>
    /// <param name="partition">The partition.</param>
    /// <param name="self">The node that asks: what it claims itself it knows.</param>
    public Situation Of(PartitionId partition, string self)
    {
        lock (_lock)
        {
            string[] all = Placement.Order(
                _nodes.Values.Where(node => IsLive(node) && node.State == MemberState.Alive).Select(node => node.Name),
                partition
            );
            _views.TryGetValue(partition, out View? view);
            string[] fit = [.. all.Where(node => CanServe(_nodes[node], partition, view))];
            if (Places().TryGetValue(partition, out string? first) && fit.Contains(first))
                fit = [first, .. fit.Where(node => node != first)];
            string[] ranking = [.. fit, .. all.Except(fit)];
            Node? claimant = _nodes.Values.FirstOrDefault(node =>
                node.Name != self && node.Claims.ContainsKey(partition) && IsLive(node)
            );
            return new Situation
            {
                Leader = view?.Node ?? "",
                Epoch = view?.Epoch ?? 0,
                End = view?.End ?? 0,
                IsLed = IsLed(view),
                IsPinned = view is { IsPinned: true },
                NextLeader = IsLed(view) ? view!.Next : "",
                Takers = TakersOf(partition),
                ReleasedTo = view is { IsReleased: true } && IsLive(view.To) ? view.To : "",
                SinceRelease = view is { IsReleased: true } ? time.GetElapsedTime(view.Released) : TimeSpan.Zero,
                Claimant = claimant?.Name ?? "",
                SinceClaim = claimant is null ? TimeSpan.Zero : time.GetElapsedTime(claimant.Claims[partition]),
                Ranking = ranking,
                Fit = fit.Length,
                Settling = [.. ranking.Where(node => !_nodes[node].IsSettled)],
                IsWanted = ranking.Length != 0 && _nodes[ranking[0]].IsWanting(partition),
            };
        }
    }

    /// <summary>Which partitions are to be led elsewhere, so that they are spread evenly.</summary>
    /// <param name="movesPinned">Whether those that an operator has moved are spread as well.</param>
    public IReadOnlyList<(PartitionId Id, string From, string To)> Plan(bool movesPinned)
    {
        lock (_lock)
        {
            IReadOnlyDictionary<PartitionId, string> places = Balance.Of(
                Placed(movesPinned),
                _nodes.Values.Where(IsFit).Select(node => node.Name)
            );
            return
            [
                .. _views
                    .Where(v => IsLed(v.Value) && places.TryGetValue(v.Key, out string? to) && to != v.Value.Node)
                    .OrderBy(v => v.Key.Topic)
                    .ThenBy(v => v.Key.Partition)
                    .Select(v => (v.Key, v.Value.Node, places[v.Key])),
            ];
        }
    }

    /// <summary>What operators have moved, and the nodes that lead it.</summary>
    public IReadOnlyList<(PartitionId Id, string Leader)> Pinned()
    {
        lock (_lock)
            return [.. _views.Where(v => v.Value.IsPinned && IsLed(v.Value)).Select(v => (v.Key, v.Value.Node))];
    }

    /// <summary>Partitions that are there, whether or not a node has said something of them.</summary>
    public void Know(IEnumerable<PartitionId> partitions)
    {
        lock (_lock)
        {
            foreach (PartitionId partition in partitions.Where(_known.Add))
                _views.TryAdd(partition, new View());
            _arePlacesOld = true;
        }
    }

    /// <summary>A node of that name, if it has been heard of.</summary>
    public Member? Find(string name)
    {
        lock (_lock)
            return _nodes.TryGetValue(name, out Node? node) ? Describe(node) : null;
    }

    /// <summary>The partitions that a node leads, as far as it is alive.</summary>
    public IReadOnlyList<PartitionId> LedBy(string name)
    {
        lock (_lock)
            return [.. _views.Where(v => v.Value.Node == name && IsLed(v.Value)).Select(v => v.Key)];
    }

    /// <summary>
    /// The entries that other nodes have yet to read of the partitions that a node leads, and is about to hand over.
    /// </summary>
    public long EntriesLeft(string name)
    {
        lock (_lock)
        {
            return _views
                .Where(v => v.Value.Node == name && IsLed(v.Value))
                .SelectMany(v => TakersOf(v.Key).Where(taker => taker.Node == v.Value.Next))
                .Sum(taker => taker.Left ?? 0);
        }
    }

    /// <summary>A topic is gone.</summary>
    public void Forget(PartitionId partition)
    {
        lock (_lock)
        {
            _arePlacesOld = true;
            _known.Remove(partition);
            _views.Remove(partition);
            foreach (Node node in _nodes.Values)
            {
                node.Wants.Remove(partition);
                node.Lent.Remove(partition);
                node.Claims.Remove(partition);
                node.Takes.Remove(partition);
            }
        }
    }

    /// <summary>The places are found anew when something has changed that they depend on.</summary>
    private void Forget(MemberChange change)
    {
        if (change.IsOfNodes || change.Partitions.Count != 0)
            _arePlacesOld = true;
    }

    /// <summary>Where each partition is to be led, as long as the nodes are there that are now.</summary>
    private IReadOnlyDictionary<PartitionId, string> Places()
    {
        string[] fit = [.. _nodes.Values.Where(IsFit).Select(node => node.Name).Order(StringComparer.Ordinal)];
        if (!_arePlacesOld && fit.SequenceEqual(_placed))
            return _places;
        IReadOnlyDictionary<PartitionId, string> places = Balance.Of(Placed(movesPinned: false), fit);
        _moved.UnionWith(places.Where(p => _places.GetValueOrDefault(p.Key) != p.Value).Select(p => p.Key));
        _moved.UnionWith(_places.Keys.Where(id => !places.ContainsKey(id)));
        (_places, _placed, _arePlacesOld) = (places, fit, false);
        return places;
    }

    private List<PlacedPartition> Placed(bool movesPinned)
    {
        Dictionary<PartitionId, string> claims = [],
            lent = [];
        Dictionary<PartitionId, HashSet<string>> unable = [];
        foreach (Node node in _nodes.Values.Where(IsLive))
        {
            foreach (PartitionId id in node.Claims.Keys)
                claims[id] = node.Name;
            foreach (PartitionId id in node.Lent.Where(_ => IsFit(node)))
                lent[id] = node.Name;
            foreach ((PartitionId id, Taker taker) in node.Takes)
            {
                if (taker.Stand != PartitionStand.Unable || CanServe(node, id, _views.GetValueOrDefault(id)))
                    continue;
                if (!unable.TryGetValue(id, out HashSet<string>? nodes))
                    unable[id] = nodes = [];
                nodes.Add(node.Name);
            }
        }
        return
        [
            .. _views
                .Select(v => new PlacedPartition(
                    v.Key,
                    lent.TryGetValue(v.Key, out string? lender) ? lender
                        : IsLed(v.Value) ? v.Value.Node
                        : v.Value.IsReleased && IsLive(v.Value.To) ? v.Value.To
                        : claims.GetValueOrDefault(v.Key, ""),
                    v.Value.IsPinned && !movesPinned,
                    unable.TryGetValue(v.Key, out HashSet<string>? cannot) ? cannot : []
                ))
                // What is said late of a topic that is gone is no partition any more.
                .Where(placed => placed.Holder.Length != 0 || _known.Contains(placed.Id)),
        ];
    }

    /// <summary>
    /// Whether a node can serve a partition. One that is named by the leader to take it over, and says that it cannot,
    /// is passed over by the leader, which gives the reason.
    /// </summary>
    private bool CanServe(Node node, PartitionId partition, View? view) =>
        !node.IsUnfit
        && (
            !(node.Takes.TryGetValue(partition, out Taker taker) && taker.Stand == PartitionStand.Unable)
            || (view?.Next == node.Name && IsLed(view))
        );

    private bool IsFit(Node node) => IsLive(node) && node.State == MemberState.Alive && !node.IsUnfit;

    private Taker[] TakersOf(PartitionId partition) =>
        [
            .. _nodes
                .Values.Where(node => node.Takes.ContainsKey(partition) && IsLive(node))
                .Select(node => node.Takes[partition]),
        ];

    /// <returns>Who said it; null when it does not count.</returns>
    private Node? Find(MemberMessage message, MemberChange change)
    {
        if (_nodes.TryGetValue(message.Node, out Node? node))
        {
            if (node.Run == message.Run && message.Order <= node.Order)
                return null;
            if (node.Run != message.Run)
            {
                if (IsLive(node) && MemberMessage.Keeps(node.IsSettled, node.Run, message.IsSettled, message.Run))
                    return null;
                if (node.IsNoticed)
                    Leave(node, change);
                node = null;
            }
        }
        if (message.State == MemberState.Left && node is null)
            return null;
        node ??= _nodes[message.Node] = new Node(message.Node, message.Run);
        bool isNew = !node.IsNoticed;
        change.IsOfNodes |=
            isNew
            || node.State != message.State
            || node.IsSettled != message.IsSettled
            || node.Data != message.Data
            || node.Control != message.Control
            || node.IsUnfit != message.IsUnfit;
        (node.Order, node.Heard, node.IsNoticed) = (message.Order, time.GetTimestamp(), true);
        (node.State, node.IsSettled, node.Version) = (message.State, message.IsSettled, message.Version);
        (node.Data, node.Control, node.IsUnfit) = (message.Data, message.Control, message.IsUnfit);
        if (isNew)
            change.Joined.Add(Describe(node));
        return node;
    }

    private void Apply(Node node, PartitionNews news, MemberChange change)
    {
        bool isNew = !_views.TryGetValue(news.Id, out View? view);
        if (isNew)
            _views[news.Id] = view = new View();
        View before = view!.Copy();
        (bool, bool, bool, Taker?) said = node.SaysOf(news.Id);
        if (news.Stand == PartitionStand.Wants)
            node.Wants.Add(news.Id);
        else
            node.Wants.Remove(news.Id);
        if (news.IsLent)
            node.Lent.Add(news.Id);
        else
            node.Lent.Remove(news.Id);
        if (news.Stand == PartitionStand.Claims)
            node.Claims.TryAdd(news.Id, time.GetTimestamp());
        else
            node.Claims.Remove(news.Id);
        if (news.Stand is PartitionStand.Prepares or PartitionStand.Ready or PartitionStand.Unable)
            node.Takes[news.Id] = new Taker(node.Name, news.Stand, news.Left);
        else
            node.Takes.Remove(news.Id);
        // An epoch before the newest is old news, unless its stream was made anew.
        bool isOld = news.Epoch < view.Epoch && IsLed(view);
        if (news.Stand is PartitionStand.Leads or PartitionStand.Released && !isOld)
            view.End = news.Epoch == view.Epoch ? Math.Max(view.End, news.End) : news.End;
        if (news.Stand == PartitionStand.Leads && !isOld)
        {
            (view.Node, view.Run, view.Epoch) = (node.Name, node.Run, news.Epoch);
            (view.IsReleased, view.To, view.IsPinned) = (false, "", news.IsPinned);
            view.Next = news.To;
        }
        else if (news.Stand == PartitionStand.Released && !isOld && !IsKnown(view, news))
        {
            (view.Node, view.Run, view.Epoch) = (node.Name, node.Run, news.Epoch);
            (view.IsReleased, view.To, view.IsPinned) = (true, news.To, news.IsPinned);
            view.Released = time.GetTimestamp();
        }
        if (isNew || !view.IsAs(before) || said != node.SaysOf(news.Id))
            change.Partitions.Add(news.Id);
    }

    /// <summary>That it was released may be known already, from a round that it is not in; not to which node.</summary>
    private static bool IsKnown(View view, PartitionNews released) =>
        view.IsReleased && view.Epoch == released.Epoch && (released.To.Length == 0 || view.To == released.To);

    /// <summary>
    /// What a node does not name among all that it leads, it does not lead: that it was released was lost on the way.
    /// </summary>
    private void Round(Node node, MemberMessage message, int part, MemberChange change)
    {
        if (part == 0)
            (node.Round, node.Parts) = ([], 0);
        if (part != node.Parts)
            return; // One was lost: the next round will do.
        node.Parts++;
        foreach (PartitionNews news in message.Partitions)
            node.Round[news.Id] = news.Stand;
        if (node.Parts != message.Parts)
            return;
        foreach ((PartitionId id, View view) in _views)
        {
            bool isNamed = node.Round.TryGetValue(id, out PartitionStand stand);
            if (view.Node == node.Name && !view.IsReleased && !(isNamed && stand == PartitionStand.Leads))
            {
                (view.IsReleased, view.To, view.IsPinned) = (true, "", false);
                view.Released = time.GetTimestamp();
                change.Partitions.Add(id);
            }
            if (!(isNamed && stand == PartitionStand.Claims) && node.Claims.Remove(id))
                change.Partitions.Add(id);
        }
        foreach (PartitionId id in node.Takes.Keys.Where(id => !node.Round.ContainsKey(id)).ToArray())
        {
            node.Takes.Remove(id);
            change.Partitions.Add(id);
        }
        node.Wants.RemoveWhere(id => node.Round.GetValueOrDefault(id) != PartitionStand.Wants);
        if (node.Lent.RemoveWhere(id => !node.Round.ContainsKey(id)) != 0)
            _arePlacesOld = true;
        node.Round = [];
    }

    private void Leave(Node node, MemberChange change)
    {
        node.IsNoticed = false;
        node.Wants.Clear();
        node.Lent.Clear();
        node.Claims.Clear();
        node.Takes.Clear();
        change.IsOfNodes = true;
        change.Gone.Add(Describe(node));
    }

    private bool IsLed(View? view) => view is { IsReleased: false } && IsLive(view.Node, view.Run);

    private bool IsLive(string name) => name.Length != 0 && _nodes.TryGetValue(name, out Node? node) && IsLive(node);

    private bool IsLive(string name, Guid run) =>
        name.Length != 0 && _nodes.TryGetValue(name, out Node? node) && node.Run == run && IsLive(node);

    private bool IsLive(Node node) => node.IsNoticed && SilenceOf(node) < options.Silence;

    private bool IsForgotten(Node node) =>
        !node.IsNoticed && SilenceOf(node) >= options.ForgetAfter && !_views.Values.Any(v => v.Node == node.Name);

    private TimeSpan SilenceOf(Node node) => time.GetElapsedTime(node.Heard);

    private Member Describe(Node node) =>
        new(
            node.Name,
            node.Data,
            node.Control,
            node.Version,
            node.State,
            IsLive(node),
            SilenceOf(node),
            _views.Values.Count(v => v.Node == node.Name && IsLed(v)),
            node.IsUnfit
        );

    /// <summary>A node, as it described itself last.</summary>
    private sealed class Node(string name, Guid run)
    {
        public string Name { get; } = name;

        public Guid Run { get; } = run;

        public long Order { get; set; }

        public long Heard { get; set; }

        /// <summary>It is there, as far as the others were told.</summary>
        public bool IsNoticed { get; set; }

        public MemberState State { get; set; }

        public bool IsSettled { get; set; }

        public string Data { get; set; } = "";

        public string Control { get; set; } = "";

        public string Version { get; set; } = "";

        public bool IsUnfit { get; set; }

        public HashSet<PartitionId> Wants { get; } = [];

        /// <summary>What it wants because it led it, and gave it up only because it could not serve it.</summary>
        public HashSet<PartitionId> Lent { get; } = [];

        /// <summary>What it claims, and since when.</summary>
        public Dictionary<PartitionId, long> Claims { get; } = [];

        /// <summary>What it is to take over.</summary>
        public Dictionary<PartitionId, Taker> Takes { get; } = [];

        /// <summary>What the parts have named of a round that is arriving.</summary>
        public Dictionary<PartitionId, PartitionStand> Round { get; set; } = [];

        public int Parts { get; set; }

        /// <summary>Whether it asks for a partition, or reads it already to take it over.</summary>
        public bool IsWanting(PartitionId partition) =>
            Wants.Contains(partition)
            || (Takes.TryGetValue(partition, out Taker taker) && taker.Stand != PartitionStand.Unable);

        public (bool, bool, bool, Taker?) SaysOf(PartitionId partition) =>
            (
                Wants.Contains(partition),
                Lent.Contains(partition),
                Claims.ContainsKey(partition),
                Takes.TryGetValue(partition, out Taker taker) ? taker : null
            );
    }

    /// <summary>A partition, as the nodes described it last.</summary>
    private sealed class View
    {
        public string Node { get; set; } = "";

        public Guid Run { get; set; }

        public uint Epoch { get; set; }

        /// <summary>One behind the last offset that was confirmed in that epoch, as its leader has said.</summary>
        public long End { get; set; }

        public bool IsReleased { get; set; } = true;

        public string To { get; set; } = "";

        /// <summary>The node that its leader is about to hand it over to.</summary>
        public string Next { get; set; } = "";

        public bool IsPinned { get; set; }

        public long Released { get; set; }

        public View Copy() => (View)MemberwiseClone();

        public bool IsAs(View other) =>
            (Node, Run, Epoch, IsReleased, To, Next, IsPinned)
            == (other.Node, other.Run, other.Epoch, other.IsReleased, other.To, other.Next, other.IsPinned);
    }
}
