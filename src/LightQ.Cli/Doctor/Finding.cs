namespace LightQ.Cli.Doctor;

/// <summary>What a check found.</summary>
/// <param name="Check">What was looked at.</param>
/// <param name="Result">How it came out.</param>
/// <param name="Found">What is there.</param>
/// <param name="Fix">What to do; null when there is nothing to do.</param>
internal sealed record Finding(string Check, CheckResult Result, string Found, string? Fix)
{
    public static Finding Ok(string check, string found) => new(check, CheckResult.Ok, found, null);

    public static Finding Warning(string check, string found, string fix) => new(check, CheckResult.Warning, found, fix);

    public static Finding Failed(string check, string found, string fix) => new(check, CheckResult.Failed, found, fix);
}
