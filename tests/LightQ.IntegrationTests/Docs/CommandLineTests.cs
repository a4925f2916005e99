using System.CommandLine;
using System.CommandLine.Parsing;
using LightQ.Cli;
using LightQ.Cli.Output;
using Xunit;

namespace LightQ.IntegrationTests.Docs;

/// <summary>What the documents tell people to type is what the tool understands.</summary>
public sealed class CommandLineTests
{
    private const string Tool = "docs/use/command-line.md";

    private static readonly string[] Instructions =
    [
        "README.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        Tool,
        "docs/use/consuming.md",
        "docs/use/message-features.md",
        "docs/operate/reference-tests.md",
        "docs/operate/audit.md",
        "docs/operate/backup.md",
        "docs/operate/cluster.md",
        "docs/operate/doctor.md",
        "docs/operate/monitoring.md",
        "docs/operate/operations.md",
        "docs/operate/reliability.md",
        "docs/operate/retention.md",
        "docs/operate/security.md",
        "docs/operate/tls.md",
        "docs/measured/speed.md",
        "src/LightQ.Cli/README.md",
        "src/LightQ.Client/README.md",
    ];

    public static TheoryData<string, string> CommandLines =>
        [.. from path in Instructions from line in Document.Read(path).ToolCommandLines select (path, line)];

    public static TheoryData<string> Documents => [.. SourceTree.Pages];

    [Theory]
    [MemberData(nameof(CommandLines))]
    public void A_command_line_of_the_documents_parses(string path, string line)
    {
        ParseResult parsed = CommandLine.CreateRoot().Parse(Split(line), CommandLine.Parsing);
        Assert.True(
            parsed.Errors.Count == 0,
            $"{path}: lightq {line}: {string.Join(' ', parsed.Errors.Select(e => e.Message))}"
        );
        Assert.NotNull(parsed.CommandResult.Command.Action);
    }

    [Fact]
    public void The_page_of_the_tool_shows_every_command()
    {
        HashSet<string> shown = [.. Document.Read(Tool).ToolCommandLines.Select(line => Split(line)[0])];
        Assert.Subset(
            shown,
            CommandLine.CreateRoot().Subcommands.Where(c => !c.Hidden).Select(c => c.Name).ToHashSet()
        );
    }

    [Fact]
    public void A_wrong_command_line_does_not_parse() =>
        Assert.NotEmpty(CommandLine.CreateRoot().Parse(Split("pub orders --fiel lines.txt 'a b'")).Errors);

    [Fact]
    public void The_page_of_the_tool_lists_the_exit_codes()
    {
        string text = Document.Read(Tool).Text;
        int[] codes =
        [
            ExitCode.Ok,
            ExitCode.Failed,
            ExitCode.Usage,
            ExitCode.Unconfirmed,
            ExitCode.Warnings,
            ExitCode.Unavailable,
            ExitCode.Denied,
            ExitCode.Configuration,
            ExitCode.OutputClosed,
        ];
        Assert.All(codes, code => Assert.Contains($"\n| {code} | ", text, StringComparison.Ordinal));
    }

    [Theory]
    [MemberData(nameof(Documents))]
    public void Links_lead_somewhere(string path)
    {
        string folder = path[..(path.LastIndexOf('/') + 1)];
        foreach ((string file, string heading) in Document.Read(path).LocalLinks)
        {
            string target = file.Length == 0 ? path : folder + file;
            Assert.True(Path.Exists(SourceTree.PathOf(target)), $"{path}: there is no {file}.");
            if (heading.Length != 0 && target.EndsWith(".md", StringComparison.Ordinal))
            {
                Assert.True(
                    Document.Read(target).Headings.Contains(heading),
                    $"{path}: {target} has no heading #{heading}."
                );
            }
        }
    }

    // The splitter knows double quotes only.
    private static string[] Split(string line) => [.. CommandLineParser.SplitCommandLine(line.Replace('\'', '"'))];
}
