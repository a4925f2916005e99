using System.CommandLine;
using LightQ.Cli.Output;
using LightQ.Client;

namespace LightQ.Cli.Options;

/// <summary>Which broker a command means: <c>--server</c> and <c>--context</c>.</summary>
internal sealed class BrokerChoice
{
    private readonly Option<string?> _server;
    private readonly Option<string?> _context = new("--context")
    {
        Description =
            $"The broker that 'lightq context add NAME' has given this name. Default: {CommonOptions.ContextVariable}, "
            + "then the context in use.",
        HelpName = "NAME",
    };

    /// <summary>For a command that always asks a broker.</summary>
    public BrokerChoice()
        : this(CommonOptions.Server()) { }

    /// <summary>For a command with a <c>--server</c> of its own.</summary>
    public BrokerChoice(Option<string?> server)
    {
        _server = server;
        _context.CompletionSources.Add(_ => Names());
    }

    /// <summary>Adds both options.</summary>
    public void AddTo(Command command)
    {
        command.Add(_server);
        command.Add(_context);
        command.Validators.Add(result =>
        {
            if (result.GetResult(_server) is not null && result.GetResult(_context) is not null)
                result.AddError("--server and --context both name a broker: give one of them.");
        });
    }

    /// <summary>The client options of the broker that is meant.</summary>
    /// <exception cref="CommandException">What names it is wrong.</exception>
    public LightQClientOptions Read(ParseResult parsed) =>
        parsed.GetValue(_context) is { } name
            ? CommonOptions.ContextOptions(name, "--context")
            : CommonOptions.ClientOptions(parsed.GetValue(_server));

    /// <summary>The same for a command that asks a broker only if an option names one; null when none does.</summary>
    /// <exception cref="CommandException">What names it is wrong.</exception>
    public LightQClientOptions? ReadGiven(ParseResult parsed) => IsGiven(parsed) ? Read(parsed) : null;

    /// <summary>
    /// Likewise as a connection string with the login, for processes that are told it over a pipe. It is not to be
    /// shown.
    /// </summary>
    /// <exception cref="CommandException">What names it is wrong.</exception>
    public string? ReadGivenText(ParseResult parsed) => IsGiven(parsed) ? CommonOptions.WithLogin(Read(parsed)) : null;

    private static string[] Names()
    {
        try
        {
            return [.. ContextFile.Read().Contexts.Keys];
        }
        catch (CommandException)
        {
            return []; // A command that uses it says what is wrong.
        }
    }

    private bool IsGiven(ParseResult parsed) =>
        parsed.GetValue(_server) is not null || parsed.GetValue(_context) is not null;
}
