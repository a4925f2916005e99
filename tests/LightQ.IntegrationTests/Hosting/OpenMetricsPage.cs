using System.Globalization;
using System.Net.Http.Headers;
using System.Text.RegularExpressions;
using Xunit;

namespace LightQ.IntegrationTests.Hosting;

/// <summary>A page of metrics by the rules of OpenMetrics 1.0.0, as far as counters and gauges go; one that breaks a
/// rule is refused.</summary>
internal sealed partial class OpenMetricsPage
{
    private static readonly string[] Suffixes = ["_total", "_created", "_count", "_sum", "_bucket", "_gcount", "_gsum"];

    /// <summary>The type of each family.</summary>
    public Dictionary<string, string> Families { get; } = new(StringComparer.Ordinal);

    /// <summary>The value of each sample, by its name and labels as they are written.</summary>
    public Dictionary<string, double> Samples { get; } = new(StringComparer.Ordinal);

    /// <summary>Asks for the page as Prometheus does.</summary>
    public static async Task<string> AskAsync(HttpClient web)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, "/metrics");
        request.Headers.TryAddWithoutValidation(
            "Accept",
            "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
        );
        using HttpResponseMessage response = await web.SendAsync(request, TestContext.Current.CancellationToken);
        Assert.Equal(
            MediaTypeHeaderValue.Parse("application/openmetrics-text; version=1.0.0; charset=utf-8"),
            response.Content.Headers.ContentType
        );
        return await response.Content.ReadAsStringAsync(TestContext.Current.CancellationToken);
    }

    public static OpenMetricsPage Parse(string text)
    {
        Assert.EndsWith("\n# EOF\n", text, StringComparison.Ordinal);
        Assert.DoesNotContain("\r", text, StringComparison.Ordinal);
        var page = new OpenMetricsPage();
        string[] lines = text.Split('\n')[..^2];
        var described = new HashSet<string>(StringComparer.Ordinal);
        string family = "";
        foreach (string line in lines)
        {
            if (Described().Match(line) is { Success: true } match)
            {
                string name = match.Groups["name"].Value;
                if (name != family)
                {
                    Assert.True(page.Families.TryAdd(name, ""), $"{name} is there in two places.");
                }
                else
                {
                    // What describes a family stands before its samples.
                    Assert.DoesNotContain(
                        page.Samples.Keys,
                        key => NameOf(key) == name || NameOf(key) == name + "_total"
                    );
                }

                family = name;
                Assert.True(described.Add(match.Groups["what"].Value + name), $"Twice: {line}");
                page.Describe(name, match.Groups["what"].Value, match.Groups["text"].Value);
            }
            else
            {
                page.Take(family, line);
            }
        }
        Assert.All(page.Families, f => Assert.Contains("TYPE" + f.Key, described));
        Assert.All(
            page.Families.Keys,
            f =>
                Assert.DoesNotContain(
                    Suffixes,
                    suffix => f.EndsWith(suffix, StringComparison.Ordinal) || page.Families.ContainsKey(f + suffix)
                )
        );
        return page;
    }

    private static string NameOf(string sample) => sample.Split('{')[0];

    private void Describe(string name, string what, string text)
    {
        switch (what)
        {
            case "TYPE":
                Assert.True(text is "counter" or "gauge", $"The type {text} of {name}");
                Families[name] = text;
                break;
            case "UNIT":
                Assert.EndsWith("_" + text, name, StringComparison.Ordinal);
                break;
            default:
                Assert.Matches(Escaped(), text);
                break;
        }
    }

    private void Take(string family, string line)
    {
        Match match = Sample().Match(line);
        Assert.True(match.Success, $"This is no sample: {line}");
        bool isCounter = Families[family] == "counter";
        Assert.Equal(isCounter ? family + "_total" : family, match.Groups["name"].Value);
        double value = double.Parse(
            match.Groups["value"].Value.Replace("+Inf", "Infinity", StringComparison.Ordinal),
            NumberStyles.Float,
            CultureInfo.InvariantCulture
        );
        Assert.True(!isCounter || value >= 0, line);
        string[] labels = [.. match.Groups["label"].Captures.Select(c => c.Value)];
        Assert.Equal(labels.Distinct(StringComparer.Ordinal), labels);
        Assert.True(Samples.TryAdd(match.Groups["key"].Value, value), $"Twice: {line}");
    }

    [GeneratedRegex(@"^# (?<what>HELP|TYPE|UNIT) (?<name>[a-zA-Z_:][a-zA-Z0-9_:]*) (?<text>.+)$")]
    private static partial Regex Described();

    [GeneratedRegex(@"^([^\\""]|\\[\\n""])*$")]
    private static partial Regex Escaped();

    [GeneratedRegex(
        @"^(?<key>(?<name>[a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?<label>[a-zA-Z_][a-zA-Z0-9_]*)=""([^\\""]|\\[\\n""])*""(,(?<label>[a-zA-Z_][a-zA-Z0-9_]*)=""([^\\""]|\\[\\n""])*"")*\})?) (?<value>[-+]?\d+(\.\d+)?([eE][-+]?\d+)?|NaN|[-+]Inf)$"
    )]
    private static partial Regex Sample();
}
