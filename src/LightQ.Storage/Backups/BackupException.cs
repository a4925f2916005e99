namespace LightQ.Storage.Backups;

/// <summary>A backup cannot be used, or a folder cannot take one.</summary>
public sealed class BackupException(string folder, string message, Exception? inner = null)
    : IOException(message, inner)
{
    /// <summary>The backup's folder.</summary>
    public string Folder { get; } = folder;
}
