using System.Globalization;

namespace LightQ.Server.Audit;

/// <summary>Where a page of the log ended: the far edge of the last piece that was read for it.</summary>
/// <remarks>
/// The next page begins with that piece again, without showing it, to see whether the pieces behind it are its
/// neighbours.
/// </remarks>
/// <param name="IsOldestFirst">Whether the pages go from older lines to younger ones.</param>
/// <param name="First">The file, by the first line's number that its name promises.</param>
/// <param name="Offset">
/// The piece's first byte in the file; where the pages go to older lines, the byte behind its last one.
/// </param>
internal readonly record struct AuditPosition(bool IsOldestFirst, long First, long Offset)
{
    private const string Oldest = "o",
        Newest = "n";

    /// <summary>Reads what <see cref="ToString"/> writes.</summary>
    public static bool TryParse(string text, out AuditPosition position)
    {
        position = default;
        if (
            text.Split('-') is not [Oldest or Newest, var file, var place]
            || !TryRead(file, out long first)
            || first > AuditLine.MaxSequence
            || !TryRead(place, out long offset)
        )
        {
            return false;
        }
        position = new AuditPosition(text.StartsWith(Oldest, StringComparison.Ordinal), first, offset);
        return true;
    }

    /// <summary>A token for clients.</summary>
    public override string ToString() =>
        string.Create(CultureInfo.InvariantCulture, $"{(IsOldestFirst ? Oldest : Newest)}-{First}-{Offset}");

    private static bool TryRead(string text, out long number) =>
        long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out number);
}
