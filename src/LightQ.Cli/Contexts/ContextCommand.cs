using System.CommandLine;
using System.Text.Json;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client;
using Spectre.Console;

namespace LightQ.Cli.Contexts;

/// <summary><c>lightq context</c>: names for brokers.</summary>
internal static class ContextCommand
{
    public static Command Create() =>
        new ExampleCommand(
            "context",
            "Give brokers names, and choose the one that commands ask when neither an option nor the environment names "
                + "one.",
            "lightq context add prod --server n1,n2,n3 --user alice --password-file ~/.lightq-prod --ca ca.pem",
            "lightq context use prod",
            "lightq context list",
            "lightq topic list --context prod"
        )
        {
            ContextAddCommand.Create(),
            Use(),
            List(),
            Show(),
            Remove(),
        };

    /// <summary>The argument for a context's name.</summary>
    public static Argument<string> NameOf(string description, bool isOptional = false) =>
        new("NAME")
        {
            Description = description,
            Arity = isOptional ? ArgumentArity.ZeroOrOne : ArgumentArity.ExactlyOne,
            CustomParser = result =>
                ValueOptions.Parsed(
                    result,
                    ContextFile.IsName(result.Tokens[0].Value),
                    result.Tokens[0].Value,
                    $"'{result.Tokens[0].Value}' is no name of a context; allowed: {ContextFile.NameRule}."
                ),
        };

    /// <summary>An option for a file.</summary>
    public static Option<string?> FileOf(string name, string description) =>
        new(name) { Description = description, HelpName = "FILE" };

    private static ExampleCommand Use()
    {
        Argument<string> name = NameOf("The context.", isOptional: true);
        Option<bool> none = new("--none") { Description = "Use none: commands ask the broker on this machine." };
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand(
            "use",
            "Have commands ask this broker when neither an option nor the environment names one.",
            "lightq context use prod",
            "lightq context use --none"
        )
        {
            name,
            none,
            output,
        };
        command.Validators.Add(result =>
        {
            if (result.GetValue(none) == result.GetResult(name) is { Tokens.Count: > 0 })
                result.AddError("Give a NAME, or --none.");
        });
        command.SetAction(parsed =>
        {
            string? used = parsed.GetValue(none) ? null : parsed.GetRequiredValue(name);
            ContextFile.Change(contexts =>
            {
                if (used is not null)
                    ContextFile.Get(contexts, used, "the command line");
                contexts.Current = used;
            });
            Answer(
                parsed.GetValue(output),
                new ContextChangeView(used, "used", used),
                used is null ? "No context is in use." : $"The context {used} is in use."
            );
            return ExitCode.Ok;
        });
        return command;
    }

    private static ExampleCommand List()
    {
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand(
            "list",
            "List the contexts; the one in use has a star.",
            "lightq context list",
            "lightq context list --output json"
        )
        {
            output,
        };
        command.SetAction(parsed =>
        {
            ContextDocument contexts = ContextFile.Read();
            ContextView[] views = [.. contexts.Contexts.Keys.Select(name => ViewOf(contexts, name))];
            if (parsed.GetValue(output) == OutputFormat.Json)
            {
                CommandConsole.Line(JsonSerializer.Serialize(views, ContextsJson.Default.ContextViewArray));
                return ExitCode.Ok;
            }
            Table table = CommandConsole.Table("", "context", "server", "login");
            foreach (ContextView view in views)
            {
                table.AddRow(
                    view.IsCurrent ? "*" : "",
                    Markup.Escape(view.Name),
                    Markup.Escape(view.Server),
                    Markup.Escape(view.Login)
                );
            }
            new CommandConsole().Tables.Write(table);
            return ExitCode.Ok;
        });
        return command;
    }

    private static ExampleCommand Show()
    {
        Argument<string> name = NameOf("The context. Default: the one in use.", isOptional: true);
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand(
            "show",
            "Show a context, but no password and no token.",
            "lightq context show",
            "lightq context show prod"
        )
        {
            name,
            output,
        };
        command.SetAction(parsed =>
        {
            ContextDocument contexts = ContextFile.Read();
            string shown =
                parsed.GetValue(name)
                ?? contexts.Current
                ?? throw new CommandException(
                    ExitCode.Usage,
                    "No context is in use: give a NAME, or 'lightq context use NAME' first."
                );
            ContextView view = ViewOf(contexts, shown);
            if (parsed.GetValue(output) == OutputFormat.Json)
                CommandConsole.Line(JsonSerializer.Serialize(view, ContextsJson.Default.ContextView));
            else
                new CommandConsole().Tables.Write(CommandConsole.Rows(Rows(view)));
            return ExitCode.Ok;
        });
        return command;
    }

    private static ExampleCommand Remove()
    {
        Argument<string> name = NameOf("The context.");
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand(
            "remove",
            "Forget a context. Files with passwords and tokens stay.",
            "lightq context remove test"
        )
        {
            name,
            output,
        };
        command.SetAction(parsed =>
        {
            string removed = parsed.GetRequiredValue(name);
            ContextChangeView? change = null;
            ContextFile.Change(contexts =>
            {
                ContextFile.Get(contexts, removed, "the command line");
                contexts.Contexts.Remove(removed);
                if (contexts.Current == removed)
                    contexts.Current = null;
                change = new ContextChangeView(removed, "removed", contexts.Current);
            });
            Answer(
                parsed.GetValue(output),
                change!,
                $"The context {removed} is removed." + (change!.Current is null ? " No context is in use." : "")
            );
            return ExitCode.Ok;
        });
        return command;
    }

    private static void Answer(OutputFormat output, ContextChangeView change, string text) =>
        CommandConsole.Line(
            output == OutputFormat.Json
                ? JsonSerializer.Serialize(change, ContextsJson.Default.ContextChangeView)
                : text
        );

    private static ContextView ViewOf(ContextDocument contexts, string name)
    {
        StoredContext context = ContextFile.Get(contexts, name, "the command line");
        // What a hand has put into the connection string is not shown either.
        LightQClientOptions options = CommonOptions.Parse(context.Server);
        string secret = context switch
        {
            { TokenFile: not null } => "token from a file",
            { PasswordFile: not null } => "password from a file",
            { Token: not null } => "token",
            { Password: not null } => "password",
            _ when options.Token is not null => "token",
            _ when options.Password is not null => "password",
            _ when options.User is not null => "password from the environment",
            _ => "token from the environment, if there is one",
        };
        return new ContextView(
            name,
            contexts.Current == name,
            options.ToString(),
            options.User is null ? secret : $"{options.User}, {secret}"
        )
        {
            PasswordFile = context.PasswordFile,
            TokenFile = context.TokenFile,
            Ca = options.CertificateAuthorityFile,
            File = ContextFile.Path,
        };
    }

    private static IEnumerable<(string Name, string Value)> Rows(ContextView view) =>
        new (string, string?)[]
        {
            ("context", view.Name),
            ("in use", view.IsCurrent ? "yes" : "no"),
            ("server", view.Server),
            ("login", view.Login),
            ("password file", view.PasswordFile),
            ("token file", view.TokenFile),
            ("authorities", view.Ca),
            ("stored in", view.File),
        }
            .Where(row => row.Item2 is not null)
            .Select(row => (row.Item1, row.Item2!));
}
