namespace LightQ.Storage;

/// <summary>How a journal ends.</summary>
internal enum JournalEnding
{
    /// <summary>It does not.</summary>
    None,

    /// <summary>Everything is written, synced and noted as a clean stop.</summary>
    Close,

    /// <summary>Its files go.</summary>
    Delete,

    /// <summary>Files are closed and nothing else, as if the process had been killed: for tests.</summary>
    Abandon,
}
