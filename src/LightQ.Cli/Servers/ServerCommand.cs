using System.CommandLine;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Server;
using LightQ.Server.Configuration;

namespace LightQ.Cli.Servers;

/// <summary><c>lightq server</c>: a broker in this process, until a signal.</summary>
internal static class ServerCommand
{
    public static Command Create()
    {
        Option<string?> config = CommonOptions.ConfigurationFile();
        Option<bool> printConfig = new("--print-config")
        {
            Description = "Show every setting, its value and where it comes from, and do not start.",
        };
        Option<bool> endWithInput = new("--end-with-input")
        {
            Description = "Stop when standard input ends.",
            Hidden = true,
        };
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand(
            "server",
            "Run a broker until Ctrl-C or SIGTERM. Settings come from the file, then LIGHTQ__KEY environment "
                + "variables, then flags.",
            "lightq server --data /var/lib/lightq",
            "lightq server --data ./data --data-port 6700 --control-port 6701 --web-port 6702",
            "lightq server --data ./data --tls-self-signed",
            "lightq server --bind 0.0.0.0 --require-auth --tls-cert broker.crt --tls-key broker.key",
            "lightq server --print-config"
        );
        List<Option> flags = [.. SettingFlags()];
        foreach (Option option in flags.Concat([config, printConfig, endWithInput, output]))
            command.Add(option);
        command.Add(ServerStopCommand.Create());
        command.Add(ServerReloadCommand.Create());
        command.Add(ServerSettingsCommand.Create());
        command.Add(ServerConfirmCatalogCommand.Create());
        command.SetAction(
            (parsed, cancellationToken) =>
            {
                var process = new ServerProcess
                {
                    Flags = Given(parsed, flags),
                    ConfigurationFile = parsed.GetValue(config),
                    Output = parsed.GetValue(output),
                    EndWithInput = parsed.GetValue(endWithInput),
                };
                return parsed.GetValue(printConfig)
                    ? Task.FromResult(process.PrintConfiguration())
                    : process.RunAsync(cancellationToken);
            }
        );
        return command;
    }

    /// <summary>
    /// An option for every setting that has a flag; its text is judged where files and the environment are, too.
    /// </summary>
    public static IEnumerable<Option> SettingFlags()
    {
        var defaults = new LightQServerOptions { DataDirectory = ServerConfiguration.DefaultDataDirectory };
        foreach (ServerSetting setting in ServerSettings.All)
        {
            if (setting.Flag is not { } flag)
                continue;
            string value = setting.Read(defaults);
            bool isSwitch = bool.TryParse(value, out _);
            yield return new Option<string?>(flag)
            {
                Description = setting.Description,
                HelpName = isSwitch ? "true|false" : "VALUE",
                Arity = isSwitch ? ArgumentArity.ZeroOrOne : ArgumentArity.ExactlyOne,
                // For the help; a flag that is not given comes from the file or the environment.
                DefaultValueFactory = _ => value,
            };
        }
    }

    /// <summary>The flags that were given, with their texts.</summary>
    public static Dictionary<string, string> Given(ParseResult parsed, IEnumerable<Option> flags)
    {
        var given = new Dictionary<string, string>();
        foreach (Option option in flags)
        {
            if (parsed.GetResult(option) is { Implicit: false } result)
                given[option.Name] = result.Tokens is [var token, ..] ? token.Value : "true";
        }
        return given;
    }
}
