namespace LightQ.Storage;

/// <summary>A data directory cannot be used: another broker holds it, or it cannot be written.</summary>
public sealed class DataDirectoryException(string directory, string message, Exception inner)
    : IOException(message, inner)
{
    /// <summary>The directory.</summary>
    public string Directory { get; } = directory;
}
