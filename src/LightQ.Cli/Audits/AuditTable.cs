using System.Globalization;
using LightQ.Cli.Output;
using Spectre.Console;

namespace LightQ.Cli.Audits;

/// <summary>Lines of an audit log as a table.</summary>
internal static class AuditTable
{
    public static Table Create() => CommandConsole.Table("line", "time", "event", "actor", "from", "subject", "detail");

    public static void Add(this Table table, AuditLineView line) =>
        table.AddRow([.. Cells(line).Select(Markup.Escape)]);

    private static string[] Cells(AuditLineView line) =>
        [
            line.Seq.ToString(CultureInfo.InvariantCulture),
            line.Time.ToString("u", CultureInfo.InvariantCulture),
            line.Event,
            line.Actor,
            line.Plane.Length == 0 ? "" : $"{line.Plane} {line.Peer}",
            line.Subject,
            line.Detail,
        ];
}
