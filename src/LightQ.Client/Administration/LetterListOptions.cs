namespace LightQ.Client.Administration;

/// <summary>Which dead letters are listed, and how much of them.</summary>
public sealed record LetterListOptions
{
    /// <summary>Only letters from this offset of the dead-letter topic on. The default is 0: from the first.</summary>
    public long StartOffset
    {
        get;
        init
        {
            ArgumentOutOfRangeException.ThrowIfNegative(value);
            field = value;
        }
    }

    /// <summary>Only of originals of this partition; null, the default, for all.</summary>
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

    /// <summary>Whether letters that are settled are listed, too. The default is false.</summary>
    public bool IncludeSettled { get; init; }

    /// <summary>Most letters of a page, 1 to 1,000; a page of 1 MiB has fewer. The default is 100.</summary>
    public int PageSize
    {
        get;
        init => field = BrowseOptions.CheckPageSize(value);
    } = 100;

    /// <summary>Most bytes of each body, 0 to 1 MiB. The default is 64 KiB.</summary>
    public int MaxBodyBytes
    {
        get;
        init => field = BrowseOptions.CheckBodyBytes(value);
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
}
