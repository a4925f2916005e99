using System.CommandLine;
using System.Globalization;
using System.Text.Json;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.Client.Administration;
using Spectre.Console;

namespace LightQ.Cli.Users;

/// <summary><c>lightq token</c>: makes tokens for programs, lists and revokes them.</summary>
internal static class TokenCommand
{
    public static Command Create() => new ExampleCommand(
        "token",
        "Make tokens that stand for a user without its password, list and revoke them.",
        "lightq token create --user billing-service --expires 30d",
        "lightq token list",
        "lightq token revoke 3f9ac21b77de")
    {
        CreateToken(),
        List(),
        Revoke(),
    };

    private static ExampleCommand CreateToken()
    {
        Option<string?> user = new("--user") { Description = "Whose token; another's needs the right admin. Default: your own.", HelpName = "USER" };
        Option<TimeSpan?> expires = ValueOptions.Duration("--expires");
        expires.Description = "How long it is good for, such as 12h or 30d. Default: until it is revoked.";
        Option<string?> description = new("--description") { Description = "What it is for.", HelpName = "TEXT" };
        Option<string?> server = CommonOptions.Server();
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand(
            "create",
            "Make a token. It is printed alone on standard output and cannot be shown again; programs give it as LIGHTQ_TOKEN or LightQClientOptions.Token.",
            "lightq token create --user billing-service --expires 30d > billing.token",
            "lightq token create --user billing-service --expires 30d --description \"invoices on host 7\" --output json")
        {
            user, expires, description, server, output,
        };
        command.SetAction(async (parsed, cancellationToken) =>
        {
            await using var client = new LightQClient(CommonOptions.ClientOptions(parsed.GetValue(server)));
            CreatedToken made = await client.Users.CreateTokenAsync(parsed.GetValue(user), parsed.GetValue(expires), parsed.GetValue(description) ?? "", cancellationToken);
            if (parsed.GetValue(output) == OutputFormat.Json)
            {
                Console.Out.WriteLine(JsonSerializer.Serialize(TokenView.From(made), UsersJson.Default.TokenView));
                return ExitCode.Ok;
            }
            Console.Out.WriteLine(made.Token);
            new CommandConsole().Note($"Token {made.Info.Id} of {made.Info.User}, good {Until(made.Info.ExpireTime)}.");
            return ExitCode.Ok;
        });
        return command;
    }

    private static ExampleCommand List()
    {
        Argument<string?> user = new("USER") { Description = "Only this user's tokens.", Arity = ArgumentArity.ZeroOrOne };
        Option<string?> server = CommonOptions.Server();
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand("list", "List tokens, oldest first; never the tokens themselves.", "lightq token list", "lightq token list billing-service --output json") { user, server, output };
        command.SetAction(async (parsed, cancellationToken) =>
        {
            await using var client = new LightQClient(CommonOptions.ClientOptions(parsed.GetValue(server)));
            TokenView[] tokens = [.. (await client.Users.ListTokensAsync(parsed.GetValue(user), cancellationToken)).Select(TokenView.From)];
            if (parsed.GetValue(output) == OutputFormat.Json)
            {
                Console.Out.WriteLine(JsonSerializer.Serialize(tokens, UsersJson.Default.TokenViewArray));
                return ExitCode.Ok;
            }
            Table table = CommandConsole.Table("id", "user", "created", "good", "description");
            foreach (TokenView token in tokens)
                table.AddRow(token.Id, Markup.Escape(token.User), token.CreateTime.ToString("u", CultureInfo.InvariantCulture), Until(token.ExpireTime), Markup.Escape(token.Description));
            new CommandConsole().Tables.Write(table);
            return ExitCode.Ok;
        });
        return command;
    }

    private static ExampleCommand Revoke()
    {
        Argument<string> id = new("ID") { Description = "The token's id, as the list shows it." };
        Option<string?> server = CommonOptions.Server();
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand("revoke", "End a token, and what was opened with it.", "lightq token revoke 3f9ac21b77de") { id, server, output };
        command.SetAction(async (parsed, cancellationToken) =>
        {
            string token = parsed.GetRequiredValue(id);
            await using var client = new LightQClient(CommonOptions.ClientOptions(parsed.GetValue(server)));
            await client.Users.RevokeTokenAsync(token, cancellationToken);
            Console.Out.WriteLine(parsed.GetValue(output) == OutputFormat.Json ? JsonSerializer.Serialize(new DeletedView(token), UsersJson.Default.DeletedView) : $"Revoked {token}.");
            return ExitCode.Ok;
        });
        return command;
    }

    private static string Until(DateTimeOffset? expires) => expires is { } end ? "until " + end.ToString("u", CultureInfo.InvariantCulture) : "until it is revoked";
}
