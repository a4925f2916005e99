using LightQ.Storage.Files;

namespace LightQ.Storage.Spilling;

/// <summary>One temporary file of a queue. Used by the spill thread alone.</summary>
internal sealed class SpillFile(IStorageFile file, string path)
{
    /// <summary>The file.</summary>
    public IStorageFile File { get; } = file;

    /// <summary>Its path.</summary>
    public string Path { get; } = path;

    /// <summary>Bytes written.</summary>
    public long Length { get; set; }

    /// <summary>Runs in it that are still wanted.</summary>
    public int Runs { get; set; }
}
