namespace LightQ.Broker.Cluster;

/// <summary>How long nodes wait for each other.</summary>
internal sealed record MemberOptions
{
    /// <summary>
    /// How often a node says that it is alive. Default 150 ms: five may be lost before <see cref="Silence"/> is over.
    /// </summary>
    public TimeSpan Heartbeat { get; init; } = TimeSpan.FromMilliseconds(150);

    /// <summary>
    /// A node that has not been heard of for so long is dead. Default 0.8 s: a pause of the garbage collector or of a
    /// busy machine is shorter, and clients wait no longer than for an election of the engine's servers.
    /// </summary>
    public TimeSpan Silence { get; init; } = TimeSpan.FromSeconds(0.8);

    /// <summary>
    /// How often a node says all that it leads, for nodes that have just come and for what was lost. Default 1 s.
    /// </summary>
    public TimeSpan FullEvery { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>
    /// How long each next choice waits for the one before it, when a partition has no leader. Default 250 ms: the first
    /// choice says within a heartbeat that it claims.
    /// </summary>
    public TimeSpan NextChoice { get; init; } = TimeSpan.FromMilliseconds(250);

    /// <summary>
    /// How long the others leave a partition to a node that has said that it claims it. Default 5 s: it reads up to 64
    /// MiB, and then the engine may be electing a leader.
    /// </summary>
    public TimeSpan LongestClaim { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// How long a partition may have no leader before that is a condition. Default 10 s: elections of the engine and
    /// claims are over by then.
    /// </summary>
    public TimeSpan UnledFor { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>
    /// How long the others leave a partition to the node that it was released to. Default 0.5 s: that one says at once
    /// that it claims.
    /// </summary>
    public TimeSpan TakeUp { get; init; } = TimeSpan.FromSeconds(0.5);

    /// <summary>
    /// How long a partition must be placed at a node before it asks the leader for it. Default 1 s: while nodes come,
    /// go and claim, each hears of it at another moment, and nothing is to move for that.
    /// </summary>
    public TimeSpan WantAfter { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>
    /// A node that could not claim a partition does not ask for it again for so long, while another one leads it.
    /// Default 30 s: what was wrong with its disk is not mended sooner.
    /// </summary>
    public TimeSpan WantAgain { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>
    /// How long a node that could not serve what it led must be able to before it counts as fit again. Default 5 s, and
    /// after each relapse twice as long: a disk with room for a moment would else send partitions to and fro.
    /// </summary>
    public TimeSpan FitAgain { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// How long a leader that hands a partition over waits until what it took is confirmed. Default 5 s: the engine may
    /// be electing a leader.
    /// </summary>
    public TimeSpan LongestHandover { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// A node that is asked to take a partition over, and does not say within that time that it reads it, gets it all
    /// the same. Default 1 s: it may be of a version that reads nothing ahead.
    /// </summary>
    public TimeSpan TakerAnswer { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>
    /// A node that reads a partition to take it over, and gets no further for so long, is passed over. Default 10 s:
    /// the engine may be electing a leader.
    /// </summary>
    public TimeSpan TakerStall { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>
    /// How long a node that drains waits for one that reads before it asks the next, which may have less to read.
    /// Default 15 s: it reads some GiB.
    /// </summary>
    public TimeSpan NextTaker { get; init; } = TimeSpan.FromSeconds(15);

    /// <summary>
    /// The same of a node that stops. Default 1 s: it has no more than five by default.
    /// </summary>
    public TimeSpan NextTakerAtStop { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>
    /// How long streams stay open until the new leader has said that it leads. Default 1 s: a client that is sent there
    /// earlier is refused and tries again.
    /// </summary>
    public TimeSpan LongestGap { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>How long a node that asks another one waits for its answer. Default 10 s.</summary>
    public TimeSpan AnswerTimeout { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>How often it asks until then: questions may be lost. Default 0.5 s.</summary>
    public TimeSpan AskAgain { get; init; } = TimeSpan.FromSeconds(0.5);

    /// <summary>
    /// A node that leads nothing and has been silent for so long is forgotten. Default 10 minutes: until then operators
    /// see which one is missing.
    /// </summary>
    public TimeSpan ForgetAfter { get; init; } = TimeSpan.FromMinutes(10);
}
