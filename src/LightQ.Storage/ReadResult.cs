namespace LightQ.Storage;

/// <summary>What <see cref="JournalReader.TryRead"/> found.</summary>
public enum ReadResult
{
    /// <summary>A run of batches, to be given back with Advance or Release.</summary>
    Run,

    /// <summary>Nothing is readable at the position yet; the journal's listener tells when that changes.</summary>
    AtEnd,

    /// <summary>The bytes come from the disk; the reader's callback is called when they are there.</summary>
    Pending,

    /// <summary>
    /// Offsets that will not come: <see cref="JournalReader.Gap"/>. The next read goes on behind them.
    /// </summary>
    Gap,

    /// <summary>The disk refuses to read: <see cref="JournalReader.Error"/>. The next read tries again.</summary>
    Failed,

    /// <summary>The journal was closed or deleted.</summary>
    Closed,
}
