namespace LightQ.Broker.Cluster;

/// <summary>How long a node waits before it claims a partition again, and whether it asks for it meanwhile.</summary>
internal sealed class ClaimPause(MemberOptions options, TimeProvider time)
{
    private static readonly TimeSpan Shortest = TimeSpan.FromMilliseconds(50),
        Longest = TimeSpan.FromSeconds(1),
        LongestUnable = TimeSpan.FromMinutes(10);

    private TimeSpan _pause;
    private long _since;
    private long _led;
    private long _unableSince;
    private TimeSpan _unable;

    /// <summary>
    /// What is left of the time in which others are to lead it, since this node's own copy of it is not to be had; zero
    /// or less when it may be tried again.
    /// </summary>
    public TimeSpan LeftUnable => _unable - time.GetElapsedTime(_unableSince);

    /// <summary>Whether it could not claim the partition when it tried last.</summary>
    public bool IsFailing { get; private set; }

    /// <summary>What is left of the pause; zero or less when it may claim.</summary>
    public TimeSpan Left => _pause - time.GetElapsedTime(_since);

    /// <summary>What is left until it may ask another leader for the partition; zero or less when it may.</summary>
    public TimeSpan LeftToAsk => IsFailing ? options.WantAgain - time.GetElapsedTime(_since) : TimeSpan.Zero;

    /// <summary>The node leads it.</summary>
    public void OnLeads() => (_pause, IsFailing, _led) = (TimeSpan.Zero, false, time.GetTimestamp());

    /// <summary>
    /// The node's own disk or journal does not serve the partition. When it had not led it for long since the last
    /// time, it takes twice as long until it tries again: so nothing goes to and fro.
    /// </summary>
    public void OnUnable()
    {
        TimeSpan next =
            _unable == TimeSpan.Zero || (_led != 0 && time.GetElapsedTime(_led) >= LongestUnable)
                ? options.WantAgain
                : 2 * _unable;
        (_unable, _unableSince) = (next < LongestUnable ? next : LongestUnable, time.GetTimestamp());
        OnFailedForLong();
    }

    /// <summary>Another node has claimed it first, and says so in a moment.</summary>
    public void OnYielded() => (_pause, _since) = (options.TakeUp, time.GetTimestamp());

    /// <summary>
    /// Another node says that it leads it. What that node releases to this one is not to wait for a pause that was
    /// meant for its word.
    /// </summary>
    public void OnLedElsewhere()
    {
        if (!IsFailing)
            _pause = TimeSpan.Zero;
    }

    /// <summary>The claim has failed: the next one comes later and later.</summary>
    public void OnFailed()
    {
        TimeSpan next = _pause == TimeSpan.Zero ? Shortest : 2 * _pause;
        (_pause, _since) = (next < Longest ? next : Longest, time.GetTimestamp());
        IsFailing = true;
    }

    /// <summary>
    /// It led the partition, and could not go on. Where no other node can, it tries again; not at once, since it may be
    /// so each time.
    /// </summary>
    public void OnFailedForLong() => (_pause, _since, IsFailing) = (Longest, time.GetTimestamp(), true);

    /// <summary>Its leader has passed the node over.</summary>
    public void OnPassedOver() => (IsFailing, _since) = (true, time.GetTimestamp());
}
