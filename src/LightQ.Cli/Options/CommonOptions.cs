using System.CommandLine;
using System.Net;
using System.Net.Sockets;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.Protocol;

namespace LightQ.Cli.Options;

/// <summary>Options and arguments that several commands share.</summary>
internal static class CommonOptions
{
    /// <summary>The variable that names a context.</summary>
    public const string ContextVariable = "LIGHTQ_CONTEXT";

    /// <summary>The slow-consumer policies, for descriptions.</summary>
    public const string SlowPolicyText =
        "producers wait for it (block), it loses the oldest messages (drop-oldest) or those that arrive "
        + "(drop-newest), it is ended (disconnect), or its backlog goes to the broker's disk (spill-to-disk).";

    private const string ServerVariable = "LIGHTQ_SERVER";
    private const string PasswordVariable = "LIGHTQ_PASSWORD",
        PasswordFileVariable = "LIGHTQ_PASSWORD_FILE",
        TokenVariable = "LIGHTQ_TOKEN";
    private const string DefaultServer = "lightq://127.0.0.1";

    /// <summary>Which broker.</summary>
    public static Option<string?> Server() =>
        new("--server")
        {
            Description =
                $"The broker, by its name or address alone, or as "
                + $"lightq://[user[:password]@]host[:data-port][?control=PORT&tls=true&ca=FILE]; of a cluster, some or "
                + $"all brokers, with commas: n1,n2,n3. Default: "
                + $"{ServerVariable}, then the context (see --context), then {DefaultServer}. The user's password may "
                + $"also come from {PasswordVariable} or the file that {PasswordFileVariable} names, a token from "
                + $"{TokenVariable}. Beyond this machine they are sent with tls=true only, or with insecure=true.",
            HelpName = "URL",
        };

    /// <summary>What happens to a slow subscriber.</summary>
    public static Option<SlowPolicy> SlowPolicy() =>
        ValueOptions.HyphenatedChoice(
            "--slow-policy",
            Client.SlowPolicy.Block,
            Client.SlowPolicy.DropOldest,
            Client.SlowPolicy.DropNewest,
            Client.SlowPolicy.Disconnect,
            Client.SlowPolicy.SpillToDisk
        );

    /// <summary>How long a blocking subscriber may stand still.</summary>
    public static Option<TimeSpan?> SlowTimeout() =>
        new("--slow-timeout")
        {
            Description =
                "With block: end this subscriber when it has stood still this long while producers waited; 500ms to "
                + "24h. Default: the broker's, 10s.",
            HelpName = "TIME",
            CustomParser = result =>
            {
                string text = result.Tokens[0].Value;
                bool ok =
                    DurationText.TryParse(text, out TimeSpan timeout)
                    && timeout.TotalMilliseconds
                        is >= ProtocolLimits.MinSlowTimeoutMilliseconds
                            and <= ProtocolLimits.MaxSlowTimeoutMilliseconds;
                return ValueOptions.Parsed<TimeSpan?>(
                    result,
                    ok,
                    timeout,
                    $"'{text}' is not a duration from 500ms to 24h."
                );
            },
        };

    /// <summary>How long a member's messages are its own.</summary>
    public static Option<TimeSpan?> LockDuration() =>
        new("--lock")
        {
            Description =
                "With --group on a durable topic: how long a delivered message is this member's; 1s to 12h. Default: "
                + "with --max-in-flight the topic's, otherwise 12h.",
            HelpName = "TIME",
            CustomParser = result =>
            {
                string text = result.Tokens[0].Value;
                bool ok =
                    DurationText.TryParse(text, out TimeSpan duration)
                    && duration.TotalMilliseconds
                        is >= ProtocolLimits.MinLockMilliseconds
                            and <= ProtocolLimits.MaxLockMilliseconds;
                return ValueOptions.Parsed<TimeSpan?>(
                    result,
                    ok,
                    duration,
                    $"'{text}' is not a duration from 1s to 12h."
                );
            },
        };

    /// <summary>Table or JSON.</summary>
    public static Option<OutputFormat> Output()
    {
        Option<OutputFormat> output = ValueOptions.Choice("--output", OutputFormat.Table, OutputFormat.Json);
        output.Description = "table for people, the default; json for programs.";
        return output;
    }

    /// <summary>A topic's name.</summary>
    public static Argument<string> Topic() => new("TOPIC") { Description = "The topic's name." };

    /// <summary>A topic's name, or one partition of it.</summary>
    public static Argument<TopicAddress> Address() =>
        new("TOPIC")
        {
            Description = "The topic's name; NAME/3 is its partition 3.",
            CustomParser = result =>
                ValueOptions.Parsed(
                    result,
                    TopicAddress.TryParse(result.Tokens[0].Value, out TopicAddress address, out string problem),
                    address,
                    problem
                ),
        };

    /// <summary>The client options that <c>--server</c>, the environment or the context in use names.</summary>
    /// <exception cref="CommandException">They are not a connection string, or there is no such context.</exception>
    public static LightQClientOptions ClientOptions(string? server)
    {
        // Empty is a shell's way to say unset.
        if (server is null && Environment.GetEnvironmentVariable(ServerVariable) is { Length: > 0 } variable)
            server = variable;
        if (server is not null)
            return WithSecrets(Parse(server));
        if (Environment.GetEnvironmentVariable(ContextVariable) is { Length: > 0 } context)
            return ContextOptions(context, ContextVariable);
        ContextDocument contexts = ContextFile.Read();
        return contexts.Current is { } current
            ? ContextOptions(ContextFile.Get(contexts, current, ContextFile.Path!))
            : WithSecrets(Parse(DefaultServer));
    }

    /// <summary>The client options of a context.</summary>
    /// <param name="name">Its name.</param>
    /// <param name="source">What names it, for errors.</param>
    /// <exception cref="CommandException">There is no such context, or a file of it cannot be read.</exception>
    public static LightQClientOptions ContextOptions(string name, string source) =>
        ContextOptions(ContextFile.Get(ContextFile.Read(), name, source));

    /// <summary>Reads a connection string, or a name or an address alone.</summary>
    /// <exception cref="CommandException">It is neither.</exception>
    public static LightQClientOptions Parse(string server)
    {
        try
        {
            return LightQClientOptions.Parse(Complete(server)) with { ClientName = "lightq" };
        }
        catch (ArgumentException e)
        {
            throw new CommandException(ExitCode.Usage, e.Message, e);
        }
    }

    /// <summary>
    /// A connection string with the login that the environment has for it, for processes that are told it over a pipe.
    /// It is not to be shown.
    /// </summary>
    /// <exception cref="CommandException">It is not a connection string.</exception>
    public static string? WithLogin(string? server) => server is null ? null : WithLogin(ClientOptions(server));

    /// <summary>The same of client options.</summary>
    public static string WithLogin(LightQClientOptions options)
    {
        string server = options.ToString();
        if (options is { User: not null, Password: { } password })
        {
            // What stands before it is escaped: the first '@' ends the user.
            int at = server.IndexOf('@', StringComparison.Ordinal);
            server = server.Insert(at, $":{Uri.EscapeDataString(password)}");
        }
        if (options.Token is { } token)
        {
            char separator = server.Contains('?', StringComparison.Ordinal) ? '&' : '?';
            server = $"{server}{separator}token={Uri.EscapeDataString(token)}";
        }
        return server;
    }

    private static LightQClientOptions ContextOptions(StoredContext context)
    {
        LightQClientOptions options = Parse(context.Server);
        if (context.TokenFile is { } tokenFile)
            return options with { Token = NamedFile.ReadSecret(tokenFile, "the context") };
        if (context.PasswordFile is { } passwordFile)
            return options with { Password = NamedFile.ReadSecret(passwordFile, "the context") };
        return WithSecrets(options with { Password = context.Password, Token = context.Token });
    }

    /// <summary>The connection string that a name or an address alone stands for.</summary>
    private static string Complete(string server) =>
        server.Contains("://", StringComparison.Ordinal) ? server
        : IPAddress.TryParse(server, out IPAddress? address) && address.AddressFamily == AddressFamily.InterNetworkV6
            ? $"lightq://[{address}]"
        : $"lightq://{server}";

    /// <summary>
    /// What the connection string leaves out of a login, from the environment: arguments can be read by every user of
    /// the machine.
    /// </summary>
    private static LightQClientOptions WithSecrets(LightQClientOptions options)
    {
        if (options.Token is not null || options.Password is not null)
            return options;
        if (options.User is null)
        {
            return Environment.GetEnvironmentVariable(TokenVariable) is { Length: > 0 } token
                ? options with
                {
                    Token = token,
                }
                : options;
        }

        if (Environment.GetEnvironmentVariable(PasswordVariable) is { Length: > 0 } password)
            return options with { Password = password };
        if (Environment.GetEnvironmentVariable(PasswordFileVariable) is { Length: > 0 } file)
            return options with { Password = NamedFile.ReadSecret(file, PasswordFileVariable) };
        return options.ClientCertificateFile is not null
            ? options
            : throw new CommandException(
                ExitCode.Usage,
                $"There is no password for the user {options.User}: put it into {PasswordVariable}, or name its file "
                    + $"in {PasswordFileVariable}; the admin's is admin-password in the broker's data directory."
            );
    }

    /// <summary>Which file the settings come from.</summary>
    public static Option<string?> ConfigurationFile() =>
        new("--config")
        {
            Description = "The configuration file. Default: lightq.json in the working directory, if it is there.",
            HelpName = "FILE",
        };
}
