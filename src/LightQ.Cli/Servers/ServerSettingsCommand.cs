using System.CommandLine;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client.Administration;
using Spectre.Console;

namespace LightQ.Cli.Servers;

/// <summary><c>lightq server settings</c>: shows what a running broker is set to.</summary>
internal static class ServerSettingsCommand
{
    public static Command Create()
    {
        var command = new BrokerCommand(
            "settings",
            "Show every setting of a running broker, with the value in force, where it comes from, and whether a "
                + "reload takes it over; with the right admin.",
            "lightq server settings",
            "lightq server settings --output json"
        );
        command.Run(async call =>
        {
            BrokerSettings settings = await call.Client.Operations.ListSettingsAsync(call.Cancellation);
            call.Answer(SettingsView.Of(settings), ServersJson.Default.SettingsView, ToTable);
        });
        return command;
    }

    private static Table ToTable(SettingsView view)
    {
        Table table = CommandConsole.Table("setting", "value", "source", "another value");
        foreach (SettingView setting in view.Settings)
        {
            string[] cells =
            [
                setting.Key,
                setting.Value,
                setting.SourceName.Length == 0 ? setting.Source : setting.SourceName,
                setting.Live ? "reload" : "restart",
            ];
            table.AddRow([.. cells.Select(Markup.Escape)]);
        }
        return table;
    }
}
