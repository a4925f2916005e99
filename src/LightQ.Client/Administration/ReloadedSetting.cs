namespace LightQ.Client.Administration;

/// <summary>A setting whose value differs from the one that the broker ran with.</summary>
/// <param name="Key">Its key, such as <c>DataPlane:MaxConnections</c>.</param>
/// <param name="From">The value that the broker ran with.</param>
/// <param name="To">The value that the configuration now has.</param>
/// <param name="Applied">Whether it is in force now; otherwise it needs a restart.</param>
public sealed record ReloadedSetting(string Key, string From, string To, bool Applied);
