using System.Net;
using System.Text;

namespace LightQ.Cli.Bench.Report;

/// <summary>A table on the report's page.</summary>
internal static class PageTable
{
    public static void Append(StringBuilder page, ReportRows table)
    {
        page.Append("<table><tr>")
            .AppendJoin("", table.Columns.Select(c => $"<th>{WebUtility.HtmlEncode(c)}"))
            .Append("</tr>\n");
        foreach (string[] row in table.Rows)
        {
            page.Append("<tr>")
                .AppendJoin("", row.Select(cell => $"<td>{WebUtility.HtmlEncode(cell)}"))
                .Append("</tr>\n");
        }

        page.Append("</table>\n");
    }
}
