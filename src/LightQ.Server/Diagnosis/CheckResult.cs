namespace LightQ.Server.Diagnosis;

/// <summary>How a check came out.</summary>
public enum CheckResult
{
    /// <summary>As it should be, or as good as can be known.</summary>
    Ok,

    /// <summary>The broker runs, but slower, or less safely than it could.</summary>
    Warning,

    /// <summary>The broker does not start, or what it promises does not hold.</summary>
    Failed,
}
