namespace LightQ.Broker.Cluster;

/// <summary>How long a node waits before it claims a partition again, and whether it asks for it meanwhile.</summary>
internal sealed class ClaimPause(MemberOptions options, TimeProvider time)
{
    private static readonly TimeSpan Shortest = TimeSpan.FromMilliseconds(50),
        Longest = TimeSpan.FromSeconds(1);

    private TimeSpan _pause;
    private long _since;

    /// <summary>Whether it could not claim the partition when it tried last.</summary>
    public bool IsFailing { get; private set; }

    /// <summary>What is left of the pause; zero or less when it may claim.</summary>
    public TimeSpan Left => _pause - time.GetElapsedTime(_since);

    /// <summary>What is left until it may ask another leader for the partition; zero or less when it may.</summary>
    public TimeSpan LeftToAsk => IsFailing ? options.WantAgain - time.GetElapsedTime(_since) : TimeSpan.Zero;

    /// <summary>The node leads it.</summary>
    public void OnLeads() => (_pause, IsFailing) = (TimeSpan.Zero, false);

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

    /// <summary>Its leader has passed the node over.</summary>
    public void OnPassedOver() => (IsFailing, _since) = (true, time.GetTimestamp());
}
