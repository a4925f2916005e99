using System.Text.RegularExpressions;
using Xunit;

namespace LightQ.Tests.Architecture;

/// <summary>Each use of the clock in the broker is in the table of docs/design/clocks.md.</summary>
public sealed partial class ClockUseTests
{
    private static readonly string[] Projects =
    [
        "LightQ.Scheduling",
        "LightQ.Storage",
        "LightQ.Broker",
        "LightQ.Server",
    ];

    [Fact]
    public void Each_use_of_the_wall_clock_says_what_a_step_does()
    {
        string root = SourceTree.Root;
        string[] used =
        [
            .. Projects
                .SelectMany(p =>
                    Directory.EnumerateFiles(Path.Combine(root, "src", p), "*.cs", SearchOption.AllDirectories)
                )
                .Where(f =>
                    !f.Contains(
                        $"{Path.DirectorySeparatorChar}obj{Path.DirectorySeparatorChar}",
                        StringComparison.Ordinal
                    )
                )
                .Where(f => Use().IsMatch(File.ReadAllText(f)))
                .Select(f => Path.GetFileName(f))
                .Order(StringComparer.Ordinal),
        ];
        string[] told =
        [
            .. File.ReadLines(Path.Combine(root, "docs", "design", "clocks.md"))
                .Where(l => l.StartsWith("| `", StringComparison.Ordinal))
                .SelectMany(l => Name().Matches(l.Split('|')[1]).Select(m => m.Groups[1].Value))
                .Order(StringComparer.Ordinal),
        ];
        Assert.Equal(used, told);
    }

    [Fact]
    public void The_client_judges_no_message_by_this_machines_clock()
    {
        string[] readers = Directory.GetFiles(
            Path.Combine(SourceTree.Root, "src", "LightQ.Client", "Consuming"),
            "*.cs"
        );
        Assert.DoesNotContain(readers, f => FateByClock().IsMatch(File.ReadAllText(f)));
    }

    [GeneratedRegex(@"GetUtcNow|DateTime(Offset)?\.(Utc)?Now")]
    private static partial Regex Use();

    [GeneratedRegex(@"FateAt\([^;]*GetUtcNow")]
    private static partial Regex FateByClock();

    [GeneratedRegex("`([A-Za-z]+\\.cs)`")]
    private static partial Regex Name();
}
