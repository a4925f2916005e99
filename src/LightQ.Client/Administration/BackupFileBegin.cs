namespace LightQ.Client.Administration;

/// <summary>A file of a backup begins; its bytes follow.</summary>
/// <param name="Path">
/// Where it belongs in a data directory, with slashes. It comes from the broker: check it before a file is made there.
/// </param>
/// <param name="Length">Its length in bytes.</param>
public sealed record BackupFileBegin(string Path, long Length) : BackupPart;
