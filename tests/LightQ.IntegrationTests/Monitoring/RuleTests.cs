using LightQ.IntegrationTests.Docs;
using Xunit;

namespace LightQ.IntegrationTests.Monitoring;

/// <summary>The alert rules of packaging/monitoring.</summary>
public sealed class RuleTests
{
    public static TheoryData<string> Alerts => [.. MonitoringFiles.Alerts.Select(a => a.Name)];

    [Fact]
    public async Task Promtool_takes_the_rules()
    {
        string promtool = InstalledProgram.Require("promtool");
        (int exitCode, string output) = await InstalledProgram.RunAsync(
            promtool,
            "check",
            "rules",
            SourceTree.PathOf(MonitoringFiles.Rules)
        );
        Assert.True(exitCode == 0, output);
        Assert.Contains($"{MonitoringFiles.Alerts.Count} rules found", output, StringComparison.Ordinal);
        (exitCode, output) = await InstalledProgram.RunAsync(
            promtool,
            "check",
            "config",
            SourceTree.PathOf("packaging/monitoring/prometheus.yml")
        );
        Assert.True(exitCode == 0, output);
    }

    [Fact]
    public async Task Each_alert_fires_when_it_should_and_only_then()
    {
        string promtool = InstalledProgram.Require("promtool");
        (int exitCode, string output) = await InstalledProgram.RunAsync(
            promtool,
            "test",
            "rules",
            SourceTree.PathOf(MonitoringFiles.RuleTests)
        );
        Assert.True(exitCode == 0, output);
    }

    [Theory]
    [MemberData(nameof(Alerts))]
    public void An_alert_says_what_to_do_and_is_tested_both_ways(string name)
    {
        (_, string expression, string text) = MonitoringFiles.Alerts.Single(a => a.Name == name);
        foreach (string part in new[] { "severity: ", "summary: \"", "description: \"" })
            Assert.Contains(part, text, StringComparison.Ordinal);
        Assert.NotEmpty(expression);
        Assert.DoesNotContain(
            MonitoringFiles.MetricsOf(expression),
            metric => !MonitoringFiles.Metrics.Contains(metric)
        );

        string heading = name.ToLowerInvariant();
        Assert.Contains($"runbook: \"{MonitoringFiles.Page}#{heading}\"", text, StringComparison.Ordinal);
        Assert.Contains(heading, Document.Read(MonitoringFiles.Page).Headings);

        string tests = SourceTree.Read(MonitoringFiles.RuleTests);
        Assert.Contains($"alertname: {name}, eval_time: 3h, exp_alerts: []", tests, StringComparison.Ordinal);
        Assert.True(
            tests.Contains($"alertname=\"{name}\"", StringComparison.Ordinal)
                || tests.Contains($"alertname: {name}\n", StringComparison.Ordinal),
            "No test has it fire."
        );
    }
}
