using LightQ.Tests.Fuzzing.Targets;

namespace LightQ.Tests.Fuzzing;

/// <summary>
/// Every parser of bytes or text that come from outside the process: from a peer, a file, a command line.
/// </summary>
internal static class FuzzTargets
{
    /// <summary>All of them, those that take the least time first.</summary>
    public static IEnumerable<FuzzTarget> All() =>
        [
            .. FrameTargets.All(),
            .. BatchTargets.All(),
            .. StorageTargets.All(),
            .. StateTargets.All(),
            .. ClientTargets.All(),
            .. TextTargets.All(),
            .. ServerTargets.All(),
            .. JsonTargets.All(),
            .. AuditTargets.All(),
            .. TlsTargets.All(),
            .. SessionTargets.All(),
        ];

    /// <summary>Inputs that were faults once, from the folder of a target: the files of <c>Fuzzing/Found</c>.</summary>
    public static IReadOnlyList<byte[]> FoundBy(string target)
    {
        string folder = Path.Combine(AppContext.BaseDirectory, "Fuzzing", "Found", target);
        return Directory.Exists(folder)
            ? [.. Directory.GetFiles(folder).Order(StringComparer.Ordinal).Select(File.ReadAllBytes)]
            : [];
    }
}
