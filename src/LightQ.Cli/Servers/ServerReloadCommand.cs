using System.CommandLine;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client.Administration;
using Spectre.Console;

namespace LightQ.Cli.Servers;

/// <summary><c>lightq server reload</c>: has a broker read its configuration file and certificates again.</summary>
internal static class ServerReloadCommand
{
    public static Command Create()
    {
        var command = new BrokerCommand(
            "reload",
            "Have a broker read its configuration file and certificates again, with the right admin; SIGHUP does the "
                + "same. Says of each changed setting whether it is in force or needs a restart. Ends with 78, and "
                + "nothing has changed, if it is refused; with 1 if only the certificate files cannot be used.",
            "lightq server reload",
            "lightq server reload --output json"
        );
        command.Run(async call =>
        {
            ReloadResult result = await call.Client.Operations.ReloadAsync(call.Cancellation);
            call.Answer(result, ServersJson.Default.ReloadResult, Tell);
            return result.Refusal is not null ? ExitCode.Configuration
                : result.Certificate == false ? ExitCode.Failed
                : ExitCode.Ok;
        });
        return command;
    }

    private static void Tell(ReloadResult result)
    {
        if (result.Refusal is { } refusal)
        {
            Console.Out.WriteLine($"Refused, and nothing has changed: {refusal}");
            return;
        }
        if (result.Settings.Count == 0)
        {
            Console.Out.WriteLine("No setting has changed.");
        }
        else
        {
            Table table = CommandConsole.Table("setting", "from", "to", "");
            foreach (ReloadedSetting setting in result.Settings)
            {
                table.AddRow(
                    Markup.Escape(setting.Key),
                    Markup.Escape(setting.From),
                    Markup.Escape(setting.To),
                    setting.Applied ? "applied" : "needs a restart"
                );
            }

            new CommandConsole().Tables.Write(table);
        }
        if (result.Certificate is { } certificate)
        {
            Console.Out.WriteLine(
                certificate
                    ? "The certificate was read again."
                    : $"The certificate cannot be used, and the one before stays in force: {result.CertificateProblem}"
            );
        }
    }
}
