namespace LightQ.Cli.Top;

/// <summary>A topic in <c>lightq top</c>. Rates are absent until they are measured.</summary>
internal sealed record TopTopic(
    string Topic,
    double? ReceiveRate,
    double? SendRate,
    double? ReceiveBytesRate,
    double? SendBytesRate
)
{
    /// <summary>Messages that the slowest subscription has not been sent.</summary>
    public long QueueSize { get; init; }

    /// <summary>The group with the largest lag; absent when none lags.</summary>
    public string? WorstGroup { get; init; }

    public long WorstGroupLag { get; init; }

    /// <summary>Messages in the dead-letter topic; absent where that may not be seen.</summary>
    public long? DeadLetters { get; init; }

    public long StoredBytes { get; init; }

    public int PublishersCount { get; init; }

    public int SubscribersCount { get; init; }
}
