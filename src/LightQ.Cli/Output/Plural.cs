using System.Globalization;

namespace LightQ.Cli.Output;

/// <summary>Numbers with their nouns.</summary>
internal static class Plural
{
    /// <summary>Such as <c>1 message</c> and <c>2,000 messages</c>.</summary>
    public static string Of(long count, string noun) =>
        string.Create(CultureInfo.InvariantCulture, $"{count:N0} {noun}{(count == 1 ? "" : "s")}");
}
