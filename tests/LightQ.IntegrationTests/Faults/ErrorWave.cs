namespace LightQ.IntegrationTests.Faults;

/// <summary>One error that the system gives at the same time to every kind of file of a running broker.</summary>
/// <param name="Error">EIO, ENOSPC, EDQUOT or EINTR.</param>
/// <param name="Calls">write, sync, name (to open and to rename), or all.</param>
/// <param name="IsForGood">
/// Whether every call says so, or only the first of each thread; of EINTR every second one does for good, or nothing
/// would ever end.
/// </param>
internal sealed record ErrorWave(string Error, string Calls, bool IsForGood)
{
    private static readonly Dictionary<string, string[]> SystemCalls = new()
    {
        ["write"] = ["pwrite64", "write", "fallocate"],
        ["sync"] = ["fdatasync", "fsync"],
        ["name"] = ["openat", "rename"],
        ["all"] = ["pwrite64", "write", "fallocate", "ftruncate", "fdatasync", "fsync", "openat", "rename"],
    };

    /// <summary>The whole matrix.</summary>
    public static IEnumerable<ErrorWave> All { get; } =
    [
        .. from isForGood in new[] { false, true }
        from kind in new[]
        {
            "EIO write",
            "EIO sync",
            "EIO name",
            "ENOSPC write",
            "ENOSPC sync",
            "EDQUOT write",
            "EDQUOT sync",
            "EINTR all",
        }
        let words = kind.Split(' ')
        select new ErrorWave(words[0], words[1], isForGood),
    ];

    /// <summary>Names what is made for this wave.</summary>
    public string Name => $"{Error}-{Calls}-{(IsForGood ? "always" : "once")}".ToLowerInvariant();

    /// <summary>Whether nobody is to notice.</summary>
    public bool IsHarmless => Error == "EINTR";

    /// <summary>Whether the disk is full: that passes, and nothing fails for good.</summary>
    public bool IsFull => Error is "ENOSPC" or "EDQUOT" && Calls == "write";

    /// <summary>
    /// Whether it hits what is appended to files that are open: those of the catalog, the positions and the audit log.
    /// </summary>
    public bool HitsState => !IsHarmless && Calls != "name";

    /// <summary>
    /// Of which files calls are hit for sure. A thread has its one error where it first gets to: that of snapshots of
    /// producers makes segments, too, and those of the audit log write the catalog. Every second call may be another's.
    /// </summary>
    public IEnumerable<string> Hits =>
        [
            "/checkpoint",
            ".seg",
            .. IsForGood && !IsHarmless ? new[] { ".producers" } : [],
            .. Calls != "name" ? new[] { "/catalog/", "/groups/" } : [],
            .. Calls != "name" && IsForGood ? new[] { "/audit/" } : [],
        ];

    /// <summary>What strace is told.</summary>
    public IReadOnlyList<string> Injections =>
        [
            .. SystemCalls[Calls]
                .Select(c => $"{c}:error={Error}:when={(!IsForGood ? "1" : IsHarmless ? "1+2" : "1+")}"),
        ];
}
