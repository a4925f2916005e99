namespace LightQ.Storage.Inspection;

/// <summary>How much a finding matters.</summary>
public enum FindingKind
{
    /// <summary>Stored bytes that had been durable are damaged or missing.</summary>
    Damage,

    /// <summary>
    /// Something the next start of the broker sees to by itself, or that was decided by an earlier repair: nothing is
    /// lost by it now.
    /// </summary>
    Note,
}
