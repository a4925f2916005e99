using System.CommandLine;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client.Administration;
using Spectre.Console;

namespace LightQ.Cli.Users;

/// <summary><c>lightq grant</c>: gives rights to users, takes them, and lists them.</summary>
internal static class GrantCommand
{
    private const string Everything = "*";

    public static Command Create() =>
        new ExampleCommand(
            "grant",
            "Give rights to users: publish, consume or manage on a topic (orders), on all whose names begin alike "
                + "('orders.*': orders.eu and orders.us, not orders itself), or on all ('*'); or admin.",
            "lightq grant add alice publish 'orders.*'",
            "lightq grant add alice consume invoices",
            "lightq grant add bob admin",
            "lightq grant list"
        )
        {
            Change(
                "add",
                "Give a user a right.",
                [
                    "lightq grant add alice publish orders",
                    "lightq grant add alice manage 'orders.*'",
                    "lightq grant add bob admin",
                ],
                static (users, user, right, topic, cancel) => users.GrantAsync(user, right, topic, cancel),
                changed => changed ? "may now" : "could already"
            ),
            Change(
                "remove",
                "Take a right from a user, as the list shows it; producers and subscriptions that rest on it end.",
                ["lightq grant remove alice publish 'orders.*'"],
                static (users, user, right, topic, cancel) => users.RevokeAsync(user, right, topic, cancel),
                changed => changed ? "may no longer" : "did not have this grant to"
            ),
            List(),
        };

    private static BrokerCommand Change(
        string name,
        string description,
        string[] examples,
        Func<UsersClient, string, UserRight, string, CancellationToken, Task<bool>> act,
        Func<bool, string> verb
    )
    {
        Argument<string> user = UserCommand.Name();
        Argument<UserRight> right = new("RIGHT")
        {
            Description = "publish, consume, manage or admin.",
            HelpName = "RIGHT",
            CustomParser = result =>
            {
                string text = result.Tokens[0].Value;
                bool ok =
                    Enum.TryParse(text, ignoreCase: true, out UserRight parsed)
                    && Enum.IsDefined(parsed)
                    && !char.IsAsciiDigit(text[0]);
                return ValueOptions.Parsed(
                    result,
                    ok,
                    parsed,
                    $"'{text}' is not one of publish, consume, manage, admin."
                );
            },
        };
        Argument<string?> topic = new("TOPIC")
        {
            Description =
                "A topic's name, the beginning of names and * ('orders.*', which is not orders itself), or '*' for "
                + "all; none with admin. In quotes, or the shell puts names of files in its place.",
            Arity = ArgumentArity.ZeroOrOne,
        };
        var command = new BrokerCommand(name, description, examples) { user, right, topic };
        command.Run(async call =>
        {
            (string whom, UserRight what) = (call.Required(user), call.Required(right));
            string where =
                call.Get(topic)
                ?? (
                    what == UserRight.Admin
                        ? Everything
                        : throw new CommandException(
                            ExitCode.Usage,
                            $"The topic is missing: {ValueOptions.Hyphenated(what)} is on a topic, on names that "
                                + $"begin alike ('orders.*'), or on all ('*')."
                        )
                );
            bool changed = await act(call.Client.Users, whom, what, where, call.Cancellation);
            string text = ValueOptions.Hyphenated(what);
            if (where.Length != 0 && Path.Exists(where))
            {
                Console.Error.WriteLine(
                    $"lightq: {where} is also the name of a file here. Where the shell has put that in the place of a "
                        + $"name with '*', say it again in quotes, as in 'orders.*'."
                );
            }

            call.Answer(
                new GrantChangeView(whom, text, where, changed),
                UsersJson.Default.GrantChangeView,
                $"{whom} {verb(changed)} {(what == UserRight.Admin ? "do everything" : $"{text} on {where}")}."
            );
        });
        return command;
    }

    private static BrokerCommand List()
    {
        Argument<string?> user = new("USER")
        {
            Description = "Only this user's rights.",
            Arity = ArgumentArity.ZeroOrOne,
        };
        var command = new BrokerCommand(
            "list",
            "List rights, by user.",
            "lightq grant list",
            "lightq grant list alice --output json"
        )
        {
            user,
        };
        command.Run(async call =>
        {
            IReadOnlyList<UserGrantInfo> grants = await call.Client.Users.ListGrantsAsync(
                call.Get(user),
                call.Cancellation
            );
            call.Answer([.. grants.Select(GrantView.From)], UsersJson.Default.GrantViewArray, ToTable);
        });
        return command;
    }

    private static Table ToTable(GrantView[] grants)
    {
        Table table = CommandConsole.Table("user", "right", "topic");
        foreach (GrantView grant in grants)
            table.AddRow(Markup.Escape(grant.User), grant.Right, Markup.Escape(grant.Topic));
        return table;
    }
}
