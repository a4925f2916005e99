namespace LightQ.Server.Diagnosis;

/// <summary>The result of a check.</summary>
public enum CheckResult
{
    /// <summary>As it should be, or as far as can be known.</summary>
    Ok,

    /// <summary>The broker runs, but slower or less safely than it could.</summary>
    Warning,

    /// <summary>The broker does not start, or cannot keep its promises.</summary>
    Failed,
}
