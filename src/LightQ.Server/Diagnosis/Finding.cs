namespace LightQ.Server.Diagnosis;

/// <summary>What a check found, in words for people.</summary>
/// <param name="Check">What was looked at.</param>
/// <param name="Result">How it came out.</param>
/// <param name="Found">What is there.</param>
/// <param name="Fix">What to do; null when there is nothing to do.</param>
public sealed record Finding(string Check, CheckResult Result, string Found, string? Fix)
{
    /// <summary>All is well.</summary>
    /// <param name="check">What was looked at.</param>
    /// <param name="found">What is there.</param>
    public static Finding Ok(string check, string found) => new(check, CheckResult.Ok, found, null);

    /// <summary>It could be better.</summary>
    /// <param name="check">What was looked at.</param>
    /// <param name="found">What is there.</param>
    /// <param name="fix">What to do.</param>
    public static Finding Warning(string check, string found, string fix) =>
        new(check, CheckResult.Warning, found, fix);

    /// <summary>It cannot stay so.</summary>
    /// <param name="check">What was looked at.</param>
    /// <param name="found">What is there.</param>
    /// <param name="fix">What to do.</param>
    public static Finding Failed(string check, string found, string fix) => new(check, CheckResult.Failed, found, fix);
}
