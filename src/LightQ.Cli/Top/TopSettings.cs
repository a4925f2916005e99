namespace LightQ.Cli.Top;

/// <summary>What <c>lightq top</c> was asked for.</summary>
internal sealed record TopSettings
{
    /// <summary>The view to begin with.</summary>
    public required string View { get; init; }

    /// <summary>The column to sort it by; null for its usual one.</summary>
    public string? Sort { get; init; }

    public bool IsReversed { get; init; }

    /// <summary>How many rows at most; null for all, or as many as the window shows.</summary>
    public int? Most { get; init; }

    /// <summary>Between two readings.</summary>
    public required TimeSpan Interval { get; init; }

    /// <summary>The broker, as it is shown.</summary>
    public required string Server { get; init; }
}
