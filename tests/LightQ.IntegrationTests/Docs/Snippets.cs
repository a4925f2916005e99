using System.Text;

namespace LightQ.IntegrationTests.Docs;

/// <summary>The parts of a test's source that a document shows.</summary>
internal static class Snippets
{
    /// <summary>
    /// A shown block without the using directives that it begins with; those of the compiled source stand at its own
    /// beginning.
    /// </summary>
    public static string WithoutUsings(string block) =>
        string.Join('\n', block.Split('\n').SkipWhile(line => line.Length == 0 || IsUsing(line)));

    /// <summary>The parts between markers, moved to the left margin.</summary>
    public static IEnumerable<string> Between(string source, string marker)
    {
        StringBuilder? example = null;
        int indent = 0;
        foreach (string line in source.Split('\n'))
        {
            if (line.TrimStart().StartsWith(marker, StringComparison.Ordinal))
            {
                if (example is not null)
                    yield return example.ToString();
                example = example is null ? new StringBuilder() : null;
                indent = line.IndexOf('/', StringComparison.Ordinal);
            }
            else
            {
                example?.Append(line.Length < indent ? line : line[indent..]).Append('\n');
            }
        }
    }

    private static bool IsUsing(string line) =>
        line.StartsWith("using ", StringComparison.Ordinal) && line.EndsWith(';') && line.Count(c => c == ' ') == 1;
}
