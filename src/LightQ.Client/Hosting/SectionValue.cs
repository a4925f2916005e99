using System.Globalization;

namespace LightQ.Client.Hosting;

/// <summary>Values of a configuration section, each with an error that says what is wanted.</summary>
internal static class SectionValue
{
    public static int Number(string value) =>
        int.TryParse(value, NumberStyles.None, CultureInfo.InvariantCulture, out int number)
            ? number
            : throw new FormatException("A whole number is wanted.");

    public static bool YesOrNo(string value) =>
        bool.TryParse(value, out bool yes) ? yes : throw new FormatException("True or false is wanted.");

    public static TimeSpan Time(string value) =>
        value.Contains(':', StringComparison.Ordinal)
        && TimeSpan.TryParse(value, CultureInfo.InvariantCulture, out TimeSpan time)
            ? time
            : throw new FormatException("A time like 00:00:05 is wanted: hours, minutes and seconds.");

    public static T Word<T>(string value)
        where T : struct, Enum =>
        Enum.TryParse(value, ignoreCase: true, out T word) && Enum.IsDefined(word)
            ? word
            : throw new FormatException($"One of {string.Join(", ", Enum.GetNames<T>())} is wanted.");

    /// <summary>
    /// What an error says, without what the framework appends of parameters, which are not the user's.
    /// </summary>
    public static string Reason(Exception e) =>
        e is ArgumentException { ParamName: { } name } ? e.Message.Split($" (Parameter '{name}')")[0] : e.Message;
}
