using LightQ.Server.Audit;

namespace LightQ.Cli.Audits;

/// <summary><c>lightq audit verify --output json</c>.</summary>
internal sealed record AuditReportView(
    string Verdict,
    int Files,
    long Lines,
    long First,
    string? Head,
    long TornBytes,
    string? Fault,
    string? File,
    long? Line,
    string? Detail
)
{
    public static AuditReportView Of(AuditReport report) =>
        new(
            report.Finding is null ? "clean" : "damaged",
            report.Files,
            report.Lines,
            report.First,
            report.Head?.ToString(),
            report.TornBytes,
            report.Finding?.Fault.ToString().ToLowerInvariant(),
            report.Finding?.File,
            report.Finding?.LineInFile,
            report.Finding?.Detail
        );
}
