using System.CommandLine;
using System.CommandLine.Invocation;
using System.CommandLine.Parsing;
using LightQ.Cli.Options;
using LightQ.Server.Configuration;

namespace LightQ.Cli;

/// <summary>Says what is wrong with a command line, in one sentence that names the word at fault.</summary>
internal static class ParseMistake
{
    private const string FileAdvice =
        " It is the name of a file here: if the shell has put it in the place of a name with '*', put that in quotes, "
        + "as in 'orders.*'.";

    private const string Option = "--";

    /// <summary>The mistake; null when there is none.</summary>
    public static string? Find(ParseResult parsed)
    {
        Command command = parsed.CommandResult.Command;
        string path = PathOf(parsed);
        // A mistyped option in a text's place would otherwise be published as the message.
        if (command is ExampleCommand && TextLikeOption(parsed) is { } option)
        {
            return $"{Unknown(option, "an option", path, OptionsOf(parsed))} To mean it as text, "
                + "put '--' in front of it.";
        }
        if (parsed.Action is not ParseErrorAction)
            return null;
        string[] commands = [.. command.Subcommands.Where(c => !c.Hidden).Select(c => c.Name)];
        return (parsed.UnmatchedTokens is [var first, ..] ? first : null) switch
        {
            { } word when word.StartsWith('-') => Unknown(word, "an option", path, OptionsOf(parsed)),
            { } word when commands.Length != 0 => Unknown(word, "a command", path, commands),
            { } word => $"'{word}' is one word more than '{path}' takes.{(Path.Exists(word) ? FileAdvice : "")}",
            null when command.Action is null => $"'{path}' needs a command: {string.Join(", ", commands)}.",
            null => Missing(parsed) is { } missing ? $"'{path}' needs {missing.Name}." : parsed.Errors[0].Message,
        };
    }

    /// <summary>The command as it was typed, such as <c>lightq topic create</c>.</summary>
    public static string PathOf(ParseResult parsed)
    {
        var names = new Stack<string>();
        for (CommandResult? at = parsed.CommandResult; at is not null; at = at.Parent as CommandResult)
            names.Push(at.Command.Name);
        names.Pop();
        return string.Join(' ', names.Prepend("lightq"));
    }

    private static string? TextLikeOption(ParseResult parsed) =>
        parsed
            .Tokens.TakeWhile(t => t.Type != TokenType.DoubleDash)
            .FirstOrDefault(t =>
                t.Value.StartsWith(Option, StringComparison.Ordinal)
                && t.Value.Length > Option.Length
                && parsed.CommandResult.Tokens.Contains(t)
            )
            ?.Value;

    private static Argument? Missing(ParseResult parsed) =>
        parsed.CommandResult.Command.Arguments.FirstOrDefault(a =>
            a.Arity.MinimumNumberOfValues > 0 && parsed.GetResult(a) is not { Tokens.Count: > 0 }
        );

    private static IEnumerable<string> OptionsOf(ParseResult parsed)
    {
        for (CommandResult? at = parsed.CommandResult; at is not null; at = at.Parent as CommandResult)
        {
            foreach (
                Option option in at.Command.Options.Where(o => !o.Hidden && (at == parsed.CommandResult || o.Recursive))
            )
            {
                yield return option.Name;
            }
        }
    }

    private static string Unknown(string word, string what, string path, IEnumerable<string> names) =>
        $"'{word}' is not {what} of "
        + $"'{path}'.{(NearestName.Find(word, names) is { } near ? $" Did you mean '{near}'?" : "")}";
}
