namespace LightQ.Server.Audit;

/// <summary>What can be wrong with an audit log.</summary>
public enum AuditFault
{
    /// <summary>A line is not as it was written.</summary>
    Altered,

    /// <summary>Lines are gone.</summary>
    Missing,

    /// <summary>Lines are not where they were written.</summary>
    Reordered,

    /// <summary>The broker itself has found something wrong when it started.</summary>
    Broken,
}
