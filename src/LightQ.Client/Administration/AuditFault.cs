namespace LightQ.Client.Administration;

/// <summary>What is wrong with a place of a broker's audit log.</summary>
public enum AuditFault
{
    /// <summary>What stands there is no line, or not the one that was written.</summary>
    Altered = 1,

    /// <summary>Lines are gone.</summary>
    Missing = 2,

    /// <summary>A line stands where another belongs.</summary>
    Reordered = 3,
}
