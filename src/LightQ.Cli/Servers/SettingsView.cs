using LightQ.Client.Administration;

namespace LightQ.Cli.Servers;

/// <summary><c>lightq server settings --output json</c>.</summary>
internal sealed record SettingsView(string Node, IReadOnlyList<SettingView> Settings)
{
    public static SettingsView Of(BrokerSettings settings) =>
        new(settings.Node, [.. settings.Settings.Select(SettingView.Of)]);
}
