using System.CommandLine;
using System.Text.Json;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client;

namespace LightQ.Cli.Contexts;

/// <summary><c>lightq context add</c>: gives a broker a name.</summary>
internal sealed class ContextAddCommand
{
    private readonly Argument<string> _name = ContextCommand.NameOf("The name that the broker gets.");
    private readonly Option<string> _server = new("--server")
    {
        Description =
            "The broker or brokers, as --server of other commands takes them. A password or token in it is stored; "
            + "--password-file and --token-file keep it out of the command line.",
        HelpName = "URL",
        Required = true,
    };
    private readonly Option<string?> _user = new("--user")
    {
        Description = "The user to log in as. Without a password file the password comes from the environment.",
        HelpName = "USER",
    };
    private readonly Option<string?> _passwordFile = ContextCommand.FileOf(
        "--password-file",
        "A file with the user's password; it is read each time, and not copied."
    );
    private readonly Option<string?> _tokenFile = ContextCommand.FileOf(
        "--token-file",
        "A file with a token, in place of user and password; it is read each time, and not copied."
    );
    private readonly Option<string?> _ca = ContextCommand.FileOf(
        "--ca",
        "Trust the authorities in this PEM file alone."
    );
    private readonly Option<string?> _certificate = ContextCommand.FileOf(
        "--cert",
        "The certificate to show to a broker that asks for one."
    );
    private readonly Option<string?> _key = ContextCommand.FileOf(
        "--key",
        "The key of --cert. Default: it is in the same file."
    );
    private readonly Option<bool> _tls = new("--tls") { Description = "Encrypt; --ca and --cert imply it." };
    private readonly Option<bool> _use = new("--use") { Description = "Use it from now on." };
    private readonly Option<bool> _replace = new("--replace") { Description = "Replace a context of that name." };
    private readonly Option<OutputFormat> _output = CommonOptions.Output();

    public static Command Create()
    {
        var add = new ContextAddCommand();
        var command = new ExampleCommand(
            "add",
            "Give a broker a name, under which --context finds it. No connection is made.",
            "lightq context add test --server test.example --use",
            "lightq context add prod --server n1,n2,n3 --user alice --password-file ~/.lightq-prod --ca ca.pem",
            "lightq context add ci --server 'lightq://broker.example?tls=true' --token-file ./token --replace"
        )
        {
            add._name,
            add._server,
            add._user,
            add._passwordFile,
            add._tokenFile,
            add._ca,
            add._certificate,
            add._key,
            add._tls,
            add._use,
            add._replace,
            add._output,
        };
        command.SetAction((parsed, _) => add.RunAsync(parsed));
        return command;
    }

    private static string? Full(string? path) => path is null ? null : Path.GetFullPath(path);

    private async Task<int> RunAsync(ParseResult parsed)
    {
        string name = parsed.GetRequiredValue(_name);
        StoredContext context = await ReadAsync(parsed);
        ContextChangeView? change = null;
        ContextFile.Change(contexts =>
        {
            bool isNew = !contexts.Contexts.ContainsKey(name);
            if (!isNew && !parsed.GetValue(_replace))
            {
                throw new CommandException(
                    ExitCode.Usage,
                    $"There is a context '{name}' already: give --replace to replace it, or another name."
                );
            }
            contexts.Contexts[name] = context;
            if (parsed.GetValue(_use))
                contexts.Current = name;
            change = new ContextChangeView(name, isNew ? "added" : "replaced", contexts.Current);
        });
        if (parsed.GetValue(_output) == OutputFormat.Json)
        {
            CommandConsole.Line(JsonSerializer.Serialize(change!, ContextsJson.Default.ContextChangeView));
        }
        else
        {
            CommandConsole.Line(
                $"The context {name} is {change!.Change}"
                    + (change.Current == name ? " and in use." : $"; 'lightq context use {name}' uses it.")
            );
        }
        return ExitCode.Ok;
    }

    private async Task<StoredContext> ReadAsync(ParseResult parsed)
    {
        LightQClientOptions options = CommonOptions.Parse(parsed.GetRequiredValue(_server));
        string? user = parsed.GetValue(_user);
        if (user is not null && options.User is not null && options.User != user)
        {
            throw new CommandException(
                ExitCode.Usage,
                $"--user names {user}, and the connection string {options.User}: give one of them."
            );
        }
        string? ca = parsed.GetValue(_ca) ?? options.CertificateAuthorityFile,
            certificate = parsed.GetValue(_certificate) ?? options.ClientCertificateFile,
            key = parsed.GetValue(_key) ?? options.ClientKeyFile;
        options = options with
        {
            User = user ?? options.User,
            CertificateAuthorityFile = Full(ca),
            ClientCertificateFile = Full(certificate),
            ClientKeyFile = Full(key),
            Tls =
                options.Tls
                || parsed.GetValue(_tls)
                || (parsed.GetValue(_ca) ?? parsed.GetValue(_certificate) ?? parsed.GetValue(_key)) is not null,
        };
        // A client connects at its first call, and checks its options at once.
        await using (new LightQClient(options)) { }
        string? passwordFile = Full(parsed.GetValue(_passwordFile)),
            tokenFile = Full(parsed.GetValue(_tokenFile));
        if (new[] { options.Password, options.Token, passwordFile, tokenFile }.Count(s => s is not null) > 1)
        {
            throw new CommandException(
                ExitCode.Usage,
                "A context has one secret at most: a password or a token, in the connection string or in a file."
            );
        }
        if (passwordFile is not null && options.User is null)
            throw new CommandException(ExitCode.Usage, "--password-file needs a user: give --user too.");
        return new StoredContext
        {
            Server = options.ToString(),
            Password = options.Password,
            PasswordFile = passwordFile,
            Token = options.Token,
            TokenFile = tokenFile,
        };
    }
}
