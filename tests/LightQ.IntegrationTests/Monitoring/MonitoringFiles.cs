using System.Text.Json;
using System.Text.RegularExpressions;
using LightQ.IntegrationTests.Docs;
using LightQ.Server.Telemetry;

namespace LightQ.IntegrationTests.Monitoring;

/// <summary>The files of packaging/monitoring, as far as tests look into them.</summary>
internal static partial class MonitoringFiles
{
    /// <summary>The alert rules.</summary>
    public const string Rules = "packaging/monitoring/lightq.rules.yml";

    /// <summary>Their tests.</summary>
    public const string RuleTests = "packaging/monitoring/lightq.rules.test.yml";

    /// <summary>The dashboard.</summary>
    public const string Dashboard = "packaging/monitoring/lightq.dashboard.json";

    /// <summary>The page about all of them.</summary>
    public const string Page = "docs/operate/monitoring.md";

    /// <summary>The names that Prometheus gives to the samples of the page of metrics.</summary>
    public static HashSet<string> Metrics { get; } =
    [.. Figures.All.Select(f => f.Kind == FigureKind.Counter ? f.Family + "_total" : f.Family)];

    /// <summary>The alerts, each with what it says. Every value of an alert stands on one line.</summary>
    public static IReadOnlyList<(string Name, string Expression, string Text)> Alerts { get; } = ReadAlerts();

    /// <summary>The panels of the dashboard that ask for something, and the rows between them.</summary>
    public static IReadOnlyList<JsonElement> Panels { get; } = [.. Root.GetProperty("panels").EnumerateArray()];

    /// <summary>What the dashboard asks, as Grafana writes it before it replaces its variables.</summary>
    public static IReadOnlyList<string> Queries { get; } =
    [
        .. Panels
            .Where(p => p.TryGetProperty("targets", out _))
            .SelectMany(p => p.GetProperty("targets").EnumerateArray())
            .Select(t => t.GetProperty("expr").GetString()!),
    ];

    /// <summary>The dashboard.</summary>
    public static JsonElement Root => JsonDocument.Parse(SourceTree.Read(Dashboard)).RootElement;

    /// <summary>The metrics that an expression names, all of which begin in one of three ways.</summary>
    public static IEnumerable<string> MetricsOf(string expression) =>
        MetricName().Matches(expression).Select(m => m.Value);

    /// <summary>An expression as Grafana sends it when everything is chosen.</summary>
    public static string Filled(string query) =>
        query
            .Replace("$__rate_interval", "1m", StringComparison.Ordinal)
            .Replace("$instance", ".*", StringComparison.Ordinal)
            .Replace("$topic", ".*", StringComparison.Ordinal)
            .Replace("$group", ".*", StringComparison.Ordinal);

    private static (string Name, string Expression, string Text)[] ReadAlerts() =>
        [
            .. SourceTree
                .Read(Rules)
                .Split("- alert: ")
                .Skip(1)
                .Select(text =>
                    (
                        text[..text.IndexOf('\n', StringComparison.Ordinal)],
                        Expression().Match(text).Groups["expr"].Value,
                        text
                    )
                ),
        ];

    [GeneratedRegex(@"\b(?:lightq|process|dotnet)_[a-z_]+\b")]
    private static partial Regex MetricName();

    [GeneratedRegex(@"^\s+expr: (?<expr>.+)$", RegexOptions.Multiline)]
    private static partial Regex Expression();
}
