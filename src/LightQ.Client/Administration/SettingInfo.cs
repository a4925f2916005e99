namespace LightQ.Client.Administration;

/// <summary>A setting of a broker.</summary>
/// <param name="Key">Its key, such as <c>DataPlane:MaxConnections</c>.</param>
/// <param name="Value">
/// The value in force, as a configuration file would have it. Of a secret only whether there is one: <c>(secret)</c> or
/// <c>(none)</c>.
/// </param>
/// <param name="Source">Where the value comes from.</param>
/// <param name="SourceName">
/// The file's path, the environment variable or the flag; empty for the other sources.
/// </param>
/// <param name="IsLive">Whether a reload takes another value over; otherwise it needs a restart.</param>
/// <param name="IsSecret">Whether the value is a secret.</param>
/// <param name="Description">What the setting does, in one line.</param>
public sealed record SettingInfo(
    string Key,
    string Value,
    SettingSource Source,
    string SourceName,
    bool IsLive,
    bool IsSecret,
    string Description
);
