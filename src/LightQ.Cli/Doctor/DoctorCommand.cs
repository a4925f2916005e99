using System.CommandLine;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Cli.Servers;
using LightQ.Client;
using LightQ.Server.Configuration;

namespace LightQ.Cli.Doctor;

/// <summary><c>lightq doctor</c>: what a broker depends on, and what to do about it.</summary>
internal static class DoctorCommand
{
    public static Command Create()
    {
        Option<string?> config = CommonOptions.ConfigurationFile();
        Option<string?> server = new("--server")
        {
            Description =
                "Look at this broker from here: is it reached, its certificate, the login, its topics. With a setting "
                + "of 'lightq server' beside it, also at what a broker with these depends on; without one, at "
                + "this broker alone. Default: no broker.",
            HelpName = "URL",
        };
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand(
            "doctor",
            "Look at what a broker with these settings depends on: disk, ports, certificate, limits, clock, memory. "
                + "Takes the settings of 'lightq server' and changes nothing. Ends with 1 if something failed, with 4 "
                + "if there are only warnings.",
            "lightq doctor --data /var/lib/lightq",
            "lightq doctor --data ./data --tls-cert broker.crt --tls-key broker.key --output json",
            "lightq doctor --server 'lightq://broker.example?tls=true'"
        );
        List<Option> flags = [.. ServerCommand.SettingFlags()];
        foreach (Option option in flags.Concat([config, output]))
            command.Add(option);
        var named = new BrokerChoice(server);
        named.AddTo(command);
        command.SetAction(
            (parsed, _) =>
            {
                Dictionary<string, string> given = ServerCommand.Given(parsed, flags);
                string? file = parsed.GetValue(config);
                LightQClientOptions? broker = named.ReadGiven(parsed);
                // The data directory and ports of the broker are not known here. The defaults may be another broker's,
                // or its own ports in use.
                bool isBrokerAlone = broker is not null && given.Count == 0 && file is null;
                return new DoctorJob(
                    isBrokerAlone ? null : ServerConfiguration.Load(given, file).Options,
                    broker,
                    parsed.GetValue(output)
                ).RunAsync();
            }
        );
        return command;
    }
}
