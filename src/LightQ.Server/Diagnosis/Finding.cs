namespace LightQ.Server.Diagnosis;

/// <summary>The finding of a check, in words for people.</summary>
/// <param name="Check">What was checked.</param>
/// <param name="Result">The result of the check.</param>
/// <param name="Found">What the check found.</param>
/// <param name="Fix">What to do; null when there is nothing to do.</param>
public sealed record Finding(string Check, CheckResult Result, string Found, string? Fix)
{
    /// <summary>Creates a finding without a problem.</summary>
    /// <param name="check">What was checked.</param>
    /// <param name="found">What the check found.</param>
    public static Finding Ok(string check, string found) => new(check, CheckResult.Ok, found, null);

    /// <summary>Creates a finding of something that could be better.</summary>
    /// <param name="check">What was checked.</param>
    /// <param name="found">What the check found.</param>
    /// <param name="fix">What to do.</param>
    public static Finding Warning(string check, string found, string fix) =>
        new(check, CheckResult.Warning, found, fix);

    /// <summary>Creates a finding of something that must be changed.</summary>
    /// <param name="check">What was checked.</param>
    /// <param name="found">What the check found.</param>
    /// <param name="fix">What to do.</param>
    public static Finding Failed(string check, string found, string fix) => new(check, CheckResult.Failed, found, fix);
}
