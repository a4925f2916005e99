using System.Globalization;

namespace LightQ.Server.Audit;

/// <summary>The lines of a file that was deleted as one too many, as the log records it.</summary>
internal readonly record struct RemovedFile(long First, long Last, string LastHash)
{
    private const string Lines = "lines ",
        To = " to ",
        Ending = ", ending in ";

    /// <summary>Reads what <see cref="ToString"/> writes.</summary>
    public static bool TryParse(string text, out RemovedFile removed)
    {
        removed = default;
        int to = text.IndexOf(To, StringComparison.Ordinal),
            ending = text.IndexOf(Ending, StringComparison.Ordinal);
        if (
            !text.StartsWith(Lines, StringComparison.Ordinal)
            || to < Lines.Length
            || ending < to
            || !long.TryParse(
                text.AsSpan(Lines.Length, to - Lines.Length),
                NumberStyles.None,
                CultureInfo.InvariantCulture,
                out long first
            )
            || !long.TryParse(
                text.AsSpan(to + To.Length, ending - to - To.Length),
                NumberStyles.None,
                CultureInfo.InvariantCulture,
                out long last
            )
        )
        {
            return false;
        }

        removed = new RemovedFile(first, last, text[(ending + Ending.Length)..]);
        return true;
    }

    /// <inheritdoc/>
    public override string ToString() =>
        string.Create(CultureInfo.InvariantCulture, $"{Lines}{First}{To}{Last}{Ending}{LastHash}");
}
