namespace LightQ.Client.Administration;

/// <summary>Which events of a broker's audit log are asked for.</summary>
public sealed record AuditEventQuery
{
    /// <summary>The event's name, such as <c>login-refused</c>, or its beginning. Null, the default: all.</summary>
    public string? Event { get; init; }

    /// <summary>
    /// The principal who did it, such as <c>user:alice</c>, <c>admin</c> or <c>broker</c>. Null, the default: all.
    /// </summary>
    public string? Actor { get; init; }

    /// <summary>The user, topic or group (<c>TOPIC/GROUP</c>) that it was done to. Null, the default: all.</summary>
    public string? Subject { get; init; }

    /// <summary>When it happened at the earliest. Null, the default: at any time.</summary>
    public DateTimeOffset? Since { get; init; }

    /// <summary>The time before which it happened. Null, the default: at any time.</summary>
    public DateTimeOffset? Until { get; init; }

    /// <summary>
    /// Only lines with a higher number, oldest first; 0 for all of them. Null, the default: newest first.
    /// </summary>
    public long? After
    {
        get;
        init =>
            field = value is null or >= 0
                ? value
                : throw new ArgumentOutOfRangeException(nameof(After), value, "0 or more");
    }

    /// <summary>Most events of the page, 0 to 1000; 0, the default, means 100.</summary>
    public int PageSize
    {
        get;
        init =>
            field = value is >= 0 and <= 1000
                ? value
                : throw new ArgumentOutOfRangeException(nameof(PageSize), value, "0 to 1000");
    }

    /// <summary>
    /// <see cref="AuditEventPage.NextPageToken"/> of the page before, which was asked for in the same way. Null, the
    /// default: the first page.
    /// </summary>
    public string? PageToken { get; init; }
}
