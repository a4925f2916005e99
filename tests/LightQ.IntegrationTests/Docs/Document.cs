using System.Text.RegularExpressions;

namespace LightQ.IntegrationTests.Docs;

/// <summary>A Markdown file, as far as tests look into it.</summary>
internal sealed partial class Document
{
    private Document(string text) => Text = text;

    public string Text { get; }

    /// <summary>
    /// What follows <c>lightq</c> in every command line of the document: in shell blocks, in code spans, and behind
    /// <c>dotnet run … --</c>.
    /// </summary>
    public IEnumerable<string> ToolCommandLines => ShellLines.Concat(Spans).Select(ArgumentsOf).OfType<string>();

    /// <summary>
    /// Links within the source tree: the file, empty for this one, and the heading behind '#', empty for none.
    /// </summary>
    public IEnumerable<(string File, string Heading)> LocalLinks =>
        Link()
            .Matches(Fence().Replace(Text, ""))
            .Select(m => (m.Groups["file"].Value, m.Groups["heading"].Value))
            .Where(link => !link.Item1.Contains("://", StringComparison.Ordinal));

    /// <summary>What links call the headings: in lower case, without punctuation, with hyphens for spaces.</summary>
    public IReadOnlySet<string> Headings =>
        Heading()
            .Matches(Fence().Replace(Text, ""))
            .Select(m => NoLetter().Replace(m.Groups["text"].Value.Trim().ToLowerInvariant(), "").Replace(' ', '-'))
            .ToHashSet();

    private IEnumerable<string> ShellLines => Blocks("sh").SelectMany(b => b.Split('\n'));

    private IEnumerable<string> Spans => Span().Matches(Fence().Replace(Text, "")).Select(m => m.Groups["code"].Value);

    public static Document Read(string path) => new(SourceTree.Read(path));

    /// <summary>The fenced blocks of a language.</summary>
    public IEnumerable<string> Blocks(string language) =>
        Fence().Matches(Text).Where(m => m.Groups["language"].Value == language).Select(m => m.Groups["body"].Value);

    private static string? ArgumentsOf(string line) =>
        ToolCall().Match(line) is { Success: true } call ? call.Groups["arguments"].Value.Trim() : null;

    [GeneratedRegex("^```(?<language>[a-z]*)\n(?<body>.*?)^```$", RegexOptions.Singleline | RegexOptions.Multiline)]
    private static partial Regex Fence();

    [GeneratedRegex("`(?<code>[^`\n]+)`")]
    private static partial Regex Span();

    [GeneratedRegex(@"\]\((?<file>[^)#\s]*)(#(?<heading>[^)\s]+))?\)")]
    private static partial Regex Link();

    [GeneratedRegex("^#+ (?<text>.+)$", RegexOptions.Multiline)]
    private static partial Regex Heading();

    [GeneratedRegex(@"[^\w\- ]")]
    private static partial Regex NoLetter();

    [GeneratedRegex(@"^(lightq|dotnet run .*src/LightQ\.Cli --) (?<arguments>(?:'[^']*'|[^#|>&'])+)")]
    private static partial Regex ToolCall();
}
