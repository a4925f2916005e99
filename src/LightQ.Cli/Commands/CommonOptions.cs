using System.CommandLine;
using System.CommandLine.Parsing;
using LightQ.Cli.Output;
using LightQ.Client;

namespace LightQ.Cli.Commands;

/// <summary>Options and arguments that several commands share.</summary>
internal static class CommonOptions
{
    private const string ServerVariable = "LIGHTQ_SERVER";
    private const string None = "none";
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
        Description = "The topic's name; NAME/0 is its partition 0, the only one for now.",
        CustomParser = result => Parsed(result, TopicAddress.TryParse(result.Tokens[0].Value, out TopicAddress address, out string problem), address, problem),
    };

    /// <summary>A duration such as 500ms, 3s, 5m, 1h, 7d.</summary>
    /// <param name="name">The option's name.</param>
    /// <param name="alias">Another name for it.</param>
    /// <param name="orNone">Whether "none" is a value too; it reads as zero.</param>
    public static Option<TimeSpan?> Duration(string name, string? alias = null, bool orNone = false) => new(name, alias is null ? [] : [alias])
    {
        HelpName = orNone ? "TIME|none" : "TIME",
        CustomParser = result =>
        {
            string text = result.Tokens[0].Value;
            TimeSpan duration = default;
            bool ok = (orNone && text == None) || DurationText.TryParse(text, out duration);
            return Parsed<TimeSpan?>(result, ok, duration, $"'{text}' is not a duration such as 500ms, 3s, 5m, 1h or 7d{(orNone ? ", nor none" : "")}.");
        },
    };

    /// <summary>A size such as 4096, 64KiB, 1MiB, 10GiB.</summary>
    /// <param name="name">The option's name.</param>
    /// <param name="orNone">Whether "none" is a value too; it reads as zero.</param>
    public static Option<long?> Size(string name, bool orNone = false) => new(name)
    {
        HelpName = orNone ? "BYTES|none" : "BYTES",
        CustomParser = result =>
        {
            string text = result.Tokens[0].Value;
            long bytes = 0;
            bool ok = (orNone && text == None) || SizeText.TryParse(text, out bytes);
            return Parsed<long?>(result, ok, bytes, $"'{text}' is not a size such as 4096, 64KiB, 1MiB or 10GiB{(orNone ? ", nor none" : "")}.");
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
