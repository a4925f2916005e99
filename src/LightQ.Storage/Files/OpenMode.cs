namespace LightQ.Storage.Files;

/// <summary>How to open a file.</summary>
internal enum OpenMode
{
    /// <summary>An existing file, for reading.</summary>
    Read,

    /// <summary>An existing file, for reading and writing.</summary>
    ReadWrite,

    /// <summary>An existing or new file, for reading and writing.</summary>
    OpenOrCreate,

    /// <summary>A new and empty file, for reading and writing; what had that name is gone.</summary>
    Create,
}
