using System.Globalization;

namespace LightQ.Cli.Journals;

/// <summary>A change that the audit log lists, and that a repair of the catalog undoes.</summary>
/// <param name="Time">When it was made.</param>
/// <param name="Actor">Who made it.</param>
/// <param name="Event">What it was, as the audit log names it.</param>
/// <param name="Subject">The user or topic.</param>
/// <param name="Detail">What else the audit log says.</param>
/// <param name="Effect">What the catalog says behind the repair.</param>
internal sealed record LostChangeView(
    DateTimeOffset Time,
    string Actor,
    string Event,
    string Subject,
    string Detail,
    string Effect
)
{
    public string Line =>
        string.Create(
            CultureInfo.InvariantCulture,
            $"{Time:u} {Actor}: {Event} {Subject}{(Detail.Length == 0 ? "" : $", {Detail}")}: {Effect}"
        );
}
