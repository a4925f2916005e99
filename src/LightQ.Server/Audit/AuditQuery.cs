namespace LightQ.Server.Audit;

/// <summary>Which lines of the log are asked for.</summary>
/// <param name="Size">Most lines and damages of the page.</param>
/// <param name="Event">The beginning of the event's name; empty for all.</param>
/// <param name="Actor">The user who did it; empty for all.</param>
/// <param name="Subject">What it was done to; empty for all.</param>
/// <param name="Since">When it happened at the earliest; null for any time.</param>
/// <param name="Until">The time before which it happened; null for any time.</param>
/// <param name="After">Only higher numbers, oldest first; null for newest first.</param>
/// <param name="Position">Where the page before ended; null for the first page.</param>
internal sealed record AuditQuery(
    int Size,
    string Event = "",
    string Actor = "",
    string Subject = "",
    DateTimeOffset? Since = null,
    DateTimeOffset? Until = null,
    long? After = null,
    AuditPosition? Position = null
)
{
    /// <summary>How far a clock may have been set back between two lines.</summary>
    private static readonly TimeSpan ClockStep = TimeSpan.FromHours(1);

    /// <summary>Whether older lines come first.</summary>
    public bool IsOldestFirst => After is not null;

    /// <summary>Whether a line is asked for.</summary>
    public bool Matches(AuditLine line) =>
        line.Event.StartsWith(Event, StringComparison.Ordinal)
        && (Actor.Length == 0 || Actor == line.Actor)
        && (Subject.Length == 0 || Subject == line.Subject)
        && (Since is null || line.Time >= Since)
        && (Until is null || line.Time < Until)
        && (After is null || line.Sequence > After);

    /// <summary>Whether a line stands so far outside the times asked for that no line behind it can match.</summary>
    public bool IsBeyond(AuditLine line) =>
        IsOldestFirst ? line.Time - ClockStep >= Until : line.Time + ClockStep < Since;
}
