using LightQ.Protocol.Frames;

namespace LightQ.Client.Administration;

/// <summary>Which messages of a topic are shown, and how much of them.</summary>
/// <example>
/// <code>
/// new BrowseOptions { Last = 20 }
/// new BrowseOptions { Start = StartPosition.Time(DateTimeOffset.UtcNow.AddMinutes(-15)), Key = "42" }
/// </code>
/// </example>
public sealed record BrowseOptions
{
    /// <summary>
    /// The partition. Null, the default, for the one that the topic's address names (<c>orders/3</c>); without one, all
    /// of them, one after the other, or with a key the one that the key is routed to.
    /// </summary>
    public int? Partition
    {
        get;
        init
        {
            if (value is { } partition)
                ArgumentOutOfRangeException.ThrowIfNegative(partition, nameof(value));
            field = value;
        }
    }

    /// <summary>
    /// Where to begin in each partition: earliest, an offset of one partition, or a time. The default value is
    /// earliest.
    /// </summary>
    /// <exception cref="ArgumentException">It is latest or committed.</exception>
    public StartPosition Start
    {
        get;
        init =>
            field = value.Kind is null or StartKind.Earliest or StartKind.Offset or StartKind.Timestamp
                ? value
                : throw new ArgumentException(
                    "A topic is browsed from the earliest message, an offset or a time on.",
                    nameof(value)
                );
    }

    /// <summary>
    /// Begins so many offsets before the end of each partition instead of at <see cref="Start"/>; 1 or more. Null, the
    /// default: <see cref="Start"/> decides.
    /// </summary>
    public long? Last
    {
        get;
        init
        {
            if (value is { } last)
                ArgumentOutOfRangeException.ThrowIfNegativeOrZero(last, nameof(value));
            field = value;
        }
    }

    /// <summary>
    /// Only messages with this key. The broker reads the partition from the start on for them, at most 32 MiB for a
    /// page, so that a page may be empty. The default value: all messages.
    /// </summary>
    public MessageKey Key { get; init; }

    /// <summary>
    /// Most messages of a page, 1 to 1,000; a page of 1 MiB has fewer. The default is 100.
    /// </summary>
    public int PageSize
    {
        get;
        init => field = CheckPageSize(value);
    } = 100;

    /// <summary>Most bytes of each body, 0 to 1 MiB. The default is 64 KiB.</summary>
    public int MaxBodyBytes
    {
        get;
        init => field = CheckBodyBytes(value);
    } = 64 * 1024;

    /// <summary>
    /// How many bytes of each body are left out at its beginning: so a large body is read in parts. The default is 0.
    /// </summary>
    public long BodyOffset
    {
        get;
        init
        {
            ArgumentOutOfRangeException.ThrowIfNegative(value);
            field = value;
        }
    }

    internal static int CheckPageSize(int value)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(value, 1);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(value, 1_000);
        return value;
    }

    internal static int CheckBodyBytes(int value)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(value);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(value, 1024 * 1024);
        return value;
    }
}
