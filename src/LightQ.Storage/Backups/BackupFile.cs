namespace LightQ.Storage.Backups;

/// <summary>A file of a backup.</summary>
/// <param name="Path">Where it is in the folder, and belongs in a data directory; with <c>/</c>.</param>
/// <param name="Length">Its bytes.</param>
/// <param name="Sha256">Its SHA-256 in 64 hexadecimal digits, as <c>sha256sum</c> prints it.</param>
public sealed record BackupFile(string Path, long Length, string Sha256);
