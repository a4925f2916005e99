using System.Diagnostics;
using LightQ.Server.Json;
using Xunit;

namespace LightQ.IntegrationTests.Docs;

/// <summary>What the page shows for curl is run as it is shown.</summary>
public sealed class HttpPageTests
{
    private const string Page = "docs/use/http.md";

    [Fact]
    public async Task The_lines_for_curl_make_a_topic_publish_fetch_settle_and_show_statistics()
    {
        await using TestServer server = await TestServer.StartAsync();
        string script = Assert
            .Single(Document.Read(Page).Blocks("sh"), b => b.Contains("curl --json", StringComparison.Ordinal))
            .Replace("localhost:5702", $"localhost:{server.WebPort}", StringComparison.Ordinal)
            .Replace("curl ", "curl -sS ", StringComparison.Ordinal);
        using var folder = new TemporaryDirectory();
        using Process? shell = Start(script, folder.Path);
        Assert.SkipWhen(shell is null, "There is no bash, or no curl.");
        Task<string> errors = shell.StandardError.ReadToEndAsync(TestContext.Current.CancellationToken);
        string output = await shell.StandardOutput.ReadToEndAsync(TestContext.Current.CancellationToken);
        await shell.WaitForExitAsync(TestContext.Current.CancellationToken);
        Assert.True(shell.ExitCode == 0, output + await errors);
        Assert.DoesNotContain("lightq-error-code", output, StringComparison.Ordinal);
        Assert.Contains("\"SETTLE_OUTCOME_DONE\"", output, StringComparison.Ordinal);
        Assert.Contains("\"messagesSettled\": \"1\"", output, StringComparison.Ordinal);
    }

    [Fact]
    public void The_page_names_every_path()
    {
        string page = Document.Read(Page).Text;
        foreach (JsonRoute route in JsonRoutes.All)
        {
            Assert.Contains(
                route.Pattern[route.Pattern.LastIndexOfAny(['/', ':'])..] + "`",
                page,
                StringComparison.Ordinal
            );
        }

        Assert.All(JsonRoutes.LeftOut, name => Assert.Contains($"`{name}`", page, StringComparison.Ordinal));
    }

    private static Process? Start(string script, string folder)
    {
        if (!OperatingSystem.IsLinux() || !File.Exists("/usr/bin/curl"))
            return null;
        var start = new ProcessStartInfo("bash", ["-e", "-c", script])
        {
            WorkingDirectory = folder,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        return Process.Start(start);
    }
}
