using System.CommandLine;
using System.Globalization;
using System.Text.Json;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Server.Audit;
using Spectre.Console;

namespace LightQ.Cli.Audits;

/// <summary><c>lightq audit</c>: reads a broker's audit log, and checks whether it is as it was written.</summary>
internal static class AuditCommand
{
    public static Command Create() =>
        new ExampleCommand(
            "audit",
            "Verify and show the audit log in a broker's data directory, where the broker may be running, or ask a "
                + "running broker for it.",
            "lightq audit verify /var/lib/lightq",
            "lightq audit show /var/lib/lightq --event login-refused",
            "lightq audit list --event login-refused"
        )
        {
            Verify(),
            Show(),
            AuditListCommand.Create(),
        };

    private static Argument<string> PathArgument() =>
        new("PATH") { Description = "A data directory, its directory audit, or one file of it." };

    private static ExampleCommand Verify()
    {
        Argument<string> path = PathArgument();
        Option<AuditHead?> expect = new("--expect")
        {
            Description =
                "A head that an earlier verify printed and that you kept elsewhere: the log must still have that line.",
            HelpName = "NUMBER:HASH",
            CustomParser = result =>
                ValueOptions.Parsed<AuditHead?>(
                    result,
                    AuditHead.TryParse(result.Tokens[0].Value, out AuditHead head),
                    head,
                    $"'{result.Tokens[0].Value}' is not a head as verify prints it, NUMBER:HASH."
                ),
        };
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand(
            "verify",
            "Check the chain over all files and report the first line that is altered, missing or not in its place; "
                + "ends with 1 if there is one. A line that a crash has torn does not count.",
            "lightq audit verify ./data",
            "lightq audit verify ./data/audit --output json"
        )
        {
            path,
            expect,
            output,
        };
        command.SetAction(parsed =>
        {
            AuditReport report = AuditVerifier.Verify(parsed.GetRequiredValue(path), parsed.GetValue(expect));
            if (parsed.GetValue(output) == OutputFormat.Json)
            {
                Console.Out.WriteLine(
                    JsonSerializer.Serialize(AuditReportView.Of(report), AuditsJson.Default.AuditReportView)
                );
            }
            else
            {
                Tell(report);
            }
            return report.Finding is null ? ExitCode.Ok : ExitCode.Failed;
        });
        return command;
    }

    private static void Tell(AuditReport report)
    {
        string lines = report.Head is { } head
            ? $"{Plural.Of(report.Lines, "line")}, {report.First} to {head.Sequence}"
            : "no line";
        Console.Out.WriteLine(
            $"{Plural.Of(report.Files, "file")}, {lines}, "
                + $"{(report.Finding is null ? "as written" : "as written up to there")}"
        );
        if (report.Head is not null)
            Console.Out.WriteLine($"head {report.Head}");
        if (report.TornBytes != 0)
        {
            Console.Out.WriteLine(
                $"torn: {report.TornBytes} bytes behind the last line are a part of a line that a crash has left or a "
                    + $"running broker is writing"
            );
        }

        if (report.Finding is { } finding)
            Console.Out.WriteLine($"{finding.Fault.ToString().ToLowerInvariant()}: {Place(finding)}{finding.Detail}");
    }

    private static string Place(AuditFinding finding) =>
        finding switch
        {
            { File.Length: 0 } => "",
            { LineInFile: 0 } => $"{finding.File}: ",
            _ => string.Create(CultureInfo.InvariantCulture, $"{finding.File}, line {finding.LineInFile}: "),
        };

    private static ExampleCommand Show()
    {
        Argument<string> path = PathArgument();
        Option<string?> happened = AuditFilterOptions.Event(),
            actor = AuditFilterOptions.Actor(),
            subject = AuditFilterOptions.Subject();
        Option<TimeSpan?> last = AuditFilterOptions.Last();
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand(
            "show",
            "Show the lines of the log, oldest first; with --output json a JSON object a line. Ends with 1 at the "
                + "first line that is not as it was written.",
            "lightq audit show ./data --event login --last 24h",
            "lightq audit show ./data --actor user:alice --output json"
        )
        {
            path,
            happened,
            actor,
            subject,
            last,
            output,
        };
        command.SetAction(parsed =>
        {
            DateTimeOffset? since = parsed.GetValue(last) is { } span ? DateTimeOffset.UtcNow - span : null;
            bool IsAskedFor(AuditLine line) =>
                line.Event.StartsWith(parsed.GetValue(happened) ?? "", StringComparison.Ordinal)
                && (parsed.GetValue(actor) ?? line.Actor) == line.Actor
                && (parsed.GetValue(subject) ?? line.Subject) == line.Subject
                && (since is null || line.Time >= since);
            bool isJson = parsed.GetValue(output) == OutputFormat.Json;
            Table table = AuditTable.Create();
            AuditReport report = AuditVerifier.Verify(
                parsed.GetRequiredValue(path),
                read: line =>
                {
                    if (!IsAskedFor(line))
                        return;
                    var view = AuditLineView.Of(line);
                    if (isJson)
                        Console.Out.WriteLine(JsonSerializer.Serialize(view, AuditsJson.Default.AuditLineView));
                    else
                        table.Add(view);
                }
            );
            if (!isJson)
                new CommandConsole().Tables.Write(table);
            return report.Finding is { } finding
                ? throw new CommandException(
                    ExitCode.Failed,
                    $"{finding.Fault.ToString().ToLowerInvariant()}: {Place(finding)}{finding.Detail}. The lines "
                        + $"behind it are not shown."
                )
                : ExitCode.Ok;
        });
        return command;
    }
}
