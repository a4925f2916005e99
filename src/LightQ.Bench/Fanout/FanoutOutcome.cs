namespace LightQ.Bench.Fanout;

/// <summary>What the processes of one run counted.</summary>
internal sealed record FanoutOutcome
{
    /// <summary>Messages published and acknowledged, those that warm up included.</summary>
    public long Published { get; init; }

    /// <summary>Deliveries that the broker has receipts for.</summary>
    public long Settled { get; init; }

    public long Lost { get; init; }

    public long Duplicated { get; init; }

    public long Reordered { get; init; }

    public long Damaged { get; init; }

    /// <summary>From when the first measured message was due until the last delivery.</summary>
    public double MeasuredSeconds { get; init; }
}
