using LightQ.Cli.Options;
using LightQ.Client.Administration;

namespace LightQ.Cli.Servers;

/// <summary>A setting of <c>lightq server settings --output json</c>.</summary>
internal sealed record SettingView(
    string Key,
    string Value,
    string Source,
    string SourceName,
    bool Live,
    bool Secret,
    string Description
)
{
    public static SettingView Of(SettingInfo setting) =>
        new(
            setting.Key,
            setting.Value,
            ValueOptions.Hyphenated(setting.Source),
            setting.SourceName,
            setting.IsLive,
            setting.IsSecret,
            setting.Description
        );
}
