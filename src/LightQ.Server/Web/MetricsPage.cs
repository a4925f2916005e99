using LightQ.Server.Telemetry;
using Microsoft.AspNetCore.Http;
using Microsoft.Net.Http.Headers;

namespace LightQ.Server.Web;

/// <summary>The metrics of a broker and of the process around it, as a page.</summary>
internal static class MetricsPage
{
    /// <summary>Writes everything.</summary>
    public static string Write(FigureReading reading, MetricsFormat format)
    {
        var writer = new MetricsWriter(format);
        foreach (Figure figure in Figures.All)
            writer.Write(figure, figure.Read(reading));
        return writer.End();
    }

    /// <summary>
    /// OpenMetrics for a client that accepts it at least as gladly as plain text; else the text that every reader
    /// knows.
    /// </summary>
    public static MetricsFormat FormatFor(HttpRequest request)
    {
        IList<MediaTypeHeaderValue> accepted = request.GetTypedHeaders().Accept;
        double open = BestQuality(
            accepted,
            a =>
                a.MediaType.Equals("application/openmetrics-text", StringComparison.OrdinalIgnoreCase)
                && HasVersion(a, "1.0.0")
        );
        double text = BestQuality(
            accepted,
            a =>
                a.MatchesAllTypes
                || (
                    a.Type.Equals("text", StringComparison.OrdinalIgnoreCase)
                    && (a.MatchesAllSubTypes || a.SubType.Equals("plain", StringComparison.OrdinalIgnoreCase))
                )
        );
        return open > 0 && open >= text ? MetricsFormat.OpenMetrics : MetricsFormat.Prometheus;
    }

    private static double BestQuality(
        IEnumerable<MediaTypeHeaderValue> accepted,
        Func<MediaTypeHeaderValue, bool> isMeant
    ) => accepted.Where(isMeant).Select(a => a.Quality ?? 1).DefaultIfEmpty(0).Max();

    /// <summary>Whether a version is asked for, or any.</summary>
    private static bool HasVersion(MediaTypeHeaderValue accepted, string version) =>
        accepted.Parameters.FirstOrDefault(p => p.Name.Equals("version", StringComparison.OrdinalIgnoreCase))
            is not { } asked
        || asked.GetUnescapedValue() == version;
}
