using System.Globalization;
using System.Text.RegularExpressions;

namespace LightQ.Tests.Cli.Reference;

/// <summary>What the programs of a reference document print, run by run, and the numbers in it.</summary>
internal sealed partial class ReferenceFixture
{
    private ReferenceFixture(string role, string kind, int size, string[] lines)
    {
        (Role, Kind, Size, Lines) = (role, kind, size, lines);
        Text = string.Join('\n', lines);
    }

    public string Role { get; }

    public string Kind { get; }

    public int Size { get; }

    public IReadOnlyList<string> Lines { get; }

    public string Text { get; }

    /// <summary>All runs of a document.</summary>
    /// <param name="document">The fixture's name.</param>
    public static IReadOnlyList<ReferenceFixture> Read(string document)
    {
        var runs = new List<ReferenceFixture>();
        foreach (
            string part in File.ReadAllText(
                    Path.Combine(AppContext.BaseDirectory, "Cli", "Reference", document + ".txt")
                )
                .Split("# ", StringSplitOptions.RemoveEmptyEntries)
        )
        {
            string[] lines = part.TrimEnd().Split('\n');
            if (lines[0].Split(' ') is [var role, var kind, var size])
                runs.Add(new ReferenceFixture(role, kind, int.Parse(size, CultureInfo.InvariantCulture), lines[1..]));
        }
        return runs;
    }

    /// <summary>The number that follows a text.</summary>
    public double Number(string behind) =>
        double.Parse(
            Regex.Match(Text, Regex.Escape(behind) + @"\s*\[?([\d.]+)").Groups[1].Value,
            CultureInfo.InvariantCulture
        );

    /// <summary>The number in front of a text.</summary>
    public double NumberBefore(string text) =>
        double.Parse(Regex.Match(Text, @"([\d.]+)" + Regex.Escape(text)).Groups[1].Value, CultureInfo.InvariantCulture);

    /// <summary>
    /// A line without the number of its spaces and its last full stop, in which the document's own lines differ among
    /// each other.
    /// </summary>
    public static string Normal(string line) => Spaces().Replace(line, " ").TrimEnd('.');

    [GeneratedRegex(" +")]
    private static partial Regex Spaces();
}
