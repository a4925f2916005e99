using System.CommandLine;
using System.Text.Json;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client.Administration;
using Spectre.Console;

namespace LightQ.Cli.Audits;

/// <summary><c>lightq audit list</c>: asks a running broker for its audit log.</summary>
internal static class AuditListCommand
{
    private const int UsualLimit = 100,
        LargestPage = 1000;

    public static Command Create()
    {
        Option<string?> happened = AuditFilterOptions.Event(),
            actor = AuditFilterOptions.Actor(),
            subject = AuditFilterOptions.Subject();
        Option<TimeSpan?> last = AuditFilterOptions.Last();
        Option<int?> limit = ValueOptions.Number("--limit", 1);
        limit.Description = $"Most lines; {UsualLimit} by default.";
        var command = new BrokerCommand(
            "list",
            "Ask a running broker for the lines of its audit log, newest first, with the right admin; with --output "
                + "json a JSON object a line. Ends with 1 if some of what was read is not as it was written.",
            "lightq audit list --event login-refused --last 24h",
            "lightq audit list --actor user:alice --limit 1000 --output json"
        )
        {
            happened,
            actor,
            subject,
            last,
            limit,
        };
        command.Run(async call =>
        {
            var query = new AuditEventQuery
            {
                Event = call.Get(happened),
                Actor = call.Get(actor),
                Subject = call.Get(subject),
                Since = call.Get(last) is { } span ? DateTimeOffset.UtcNow - span : null,
            };
            Table table = AuditTable.Create();
            IReadOnlyList<AuditDamageInfo> damages = await ReadAsync(
                call,
                query,
                call.Get(limit) ?? UsualLimit,
                line =>
                {
                    if (call.IsJson)
                        CommandConsole.Line(JsonSerializer.Serialize(line, AuditsJson.Default.AuditLineView));
                    else
                        table.Add(line);
                }
            );
            if (!call.IsJson)
                new CommandConsole().Tables.Write(table);
            return damages.Count == 0 ? ExitCode.Ok : throw new CommandException(ExitCode.Failed, Describe(damages));
        });
        return command;
    }

    private static async Task<IReadOnlyList<AuditDamageInfo>> ReadAsync(
        BrokerCall call,
        AuditEventQuery query,
        int limit,
        Action<AuditLineView> show
    )
    {
        var damages = new List<AuditDamageInfo>();
        int left = limit;
        string? token = null;
        do
        {
            AuditEventPage page = await call.Client.Operations.ListAuditEventsAsync(
                query with
                {
                    PageSize = Math.Min(left, LargestPage),
                    PageToken = token,
                },
                call.Cancellation
            );
            foreach (AuditEventInfo info in page.Events)
                show(AuditLineView.Of(info));
            damages.AddRange(page.Damages);
            (left, token) = (left - page.Events.Count, page.NextPageToken);
        } while (left > 0 && token is not null);
        return damages;
    }

    private static string Describe(IReadOnlyList<AuditDamageInfo> damages)
    {
        AuditDamageInfo damage = damages[0];
        string place = damage.Bytes == 0 ? $"byte {damage.Offset}" : $"{damage.Bytes} bytes from {damage.Offset} on";
        string more = damages.Count == 1 ? "" : $", and {damages.Count - 1} more; lightq audit verify checks the log";
        return $"{damage.Fault.ToString().ToLowerInvariant()}: {damage.File}, {place}: {damage.Detail}{more}.";
    }
}
