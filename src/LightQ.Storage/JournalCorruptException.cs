namespace LightQ.Storage;

/// <summary>
/// Stored bytes that had been durable are damaged: the journal refuses to open rather than lose them silently.
/// </summary>
public sealed class JournalCorruptException : IOException
{
    /// <summary>Describes the damage.</summary>
    public JournalCorruptException(
        string directory,
        string file,
        long position,
        long firstOffset,
        long lastOffset,
        string detail
    )
        : base(
            $"The journal in '{directory}' is damaged: {detail} in {file} at byte {position}; offsets {firstOffset} "
                + $"to {lastOffset} are lost or unreachable. "
                + $"Nothing was changed; a copy of the damaged file, if any, is in 'quarantine'. Stop the broker, "
                + $"then 'lightq journal repair {directory}' says what can be mended."
        )
    {
        Directory = directory;
        File = file;
        Position = position;
        FirstOffset = firstOffset;
        LastOffset = lastOffset;
        Detail = detail;
    }

    /// <summary>The journal's directory.</summary>
    public string Directory { get; }

    /// <summary>Name of the damaged file.</summary>
    public string File { get; }

    /// <summary>Where in the file the damage begins.</summary>
    public long Position { get; }

    /// <summary>The first offset that cannot be read.</summary>
    public long FirstOffset { get; }

    /// <summary>The last offset known to be concerned.</summary>
    public long LastOffset { get; }

    /// <summary>What is wrong there, in a few words.</summary>
    public string Detail { get; }
}
