using Xunit;

namespace LightQ.DashboardTests.Figures;

/// <summary>A page of figures, whose tables stand between markers; the text around them is written by hand.</summary>
internal static class MeasuredPage
{
    /// <summary>Puts tables between the markers of a name.</summary>
    public static async Task WriteAsync(string file, string name, string tables)
    {
        string page = await File.ReadAllTextAsync(file, TestContext.Current.CancellationToken),
            begin = $"<!-- begin {name}: ",
            end = "<!-- end -->";
        int start = page.IndexOf(begin, StringComparison.Ordinal);
        Assert.True(start >= 0, $"{file} has no line '{begin}'.");
        start = page.IndexOf('\n', start) + 1;
        int stop = page.IndexOf(end, start, StringComparison.Ordinal);
        Assert.True(stop >= 0, $"{file} has no '{end}' behind it.");
        await File.WriteAllTextAsync(
            file,
            $"{page[..start]}{tables}\n{page[stop..]}",
            TestContext.Current.CancellationToken
        );
    }
}
