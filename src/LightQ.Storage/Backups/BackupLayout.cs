using System.Text.RegularExpressions;

namespace LightQ.Storage.Backups;

/// <summary>
/// Which files a backup may hold: a path that comes over the network or from a manifest never leads elsewhere.
/// </summary>
internal static partial class BackupLayout
{
    /// <summary>The directory of the catalog's records.</summary>
    public const string Catalog = "catalog";

    /// <summary>The directory of the groups' positions.</summary>
    public const string Groups = "groups";

    /// <summary>Where the partitions are.</summary>
    public const string Topics = "topics";

    /// <summary>Whether a path is that of a file in a data directory.</summary>
    public static bool IsFile(string path) => File().IsMatch(path);

    /// <summary>Whether a text is a topic's or a broker's id.</summary>
    public static bool IsId(string text) => Id().IsMatch(text);

    /// <summary>Whether a text is a file's SHA-256.</summary>
    public static bool IsHash(string text) => Hash().IsMatch(text);

    /// <summary>The partition's directory that a path is in, with <c>/</c>; null for another file.</summary>
    public static string? PartitionOf(string path) =>
        path.StartsWith(Topics + "/", StringComparison.Ordinal) ? path[..path.LastIndexOf('/')] : null;

    /// <summary>The topic's id that a path is of; null for another file.</summary>
    public static string? TopicOf(string path) => PartitionOf(path)?.Split('/')[1];

    /// <summary>A path on this machine.</summary>
    public static string PathOf(string folder, string path) =>
        Path.Combine(folder, path.Replace('/', Path.DirectorySeparatorChar));

    [GeneratedRegex(
        @"\A(broker-id|(catalog|groups)/[0-9]{20}\.seg|topics/[0-9a-f]{32}/[0-9]{1,6}/(checkpoint|epochs|[0-9]{20}\.(seg|producers)))\z",
        RegexOptions.CultureInvariant
    )]
    private static partial Regex File();

    [GeneratedRegex(@"\A[0-9a-f]{32}\z", RegexOptions.CultureInvariant)]
    private static partial Regex Id();

    [GeneratedRegex(@"\A[0-9a-fA-F]{64}\z", RegexOptions.CultureInvariant)]
    private static partial Regex Hash();
}
