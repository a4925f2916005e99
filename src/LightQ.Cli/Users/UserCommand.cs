using System.CommandLine;
using System.Globalization;
using System.Text.Json;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.Client.Administration;
using Spectre.Console;

namespace LightQ.Cli.Users;

/// <summary><c>lightq user</c>: makes users, and changes and deletes them.</summary>
internal static class UserCommand
{
    public static Command Create() => new ExampleCommand(
        "user",
        "Make users, change their passwords, delete them. From the first user on, every client has to log in.",
        "lightq user create alice --password-file alice.txt",
        "lightq grant add alice publish 'orders.*'",
        "lightq user list")
    {
        CreateUser(),
        SetPassword(),
        Delete(),
        List(),
    };

    /// <summary>A user's name.</summary>
    public static Argument<string> Name() => new("USER") { Description = "The user's name." };

    private static ExampleCommand CreateUser()
    {
        Argument<string> name = Name();
        Option<string?> file = NewPassword.File();
        Option<bool> without = new("--no-password") { Description = "The user has no password: it logs in with tokens or a certificate." };
        Option<string?> server = CommonOptions.Server();
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand(
            "create",
            "Make a user, without rights. The password, 8 to 500 characters, never stands on the command line.",
            "lightq user create alice",
            "lightq user create alice --password-file alice.txt",
            "lightq user create billing-service --no-password")
        {
            name, file, without, server, output,
        };
        command.SetAction(async (parsed, cancellationToken) =>
        {
            string user = parsed.GetRequiredValue(name);
            string? password = parsed.GetValue(without) ? null : NewPassword.Read(parsed.GetValue(file), user);
            await using var client = new LightQClient(CommonOptions.ClientOptions(parsed.GetValue(server)));
            await client.Users.CreateAsync(user, password, cancellationToken);
            Report(parsed.GetValue(output), new UserChangeView(user, "created"), $"Created {user}. It has no rights yet: 'lightq grant add {user} publish TOPIC'.");
            return ExitCode.Ok;
        });
        return command;
    }

    private static ExampleCommand SetPassword()
    {
        Argument<string> name = Name();
        Option<string?> file = NewPassword.File();
        Option<string?> server = CommonOptions.Server();
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand(
            "password",
            "Change a user's password: another's with the right admin, your own with the one in force. What was opened with the one before ends; tokens stay.",
            "lightq user password alice",
            "lightq user password alice --password-file alice.txt")
        {
            name, file, server, output,
        };
        command.SetAction(async (parsed, cancellationToken) =>
        {
            string user = parsed.GetRequiredValue(name), password = NewPassword.Read(parsed.GetValue(file), user);
            LightQClientOptions options = CommonOptions.ClientOptions(parsed.GetValue(server));
            await using var client = new LightQClient(options);
            await client.Users.SetPasswordAsync(user, password, options.Password, cancellationToken);
            Report(parsed.GetValue(output), new UserChangeView(user, "password changed"), $"Changed the password of {user}.");
            return ExitCode.Ok;
        });
        return command;
    }

    private static ExampleCommand Delete()
    {
        Argument<string> name = Name();
        Option<string?> server = CommonOptions.Server();
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand("delete", "Delete a user with its rights and tokens; what it has open ends.", "lightq user delete alice") { name, server, output };
        command.SetAction(async (parsed, cancellationToken) =>
        {
            string user = parsed.GetRequiredValue(name);
            await using var client = new LightQClient(CommonOptions.ClientOptions(parsed.GetValue(server)));
            await client.Users.DeleteAsync(user, cancellationToken);
            Report(parsed.GetValue(output), new UserChangeView(user, "deleted"), $"Deleted {user}.");
            return ExitCode.Ok;
        });
        return command;
    }

    private static ExampleCommand List()
    {
        Option<string?> server = CommonOptions.Server();
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand("list", "List the users besides admin.", "lightq user list", "lightq user list --output json") { server, output };
        command.SetAction(async (parsed, cancellationToken) =>
        {
            await using var client = new LightQClient(CommonOptions.ClientOptions(parsed.GetValue(server)));
            UserInfo[] users = [.. await client.Users.ListAsync(cancellationToken)];
            if (parsed.GetValue(output) == OutputFormat.Json)
            {
                Console.Out.WriteLine(JsonSerializer.Serialize(users, UsersJson.Default.UserInfoArray));
                return ExitCode.Ok;
            }
            Table table = CommandConsole.Table("user", "password", "rights", "tokens", "created");
            foreach (UserInfo user in users)
            {
                table.AddRow(
                    Markup.Escape(user.Name), user.HasPassword ? "yes" : "none", user.GrantsCount.ToString(CultureInfo.InvariantCulture),
                    user.TokensCount.ToString(CultureInfo.InvariantCulture), user.CreateTime.ToString("u", CultureInfo.InvariantCulture));
            }
            new CommandConsole().Tables.Write(table);
            return ExitCode.Ok;
        });
        return command;
    }

    private static void Report(OutputFormat output, UserChangeView change, string text) =>
        Console.Out.WriteLine(output == OutputFormat.Json ? JsonSerializer.Serialize(change, UsersJson.Default.UserChangeView) : text);
}
