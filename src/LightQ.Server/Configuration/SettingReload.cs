namespace LightQ.Server.Configuration;

/// <summary>A setting whose value differs from the one that the server runs with.</summary>
/// <param name="Setting">The setting.</param>
/// <param name="From">The value that the server ran with.</param>
/// <param name="To">The value that the configuration now has.</param>
/// <param name="IsApplied">Whether it is in force now; otherwise it needs a restart.</param>
public sealed record SettingReload(ServerSetting Setting, string From, string To, bool IsApplied);
