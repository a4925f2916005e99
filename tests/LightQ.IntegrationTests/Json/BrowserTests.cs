using System.Diagnostics;
using LightQ.Tests.Shared;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;
using Xunit;

namespace LightQ.IntegrationTests.Json;

/// <summary>A page in a browser calls the broker over gRPC-Web.</summary>
public sealed class BrowserTests
{
    private static readonly string[] Programs =
    [
        "/usr/bin/chromium",
        "/usr/bin/chromium-browser",
        "/usr/bin/google-chrome",
    ];

    private const string Page = """
        <body><script>
        const port = new URLSearchParams(location.search).get('port');
        fetch(`http://127.0.0.1:${port}/lightq.control.v1.Topics/ListTopics`, {
          method: 'POST',
          headers: {'content-type': 'application/grpc-web+proto', 'x-grpc-web': '1'},
          body: new Uint8Array(5),
        }).then(response => response.arrayBuffer())
          .then(bytes => new TextDecoder().decode(bytes).replace(/[^ -~]/g, '?'))
          .then(text => document.body.textContent = 'answer: ' + text)
          .catch(error => document.body.textContent = 'refused: ' + error);
        </script></body>
        """;

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_page_of_an_allowed_origin_calls_and_any_other_does_not()
    {
        FaultRun.RequireTier("It starts a browser.");
        string? browser = Array.Find(Programs, File.Exists);
        Assert.SkipWhen(browser is null, $"There is none of {string.Join(", ", Programs)}.");
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        await using WebApplication site = builder.Build();
        site.Urls.Add("http://127.0.0.1:0");
        site.Run(http =>
        {
            http.Response.ContentType = "text/html";
            return http.Response.WriteAsync(Page);
        });
        await site.StartAsync(TestContext.Current.CancellationToken);
        string origin = site.Urls.Single();
        await using TestServer closed = await TestServer.StartAsync();
        await using TestServer open = await TestServer.StartAsync(o =>
            o with
            {
                Http = new() { AllowedOrigins = origin },
            }
        );
        await open.CreateTopicAsync("orders");
        await closed.CreateTopicAsync("orders");

        string allowed = await ShowAsync(browser, $"{origin}/?port={open.WebPort}");
        Assert.Contains("answer: ", allowed, StringComparison.Ordinal);
        Assert.Contains("orders", allowed, StringComparison.Ordinal);
        Assert.Contains("grpc-status: 0", allowed, StringComparison.Ordinal);
        Assert.Contains(
            "refused: TypeError",
            await ShowAsync(browser, $"{origin}/?port={closed.WebPort}"),
            StringComparison.Ordinal
        );
    }

    /// <summary>The page as it is once its script has run.</summary>
    private static async Task<string> ShowAsync(string browser, string address)
    {
        using var profile = new TemporaryDirectory();
        string[] options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--dump-dom"];
        var start = new ProcessStartInfo(
            browser,
            [.. options, $"--user-data-dir={profile.Path}", "--virtual-time-budget=20000", address]
        )
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        using Process process = Process.Start(start)!;
        Task<string> errors = process.StandardError.ReadToEndAsync(TestContext.Current.CancellationToken);
        string page = await process.StandardOutput.ReadToEndAsync(TestContext.Current.CancellationToken);
        await process.WaitForExitAsync(TestContext.Current.CancellationToken);
        Assert.True(page.Length != 0, await errors);
        return page;
    }
}
