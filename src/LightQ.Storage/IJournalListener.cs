namespace LightQ.Storage;

/// <summary>A journal's threads report here what moved. Must not block, and must not throw.</summary>
public interface IJournalListener
{
    /// <summary>Written, durable, readable end, or the room in the ring moved.</summary>
    void OnProgress(Journal journal);

    /// <summary>
    /// The journal failed for good: <see cref="Journal.Failure"/>. What was not acknowledged never will be.
    /// </summary>
    void OnFailed(Journal journal);

    /// <summary><see cref="Journal.DiskFull"/> has changed.</summary>
    void OnDiskFull(Journal journal)
    {
        // Not every listener needs this.
    }

    /// <summary>
    /// Nothing was appended for a while: <see cref="Journal.TryReleaseMemory"/> gives back what only appending needs.
    /// Housekeeping's thread calls this.
    /// </summary>
    void OnRested(Journal journal);

    /// <summary>
    /// Damage was found, by a reader or by the scrubber, whose thread calls this; once for every range. The journal
    /// goes on, with a gap there.
    /// </summary>
    void OnDamaged(Journal journal, JournalDamage damage);

    /// <summary>
    /// The disk has refused to write or read a file that is made of the segments again: the journal goes on without it.
    /// </summary>
    /// <param name="journal">The journal.</param>
    /// <param name="file">The file's name.</param>
    /// <param name="error">Why.</param>
    void OnRefused(Journal journal, string file, Exception error)
    {
        // Not every listener needs this.
    }
}
