namespace LightQ.Client.Administration;

/// <summary>A file of a backup begins; its bytes follow.</summary>
/// <param name="Path">
/// Where the file belongs in a data directory, with slashes. The path comes from the broker: check it before you create
/// a file there.
/// </param>
/// <param name="Length">Its length in bytes.</param>
public sealed record BackupFileBegin(string Path, long Length) : BackupPart;
