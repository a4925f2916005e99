using System.Globalization;

namespace LightQ.Server.Audit;

/// <summary>
/// The files of an audit log: <c>audit-FIRST.jsonl</c>, named for their first line's number, and <c>head</c>.
/// </summary>
internal static class AuditFiles
{
    /// <summary>The directory in a data directory.</summary>
    public const string DirectoryName = "audit";

    private const string Prefix = "audit-",
        Suffix = ".jsonl";
    private const int Digits = 20;

    /// <summary>The name of the file that begins with a line.</summary>
    public static string NameOf(long first) =>
        Prefix + first.ToString(CultureInfo.InvariantCulture).PadLeft(Digits, '0') + Suffix;

    /// <summary>The first line's number that a name promises.</summary>
    public static bool TryParse(string name, out long first)
    {
        first = 0;
        return name.Length == Prefix.Length + Digits + Suffix.Length
            && long.TryParse(
                name.AsSpan(Prefix.Length, Digits),
                NumberStyles.None,
                CultureInfo.InvariantCulture,
                out first
            )
            && first is > 0 and <= AuditLine.MaxSequence
            && NameOf(first) == name;
    }

    /// <summary>The files among some names, oldest first.</summary>
    public static (long First, string Name)[] Among(IEnumerable<string> names) =>
        [
            .. names
                .Select(n => (IsOne: TryParse(n, out long first), First: first, Name: n))
                .Where(f => f.IsOne)
                .Select(f => (f.First, f.Name))
                .OrderBy(f => f.First),
        ];
}
