using System.CommandLine;
using System.CommandLine.Help;
using LightQ.Cli.Audits;
using LightQ.Cli.Backups;
using LightQ.Cli.Bench;
using LightQ.Cli.Clusters;
using LightQ.Cli.Contexts;
using LightQ.Cli.Dashboard;
using LightQ.Cli.Doctor;
using LightQ.Cli.Groups;
using LightQ.Cli.Journals;
using LightQ.Cli.Messages;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Cli.Quickstart;
using LightQ.Cli.Reference;
using LightQ.Cli.Servers;
using LightQ.Cli.Stats;
using LightQ.Cli.Top;
using LightQ.Cli.Topics;
using LightQ.Cli.Users;

namespace LightQ.Cli;

/// <summary>
/// The command tree, and how every command ends: an exit code, and at most one line on standard error.
/// </summary>
internal static class CommandLine
{
    private static readonly (string Name, Func<Command> Create)[] s_commands =
    [
        ("server", ServerCommand.Create),
        ("quickstart", QuickstartCommand.Create),
        ("topic", TopicCommand.Create),
        ("pub", PubCommand.Create),
        ("sub", SubCommand.Create),
        ("peek", PeekCommand.Create),
        ("republish", RepublishCommand.Create),
        ("scheduled", ScheduledCommand.Create),
        ("stats", StatsCommand.Create),
        ("top", TopCommand.Create),
        ("dashboard", DashboardCommand.Create),
        ("group", GroupCommand.Create),
        ("cluster", ClusterCommand.Create),
        ("context", ContextCommand.Create),
        ("user", UserCommand.Create),
        ("grant", GrantCommand.Create),
        ("token", TokenCommand.Create),
        ("producer", ProducerCommand.Create),
        ("consumer", ConsumerCommand.Create),
        ("journal", JournalCommand.Create),
        ("backup", BackupCommand.Create),
        ("restore", RestoreCommand.Create),
        ("audit", AuditCommand.Create),
        ("doctor", DoctorCommand.Create),
        ("bench", BenchCommand.Create),
        ("completion", CompletionCommand.Create),
        ("bench-role", RoleCommand.Create),
    ];

    /// <summary>
    /// How arguments are read: one that begins with '@' is what it says, not a file with more of them.
    /// </summary>
    public static ParserConfiguration Parsing { get; } = new() { ResponseFileTokenReplacer = null };

    /// <summary>Builds the tree, or of it only what a command needs: the whole takes 0.12 s to be made.</summary>
    /// <param name="args">
    /// The arguments: with the name of a command first, the tree has that command alone; with --version none; else all.
    /// </param>
    public static RootCommand CreateRoot(params ReadOnlySpan<string> args)
    {
        var root = new RootCommand(
            "LightQ, a brokered message queue: run a broker, publish, subscribe, look inside, measure."
        );
        string? first = args.IsEmpty ? null : args[0];
        bool isOne = first == "--version" || s_commands.Any(command => command.Name == first);
        foreach ((string name, Func<Command> create) in s_commands)
        {
            if (!isOne || name == first)
                root.Add(create());
        }
        HelpOption help = root.Options.OfType<HelpOption>().Single();
        help.Action = new ExampleHelpAction((HelpAction)help.Action!);
        return root;
    }

    /// <summary>Parses and runs.</summary>
    /// <returns>The exit code.</returns>
    public static async Task<int> RunAsync(string[] args)
    {
        // A user who types the name alone wants to see the commands.
        ParseResult parsed = CreateRoot(args).Parse(args.Length == 0 ? ["--help"] : args, Parsing);
        if (ParseMistake.Find(parsed) is { } mistake)
            return Report(new Failure(ExitCode.Usage, $"{mistake} Try '{ParseMistake.PathOf(parsed)} --help'."));
        using var interruption = new Interruption();
        try
        {
            var settings = new InvocationConfiguration
            {
                EnableDefaultExceptionHandler = false,
                ProcessTerminationTimeout = null,
            };
            return await parsed.InvokeAsync(settings, interruption.Token);
        }
        catch (OutputClosedException)
        {
            return ExitCode.OutputClosed;
        }
        catch (Exception e) when (Failure.TryExplain(e, out _))
        {
            Failure.TryExplain(e, out Failure failure);
            return Report(failure);
        }
    }

    private static int Report(Failure failure)
    {
        Console.Error.WriteLine($"lightq: {Failure.OneLine(failure.Message)}");
        return failure.ExitCode;
    }
}
