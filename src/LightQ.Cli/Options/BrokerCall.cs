using System.CommandLine;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using LightQ.Cli.Output;
using LightQ.Client;
using Spectre.Console;

namespace LightQ.Cli.Options;

/// <summary>
/// One run of a <see cref="BrokerCommand"/>: what was given, the client, and the answer as text or JSON.
/// </summary>
/// <param name="parsed">The command line.</param>
/// <param name="options">What the client connects with.</param>
/// <param name="client">The client.</param>
/// <param name="isJson">Whether the answer is for programs.</param>
/// <param name="cancellation">Cancelled when the user gives up.</param>
internal sealed class BrokerCall(
    ParseResult parsed,
    LightQClientOptions options,
    LightQClient client,
    bool isJson,
    CancellationToken cancellation
)
{
    /// <summary>What was given.</summary>
    public ParseResult Given => parsed;

    /// <summary>What the client connects with.</summary>
    public LightQClientOptions Options => options;

    public LightQClient Client => client;

    /// <summary>Whether the answer is for programs.</summary>
    public bool IsJson => isJson;

    /// <summary>Cancelled when the user gives up.</summary>
    public CancellationToken Cancellation => cancellation;

    /// <summary>What was given for an option.</summary>
    public T? Get<T>(Option<T> option) => parsed.GetValue(option);

    /// <summary>What was given for an argument.</summary>
    public T? Get<T>(Argument<T> argument) => parsed.GetValue(argument);

    /// <summary>What was given for an argument that must be given.</summary>
    public T Required<T>(Argument<T> argument) => parsed.GetRequiredValue(argument);

    /// <summary>Answers with a line.</summary>
    public void Answer<T>(T view, JsonTypeInfo<T> type, string text) =>
        CommandConsole.Line(isJson ? JsonSerializer.Serialize(view, type) : text);

    /// <summary>Answers with a table.</summary>
    public void Answer<T>(T view, JsonTypeInfo<T> type, Func<T, Table> table)
    {
        if (isJson)
            CommandConsole.Line(JsonSerializer.Serialize(view, type));
        else
            new CommandConsole().Tables.Write(table(view));
    }

    /// <summary>Answers with more than a table.</summary>
    public void Answer<T>(T view, JsonTypeInfo<T> type, Action<T> write)
    {
        if (isJson)
            CommandConsole.Line(JsonSerializer.Serialize(view, type));
        else
            write(view);
    }
}
