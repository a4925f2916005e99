namespace LightQ.Storage;

/// <summary>A journal that had been opened before is gone: to begin anew would lose what it held silently.</summary>
public sealed class JournalMissingException(string directory)
    : IOException(
        $"The journal in '{directory}' is gone: there is neither a checkpoint nor a segment. Stop the broker and put "
            + $"it back from a copy, or delete the topic and lose its messages."
    )
{
    /// <summary>The journal's directory.</summary>
    public string Directory { get; } = directory;
}
