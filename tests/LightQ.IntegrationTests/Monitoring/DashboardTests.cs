using System.Text.Json;
using System.Text.RegularExpressions;
using LightQ.IntegrationTests.Docs;
using Xunit;

namespace LightQ.IntegrationTests.Monitoring;

/// <summary>The dashboard of packaging/monitoring.</summary>
public sealed partial class DashboardTests
{
    private const int Columns = 24;

    [Fact]
    public void Every_panel_has_its_place_and_says_what_it_shows()
    {
        JsonElement[] panels = [.. MonitoringFiles.Panels];
        Assert.True(panels.Length > 20);
        Assert.Equal(panels.Length, panels.Select(p => p.GetProperty("id").GetInt32()).Distinct().Count());
        var taken = new HashSet<(int, int)>();
        foreach (JsonElement panel in panels)
        {
            Assert.NotEmpty(panel.GetProperty("title").GetString()!);
            JsonElement place = panel.GetProperty("gridPos");
            int x = place.GetProperty("x").GetInt32(),
                y = place.GetProperty("y").GetInt32();
            int width = place.GetProperty("w").GetInt32(),
                height = place.GetProperty("h").GetInt32();
            Assert.InRange(x + width, 1, Columns);
            for (int i = 0; i < width * height; i++)
                Assert.True(taken.Add((x + (i % width), y + (i / width))), $"{panel.GetProperty("title")} overlaps");
            if (panel.GetProperty("type").GetString() == "row")
                continue;
            Assert.NotEmpty(panel.GetProperty("description").GetString()!);
            string[] ids =
            [
                .. panel.GetProperty("targets").EnumerateArray().Select(t => t.GetProperty("refId").GetString()!),
            ];
            Assert.NotEmpty(ids);
            Assert.Equal(ids.Length, ids.Distinct().Count());
        }
    }

    [Fact]
    public void What_it_asks_exists_and_goes_by_its_variables()
    {
        string[] variables =
        [
            .. MonitoringFiles
                .Root.GetProperty("templating")
                .GetProperty("list")
                .EnumerateArray()
                .Select(v => v.GetProperty("name").GetString()!),
        ];
        Assert.Equal(["datasource", "instance", "topic", "group"], variables);
        string text = SourceTree.Read(MonitoringFiles.Dashboard);
        Assert.DoesNotContain(
            Variable().Matches(text).Select(m => m.Groups["name"].Value),
            name => !variables.Contains(name) && name is not "__rate_interval" and not "__all"
        );
        Assert.All(
            DataSource().Matches(text),
            m => Assert.True(m.Groups["uid"].Value is "${datasource}" or "-- Grafana --" or "lightq", m.Value)
        );

        Assert.NotEmpty(MonitoringFiles.Queries);
        Assert.All(
            MonitoringFiles.Queries,
            query =>
            {
                Assert.NotEmpty(MonitoringFiles.MetricsOf(query));
                Assert.All(
                    MonitoringFiles.MetricsOf(query),
                    metric => Assert.Contains(metric, MonitoringFiles.Metrics)
                );
                Assert.Contains("instance=~\"$instance\"", query, StringComparison.Ordinal);
            }
        );
    }

    [Fact]
    public void Every_alert_that_a_panel_names_exists() =>
        Assert.All(
            AlertName().Matches(SourceTree.Read(MonitoringFiles.Dashboard)).Select(m => m.Value),
            name => Assert.Contains(name, MonitoringFiles.Alerts.Select(a => a.Name))
        );

    [GeneratedRegex(@"\$\{?(?<name>[a-z_]+)")]
    private static partial Regex Variable();

    [GeneratedRegex("\"uid\": \"(?<uid>[^\"]*)\"")]
    private static partial Regex DataSource();

    [GeneratedRegex("LightQ[A-Z][A-Za-z]+")]
    private static partial Regex AlertName();
}
