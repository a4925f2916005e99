using System.CommandLine;
using System.CommandLine.Parsing;
using LightQ.Cli.Output;
using LightQ.Client;

namespace LightQ.Cli.Commands;

/// <summary>Options and arguments that several commands share.</summary>
internal static class CommonOptions
{
    private const string ServerVariable = "LIGHTQ_SERVER";
    private const string DefaultServer = "lightq://127.0.0.1";

    /// <summary>Which broker.</summary>
    public static Option<string?> Server() => new("--server")
    {
        Description = $"The broker: lightq://[user[:password]@]host[:data-port][?control=PORT]. Default: {ServerVariable}, then {DefaultServer}.",
        HelpName = "URL",
    };

    /// <summary>Table or JSON.</summary>
    public static Option<OutputFormat> Output() => new("--output")
    {
        Description = "table for people, json for programs.",
        HelpName = "table|json",
    };

    /// <summary>A topic's name.</summary>
    public static Argument<string> Topic() => new("TOPIC") { Description = "The topic's name." };

    /// <summary>A topic's name, or one partition of it.</summary>
    public static Argument<TopicAddress> Address() => new("TOPIC")
    {
        Description = "The topic's name; NAME/3 is its partition 3.",
        CustomParser = result => Parsed(result, TopicAddress.TryParse(result.Tokens[0].Value, out TopicAddress address, out string problem), address, problem),
    };

    /// <summary>A duration such as 500ms, 3s, 5m, 1h, 7d.</summary>
    public static Option<TimeSpan?> Duration(string name, params string[] aliases) => new(name, aliases)
    {
        HelpName = "TIME",
        CustomParser = result =>
        {
            bool ok = DurationText.TryParse(result.Tokens[0].Value, out TimeSpan duration);
            return Parsed<TimeSpan?>(result, ok, duration, $"'{result.Tokens[0].Value}' is not a duration such as 500ms, 3s, 5m, 1h or 7d.");
        },
    };

    /// <summary>A size such as 4096, 64KiB, 1MiB, 10GiB.</summary>
    public static Option<long?> Size(string name) => new(name)
    {
        HelpName = "BYTES",
        CustomParser = result =>
        {
            bool ok = SizeText.TryParse(result.Tokens[0].Value, out long bytes);
            return Parsed<long?>(result, ok, bytes, $"'{result.Tokens[0].Value}' is not a size such as 4096, 64KiB, 1MiB or 10GiB.");
        },
    };

    /// <summary>The client options that <c>--server</c> or the environment names.</summary>
    /// <exception cref="CommandException">They are not a connection string.</exception>
    public static LightQClientOptions ClientOptions(string? server)
    {
        string text = server ?? Environment.GetEnvironmentVariable(ServerVariable) ?? DefaultServer;
        try
        {
            return LightQClientOptions.Parse(text) with { ClientName = "lightq" };
        }
        catch (ArgumentException e)
        {
            throw new CommandException(ExitCode.Usage, e.Message, e);
        }
    }

    private static T Parsed<T>(ArgumentResult result, bool ok, T value, string problem)
    {
        if (!ok)
            result.AddError(problem);
        return value;
    }
}
