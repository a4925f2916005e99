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
    /// <summary>
    /// How arguments are read: one that begins with '@' is what it says, not a file with more of them.
    /// </summary>
    public static ParserConfiguration Parsing { get; } = new() { ResponseFileTokenReplacer = null };

    /// <summary>Builds the tree.</summary>
    public static RootCommand CreateRoot()
    {
        var root = new RootCommand(
            "LightQ, a brokered message queue: run a broker, publish, subscribe, look inside, measure."
        )
        {
            ServerCommand.Create(),
            QuickstartCommand.Create(),
            TopicCommand.Create(),
            PubCommand.Create(),
            SubCommand.Create(),
            PeekCommand.Create(),
            RepublishCommand.Create(),
            StatsCommand.Create(),
            TopCommand.Create(),
            DashboardCommand.Create(),
            GroupCommand.Create(),
            ClusterCommand.Create(),
            ContextCommand.Create(),
            UserCommand.Create(),
            GrantCommand.Create(),
            TokenCommand.Create(),
            ProducerCommand.Create(),
            ConsumerCommand.Create(),
            JournalCommand.Create(),
            BackupCommand.Create(),
            RestoreCommand.Create(),
            AuditCommand.Create(),
            DoctorCommand.Create(),
            BenchCommand.Create(),
            CompletionCommand.Create(),
            RoleCommand.Create(),
        };
        HelpOption help = root.Options.OfType<HelpOption>().Single();
        help.Action = new ExampleHelpAction((HelpAction)help.Action!);
        return root;
    }

    /// <summary>Parses and runs.</summary>
    /// <returns>The exit code.</returns>
    public static async Task<int> RunAsync(string[] args)
    {
        // A user who types the name alone wants to see the commands.
        ParseResult parsed = CreateRoot().Parse(args.Length == 0 ? ["--help"] : args, Parsing);
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
