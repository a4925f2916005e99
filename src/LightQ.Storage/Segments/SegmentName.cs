using System.Globalization;

namespace LightQ.Storage.Segments;

/// <summary>Names of the files that belong to a segment: twenty digits of its ordinal and an extension.</summary>
internal static class SegmentName
{
    public const string Log = ".seg";
    public const string Index = ".idx";
    public const string Producers = ".producers";

    /// <summary>A file being made or waiting to be used again; removed when the journal opens.</summary>
    public const string Temporary = ".tmp";

    private const int Digits = 20;

    public static string Of(long ordinal, string extension) =>
        ordinal.ToString("D20", CultureInfo.InvariantCulture) + extension;

    /// <summary>The ordinal, when the name is that of a segment's file with this extension.</summary>
    public static bool TryParse(string name, string extension, out long ordinal)
    {
        ordinal = 0;
        return name.Length == Digits + extension.Length
            && name.EndsWith(extension, StringComparison.Ordinal)
            && !name.AsSpan(0, Digits).ContainsAnyExceptInRange('0', '9')
            && long.TryParse(name.AsSpan(0, Digits), NumberStyles.None, CultureInfo.InvariantCulture, out ordinal)
            && ordinal is > 0 and < long.MaxValue;
    }
}
