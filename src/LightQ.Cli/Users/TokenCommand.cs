using System.CommandLine;
using System.Globalization;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client.Administration;
using Spectre.Console;

namespace LightQ.Cli.Users;

/// <summary><c>lightq token</c>: makes tokens for programs, lists and revokes them.</summary>
internal static class TokenCommand
{
    public static Command Create() =>
        new ExampleCommand(
            "token",
            "Make tokens that stand for a user without its password, list and revoke them.",
            "lightq token create --user billing-service --expires 30d",
            "lightq token list",
            "lightq token revoke 3f9ac21b77de"
        )
        {
            CreateToken(),
            List(),
            Revoke(),
        };

    private static BrokerCommand CreateToken()
    {
        Option<string?> user = new("--user")
        {
            Description = "Whose token; another's needs the right admin. Default: your own.",
            HelpName = "USER",
        };
        Option<TimeSpan?> expires = ValueOptions.Duration("--expires");
        expires.Description = "How long the token is valid, such as 12h or 30d. Default: until it is revoked.";
        Option<string?> to = new("--to")
        {
            Description =
                "Write the token to a file that its owner alone may read, and take the place of one that is "
                + "there in one step. It is not printed then.",
            HelpName = "FILE",
        };
        Option<string?> description = new("--description") { Description = "What it is for.", HelpName = "TEXT" };
        var command = new BrokerCommand(
            "create",
            "Make a token. It is printed alone on standard output, or written to a file, and cannot be shown again; "
                + "programs give it as LIGHTQ_TOKEN, LightQClientOptions.Token or TokenFile.",
            "lightq token create --user billing-service --expires 30d --to billing.token",
            "lightq token create --user billing-service --expires 30d --description \"invoices on host 7\" --output "
                + "json"
        )
        {
            user,
            expires,
            to,
            description,
        };
        command.Run(async call =>
        {
            if (call.Get(to) is { } wanted)
                SecretFile.Check(wanted);
            CreatedToken made = await call.Client.Users.CreateTokenAsync(
                call.Get(user),
                call.Get(expires),
                call.Get(description) ?? "",
                call.Cancellation
            );
            if (call.Get(to) is { } file)
            {
                await SecretFile.WriteAsync(file, made.Token, call.Cancellation);
                call.Answer(TokenView.From(made.Info), UsersJson.Default.TokenView, $"Wrote {file}.");
            }
            else
            {
                call.Answer(TokenView.From(made), UsersJson.Default.TokenView, made.Token);
            }
            if (!call.IsJson)
            {
                new CommandConsole().Note(
                    $"Token {made.Info.Id} of {made.Info.User}, good {Until(made.Info.ExpireTime)}."
                );
            }
        });
        return command;
    }

    private static BrokerCommand List()
    {
        Argument<string?> user = new("USER")
        {
            Description = "Only this user's tokens.",
            Arity = ArgumentArity.ZeroOrOne,
        };
        var command = new BrokerCommand(
            "list",
            "List tokens, oldest first; never the tokens themselves.",
            "lightq token list",
            "lightq token list billing-service --output json"
        )
        {
            user,
        };
        command.Run(async call =>
        {
            IReadOnlyList<TokenInfo> tokens = await call.Client.Users.ListTokensAsync(
                call.Get(user),
                call.Cancellation
            );
            call.Answer([.. tokens.Select(TokenView.From)], UsersJson.Default.TokenViewArray, ToTable);
        });
        return command;
    }

    private static Table ToTable(TokenView[] tokens)
    {
        Table table = CommandConsole.Table("id", "user", "created", "good", "description");
        foreach (TokenView token in tokens)
        {
            table.AddRow(
                token.Id,
                Markup.Escape(token.User),
                token.CreateTime.ToString("u", CultureInfo.InvariantCulture),
                Until(token.ExpireTime),
                Markup.Escape(token.Description)
            );
        }
        return table;
    }

    private static BrokerCommand Revoke()
    {
        Argument<string> id = new("ID") { Description = "The token's id, as the list shows it." };
        var command = new BrokerCommand(
            "revoke",
            "End a token, and what was opened with it.",
            "lightq token revoke 3f9ac21b77de"
        )
        {
            id,
        };
        command.Run(async call =>
        {
            string token = call.Required(id);
            await call.Client.Users.RevokeTokenAsync(token, call.Cancellation);
            call.Answer(new DeletedView(token), UsersJson.Default.DeletedView, $"Revoked {token}.");
        });
        return command;
    }

    private static string Until(DateTimeOffset? expires) =>
        expires is { } end ? "until " + end.ToString("u", CultureInfo.InvariantCulture) : "until it is revoked";
}
