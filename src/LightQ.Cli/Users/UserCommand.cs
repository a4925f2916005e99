using System.CommandLine;
using System.Globalization;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client.Administration;
using Spectre.Console;

namespace LightQ.Cli.Users;

/// <summary><c>lightq user</c>: makes users, and changes and deletes them.</summary>
internal static class UserCommand
{
    public static Command Create() =>
        new ExampleCommand(
            "user",
            "Make users, change their passwords, delete them. From the first user on, every client has to log in.",
            "lightq user create alice --password-file alice.txt",
            "lightq grant add alice publish 'orders.*'",
            "lightq user list"
        )
        {
            CreateUser(),
            SetPassword(),
            Delete(),
            List(),
        };

    /// <summary>A user's name.</summary>
    public static Argument<string> Name() => new("USER") { Description = "The user's name." };

    private static BrokerCommand CreateUser()
    {
        Argument<string> name = Name();
        Option<string?> file = NewPassword.File();
        Option<bool> without = new("--no-password")
        {
            Description = "The user has no password: it logs in with tokens or a certificate.",
        };
        var command = new BrokerCommand(
            "create",
            "Make a user, without rights. The password, 8 to 500 characters, never stands on the command line.",
            "lightq user create alice",
            "lightq user create alice --password-file alice.txt",
            "lightq user create billing-service --no-password"
        )
        {
            name,
            file,
            without,
        };
        command.Run(async call =>
        {
            string user = call.Required(name);
            string? password = call.Get(without) ? null : NewPassword.Read(call.Get(file), user);
            await call.Client.Users.CreateAsync(user, password, call.Cancellation);
            call.Answer(
                new UserChangeView(user, "created"),
                UsersJson.Default.UserChangeView,
                $"Created {user}. It has no rights yet: 'lightq grant add {user} publish TOPIC'."
            );
        });
        return command;
    }

    private static BrokerCommand SetPassword()
    {
        Argument<string> name = Name();
        Option<string?> file = NewPassword.File();
        var command = new BrokerCommand(
            "password",
            "Change a user's password: another's with the right admin, your own with the one in force. What a login "
                + "with the old password opened ends; tokens stay.",
            "lightq user password alice",
            "lightq user password alice --password-file alice.txt"
        )
        {
            name,
            file,
        };
        command.Run(async call =>
        {
            string user = call.Required(name),
                password = NewPassword.Read(call.Get(file), user);
            await call.Client.Users.SetPasswordAsync(user, password, call.Options.Password, call.Cancellation);
            call.Answer(
                new UserChangeView(user, "password changed"),
                UsersJson.Default.UserChangeView,
                $"Changed the password of {user}."
            );
        });
        return command;
    }

    private static BrokerCommand Delete()
    {
        Argument<string> name = Name();
        var command = new BrokerCommand(
            "delete",
            "Delete a user with its rights and tokens; what it has open ends.",
            "lightq user delete alice"
        )
        {
            name,
        };
        command.Run(async call =>
        {
            string user = call.Required(name);
            await call.Client.Users.DeleteAsync(user, call.Cancellation);
            call.Answer(new UserChangeView(user, "deleted"), UsersJson.Default.UserChangeView, $"Deleted {user}.");
        });
        return command;
    }

    private static BrokerCommand List()
    {
        var command = new BrokerCommand(
            "list",
            "List the users besides admin.",
            "lightq user list",
            "lightq user list --output json"
        );
        command.Run(async call =>
        {
            UserInfo[] users = [.. await call.Client.Users.ListAsync(call.Cancellation)];
            call.Answer(users, UsersJson.Default.UserInfoArray, ToTable);
        });
        return command;
    }

    private static Table ToTable(UserInfo[] users)
    {
        Table table = CommandConsole.Table("user", "password", "rights", "tokens", "created");
        foreach (UserInfo user in users)
        {
            table.AddRow(
                Markup.Escape(user.Name),
                user.HasPassword ? "yes" : "none",
                user.GrantsCount.ToString(CultureInfo.InvariantCulture),
                user.TokensCount.ToString(CultureInfo.InvariantCulture),
                user.CreateTime.ToString("u", CultureInfo.InvariantCulture)
            );
        }
        return table;
    }
}
