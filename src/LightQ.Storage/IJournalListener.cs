namespace LightQ.Storage;

/// <summary>Told by a journal's writer thread what moved. Must not block, and must not throw.</summary>
public interface IJournalListener
{
    /// <summary>Written, durable, readable end, or the room in the ring moved.</summary>
    void OnProgress(Journal journal);

    /// <summary>The journal failed for good: <see cref="Journal.Failure"/>. What was not acknowledged never will be.</summary>
    void OnFailed(Journal journal);
}
