using System.CommandLine;
using System.CommandLine.Parsing;
using System.Globalization;
using System.Numerics;
using System.Text.Json;

namespace LightQ.Cli.Options;

/// <summary>Options by the kind of their value, each with an error that says what is wanted.</summary>
internal static class ValueOptions
{
    private const string None = "none";

    private const int MostOffsets = 1_000;

    /// <summary>One of some words.</summary>
    /// <param name="name">The option's name.</param>
    /// <param name="values">The values it may have, in the order of the help.</param>
    public static Option<T> Choice<T>(string name, params T[] values)
        where T : struct, Enum => Choice(name, [.. values.Select(v => v.ToString().ToLowerInvariant())], values);

    /// <summary>One of some words, where a value's name has several, with hyphens between them.</summary>
    /// <param name="name">The option's name.</param>
    /// <param name="values">The values it may have, in the order of the help.</param>
    public static Option<T> HyphenatedChoice<T>(string name, params T[] values)
        where T : struct, Enum => Choice(name, [.. values.Select(Hyphenated)], values);

    /// <summary>A value's name in lower case, with hyphens between its words.</summary>
    public static string Hyphenated<T>(T value)
        where T : struct, Enum => JsonNamingPolicy.KebabCaseLower.ConvertName(value.ToString());

    private static Option<T> Choice<T>(string name, string[] words, T[] values)
        where T : struct, Enum
    {
        var option = new Option<T>(name)
        {
            HelpName = string.Join('|', words),
            CustomParser = result =>
            {
                string text = result.Tokens[0].Value;
                int index = Array.FindIndex(words, w => w.Equals(text, StringComparison.OrdinalIgnoreCase));
                return Parsed(
                    result,
                    index >= 0,
                    index >= 0 ? values[index] : default,
                    $"'{text}' is not one of {string.Join(", ", words)}."
                );
            },
        };
        option.CompletionSources.Clear(); // The names of the enum's members, which differ.
        option.CompletionSources.Add(words);
        return option;
    }

    /// <summary>Offsets, one for each time that <c>--offset</c> is given.</summary>
    public static Option<long[]> Offsets(string description) =>
        new("--offset")
        {
            Description = description,
            HelpName = "N",
            CustomParser = result =>
            {
                var offsets = new List<long>();
                foreach (string text in result.Tokens.Select(token => token.Value))
                {
                    if (long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out long offset))
                        offsets.Add(offset);
                    else
                        result.AddError($"--offset: '{text}' is not a number from 0 on.");
                }
                if (offsets.Count > MostOffsets)
                    result.AddError($"--offset may be given {MostOffsets} times.");
                return [.. offsets];
            },
        };

    /// <summary>A number from <paramref name="least"/> on.</summary>
    public static Option<T?> Number<T>(string name, T least, params string[] aliases)
        where T : struct, INumber<T> =>
        new(name, aliases)
        {
            HelpName = "N",
            CustomParser = result =>
            {
                string text = result.Tokens[0].Value;
                bool ok =
                    T.TryParse(
                        text,
                        NumberStyles.AllowLeadingSign | NumberStyles.AllowDecimalPoint,
                        CultureInfo.InvariantCulture,
                        out T number
                    )
                    && T.IsFinite(number)
                    && number >= least;
                return Parsed<T?>(
                    result,
                    ok,
                    number,
                    string.Create(CultureInfo.InvariantCulture, $"'{text}' is not a number from {least} on.")
                );
            },
        };

    /// <summary>One of some numbers.</summary>
    public static Option<int?> NumberAmong(string name, params int[] numbers)
    {
        string[] words = [.. numbers.Select(n => n.ToString(CultureInfo.InvariantCulture))];
        var option = new Option<int?>(name)
        {
            HelpName = string.Join('|', words),
            CustomParser = result =>
            {
                string text = result.Tokens[0].Value;
                int index = Array.IndexOf(words, text);
                return Parsed<int?>(
                    result,
                    index >= 0,
                    index >= 0 ? numbers[index] : null,
                    $"'{text}' is not one of {string.Join(", ", words)}."
                );
            },
        };
        option.CompletionSources.Add(words);
        return option;
    }

    /// <summary>A whole number from <paramref name="least"/> to <paramref name="most"/>.</summary>
    public static Option<int?> NumberWithin(string name, int least, int most) =>
        new(name)
        {
            HelpName = "N",
            CustomParser = result =>
            {
                string text = result.Tokens[0].Value;
                bool ok =
                    int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out int number)
                    && number >= least
                    && number <= most;
                return Parsed<int?>(
                    result,
                    ok,
                    number,
                    string.Create(CultureInfo.InvariantCulture, $"'{text}' is not a number from {least} to {most}.")
                );
            },
        };

    /// <summary>A duration such as 500ms, 3s, 5m, 1h, 7d.</summary>
    /// <param name="name">The option's name.</param>
    /// <param name="orNone">Whether "none" is a value too; it reads as zero.</param>
    /// <param name="aliases">Other names for it.</param>
    public static Option<TimeSpan?> Duration(string name, bool orNone = false, params string[] aliases) =>
        new(name, aliases)
        {
            HelpName = orNone ? "TIME|none" : "TIME",
            CustomParser = result =>
            {
                string text = result.Tokens[0].Value;
                TimeSpan duration = default;
                bool ok = (orNone && text == None) || DurationText.TryParse(text, out duration);
                return Parsed<TimeSpan?>(
                    result,
                    ok,
                    duration,
                    $"'{text}' is not a duration such as 500ms, 3s, 5m, 1h or 7d{(orNone ? ", nor none" : "")}."
                );
            },
        };

    /// <summary>A size such as 4096, 64KiB, 1MiB, 10GiB.</summary>
    /// <param name="name">The option's name.</param>
    /// <param name="orNone">Whether "none" is a value too; it reads as zero.</param>
    public static Option<long?> Size(string name, bool orNone = false) =>
        new(name)
        {
            HelpName = orNone ? "BYTES|none" : "BYTES",
            CustomParser = result =>
            {
                string text = result.Tokens[0].Value;
                long bytes = 0;
                bool ok = (orNone && text == None) || SizeText.TryParse(text, out bytes);
                return Parsed<long?>(
                    result,
                    ok,
                    bytes,
                    $"'{text}' is not a size such as 4096, 64KiB, 1MiB or 10GiB{(orNone ? ", nor none" : "")}."
                );
            },
        };

    /// <summary><c>--sizes</c>: message sizes in bytes, several with commas.</summary>
    /// <param name="isAllowed">Whether a size may be given.</param>
    /// <param name="wanted">What is wanted, for the error.</param>
    public static Option<int[]> Sizes(Func<int, bool> isAllowed, string wanted) =>
        new("--sizes")
        {
            HelpName = "A,B",
            CustomParser = result =>
            {
                var sizes = new List<int>();
                foreach (string text in result.Tokens[0].Value.Split(','))
                {
                    if (
                        !int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out int size)
                        || !isAllowed(size)
                    )
                    {
                        result.AddError($"'{text}' is not {wanted}.");
                    }

                    sizes.Add(size);
                }
                return [.. sizes.Distinct()];
            },
        };

    /// <summary>A parsed value, or the error in its place with the option's name in front.</summary>
    public static T Parsed<T>(ArgumentResult result, bool ok, T value, string problem)
    {
        if (!ok)
            result.AddError(result.Parent is OptionResult option ? $"{option.Option.Name}: {problem}" : problem);
        return value;
    }
}
