namespace LightQ.Storage.Segments;

/// <summary>
/// What the parts of a log ask of the journal that owns them. Each member may be called from any thread.
/// </summary>
internal interface ILogHost
{
    /// <summary>Has housekeeping look at the journal soon: something is open, was written, or is missing.</summary>
    void RequestLook();

    /// <summary>Something is about to be written: the journal is no longer at rest.</summary>
    void LeaveRest();

    /// <summary>Makes one commit, on the writer's thread.</summary>
    /// <returns>True to be called again.</returns>
    bool RunWriter();

    /// <summary>Bytes are in the page cache.</summary>
    void OnWritten();

    /// <summary>Bytes are on the disk.</summary>
    /// <param name="bytes">How many more than at the last call.</param>
    void OnCommitted(long bytes);

    /// <summary>The disk has answered a sync.</summary>
    /// <param name="duration">How long that took.</param>
    void OnSynced(TimeSpan duration);

    /// <summary>The log goes on in another segment.</summary>
    /// <param name="sealedSegment">The one that is full; null when there was none.</param>
    /// <param name="current">The one that is written from now on.</param>
    /// <param name="producers">What was known of named producers where it begins; null for nothing.</param>
    void OnRolled(Segment? sealedSegment, Segment current, byte[]? producers);

    /// <summary>The next segment will be needed.</summary>
    void RequestSegment(long ordinal, int bytes);

    /// <summary>A reader met bytes that are not what was written.</summary>
    void OnSuspected(Segment segment, LogGap gap);

    /// <summary>Damage is now known for certain.</summary>
    void OnDamaged(JournalDamage damage);

    /// <summary>The disk has refused a file that can be done without.</summary>
    void OnRefused(string file, Exception error);
}
