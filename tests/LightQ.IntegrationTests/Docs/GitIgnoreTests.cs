using System.Text.RegularExpressions;
using Xunit;

namespace LightQ.IntegrationTests.Docs;

/// <summary>Who follows README.md in a clone finds nothing of it in <c>git status</c>.</summary>
public sealed partial class GitIgnoreTests
{
    [Fact]
    public void What_the_README_has_a_user_make_is_ignored()
    {
        HashSet<string> ignored = [.. SourceTree.Read(".gitignore").Split('\n').Select(line => line.Trim('/'))];
        string commands = string.Concat(Document.Read("README.md").Blocks("sh"));
        string[] made =
        [
            .. Made().Matches(commands).Select(m => m.Groups["name"].Value).Distinct(StringComparer.Ordinal),
        ];

        Assert.Contains("packages", made);
        Assert.Contains("data", made);
        Assert.Contains("lines.txt", made);
        Assert.Empty(made.Except(ignored));
    }

    [GeneratedRegex(
        @"( -o | --tool-path | --data \./| backup \./| console -n |' > |LIGHTQ_PASSWORD_FILE=(?!\./)|ca=)(?<name>[a-z][a-z.-]+)"
    )]
    private static partial Regex Made();
}
