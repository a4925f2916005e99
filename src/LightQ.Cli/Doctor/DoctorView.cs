using LightQ.Server.Diagnosis;

namespace LightQ.Cli.Doctor;

/// <summary>All findings, as they are written for programs.</summary>
/// <param name="Verdict"><c>ok</c>, <c>warning</c> or <c>failed</c>: the worst of them.</param>
/// <param name="Checks">The findings.</param>
internal sealed record DoctorView(string Verdict, IReadOnlyList<DoctorView.CheckView> Checks)
{
    public static DoctorView Of(IReadOnlyList<Finding> findings) =>
        new(
            TextOf(findings.Max(f => f.Result)),
            [.. findings.Select(f => new CheckView(f.Check, TextOf(f.Result), f.Found, f.Fix))]
        );

    public static string TextOf(CheckResult result) => result.ToString().ToLowerInvariant();

    /// <summary>A finding as it is written; its result is <c>ok</c>, <c>warning</c> or <c>failed</c>.</summary>
    internal sealed record CheckView(string Check, string Result, string Found, string? Fix);
}
