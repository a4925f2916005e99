namespace LightQ.Server.Audit;

/// <summary>What can be wrong with an audit log.</summary>
public enum AuditFault
{
    /// <summary>A line was changed after it was written.</summary>
    Altered,

    /// <summary>Lines are missing.</summary>
    Missing,

    /// <summary>Lines are in another order than they were written.</summary>
    Reordered,

    /// <summary>The broker itself found an error when it started.</summary>
    Broken,
}
