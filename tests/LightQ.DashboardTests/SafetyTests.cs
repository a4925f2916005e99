using System.IO.Compression;
using System.Net;
using System.Text;
using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using Microsoft.Playwright;
using Xunit;

namespace LightQ.DashboardTests;

/// <summary>What strangers, their pages and their messages get.</summary>
public sealed partial class SafetyTests(Browser browser)
{
    private const string Script =
            "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">",
        RightToLeft = "invoice\u202Efdp.exe";

    [Fact]
    public async Task Messages_names_and_headers_are_text_whatever_they_hold()
    {
        await using DashboardBroker broker = await DashboardBroker.StartAsync();
        await broker.CreateTopicAsync("orders");
        await broker.PostAsync(
            "/v1/topics/orders:publish",
            new JsonObject
            {
                ["messages"] = new JsonArray(
                    Message(Script, Script, Script),
                    Message(RightToLeft, RightToLeft, RightToLeft),
                    Message(new string('x', 900_000), "k", "v")
                ),
            }
        );
        await broker.FetchAsync("orders", "billing", "SETTLE_KIND_DEAD_LETTER", Script);
        await using Window window = await browser.OpenAsync(broker);
        await window.GoAsync("/topics/orders", "orders");
        await window.TabAsync("Messages");
        foreach (string offset in (string[])["0", "1", "2"])
        {
            await window.Page.GetByRole(AriaRole.Button, new() { Name = offset, Exact = true }).ClickAsync();
            await Assertions.Expect(window.Page.GetByLabel("Body", new() { Exact = true })).ToBeVisibleAsync();
            string text = await window.Page.Locator("body").InnerTextAsync();
            Assert.DoesNotContain("\u202E", text, StringComparison.Ordinal);
            Assert.True(text.Length < 100_000, $"{text.Length} characters are shown");
        }

        await Assertions.Expect(window.Page.Locator("table")).ToContainTextAsync("\\u{202E}");
        await window.TurnAsync("/groups/orders/billing", "billing");
        await window.TabAsync("Dead letters");
        await window.SeesAsync("<script>");
        Assert.NotEqual("owned", await window.Page.TitleAsync());
        Assert.Empty(window.Errors);

        static JsonObject Message(string body, string key, string header) =>
            new()
            {
                ["body"] = DashboardBroker.Base64(body),
                ["key"] = DashboardBroker.Base64(key),
                ["headers"] = new JsonArray(
                    new JsonObject { ["name"] = "h", ["value"] = DashboardBroker.Base64(header) }
                ),
            };
    }

    [Fact]
    public async Task A_session_ends_when_its_token_does_and_is_in_no_other_window()
    {
        await using DashboardBroker broker = await DashboardBroker.StartAsync(o => o with { RequireAuth = true });
        JsonNode made = await broker.PostAsync("/v1/tokens", new() { ["user"] = "admin" });
        await using Window window = await browser.OpenAsync(broker);
        IPage page = window.Page;
        await window.GoAsync("/topics", "Sign in to LightQ");
        await window.ClickAsync("Use a token");
        await page.GetByLabel("Token").FillAsync((string)made["token"]!);
        await window.ClickAsync("Sign in");
        await window.HeadingAsync("Topics");
        await page.ReloadAsync();
        await window.HeadingAsync("Topics");
        Assert.Null(await page.EvaluateAsync<string?>("localStorage.getItem('lightq-token')"));
        Assert.Equal("", await page.EvaluateAsync<string>("document.cookie"));

        using HttpResponseMessage revoked = await broker.Web.DeleteAsync(
            $"/v1/tokens/{(string)made["info"]!["id"]!}",
            TestContext.Current.CancellationToken
        );
        Assert.True(revoked.IsSuccessStatusCode);
        await window.HeadingAsync("Sign in to LightQ");
        Assert.Null(await page.EvaluateAsync<string?>("sessionStorage.getItem('lightq-token')"));
    }

    [Fact]
    public async Task A_token_can_be_copied_and_who_signs_out_is_not_told_that_the_login_has_ended()
    {
        await using DashboardBroker broker = await DashboardBroker.StartAsync(o => o with { RequireAuth = true });
        await using Window window = await browser.OpenAsync(broker);
        IPage page = window.Page;
        await page.Context.GrantPermissionsAsync(["clipboard-read", "clipboard-write"]);
        await window.GoAsync("/users", "Sign in to LightQ");
        await window.SignInAsync("admin", broker.AdminPassword);
        await window.ClickAsync("Make a token");
        await window.ClickAsync("Make");
        string token = await page.Locator(".lq-secret").InnerTextAsync();
        await window.ClickAsync("Copy");
        await window.SeesAsync("Copied");
        Assert.Equal(token, await page.EvaluateAsync<string>("navigator.clipboard.readText()"));
        await window.ClickAsync("Done");

        // The broker has ended the login, and with it what the page reads, before the page hears of that.
        var released = new TaskCompletionSource();
        await page.RouteAsync(
            "**/*Auth/Logout",
            async route =>
            {
                IAPIResponse answer = await route.FetchAsync();
                await released.Task;
                await route.FulfillAsync(new() { Response = answer });
            }
        );
        await page.GetByLabel("Sign out").ClickAsync();
        await window.HeadingAsync("Sign in to LightQ");
        await Assertions.Expect(page.Locator(".mud-alert")).ToHaveCountAsync(0);
        released.SetResult();
        await page.UnrouteAllAsync(new() { Behavior = UnrouteBehavior.Wait });
        await Assertions.Expect(page.Locator(".mud-alert")).ToHaveCountAsync(0);
    }

    [Fact]
    public async Task Nothing_of_the_broker_is_reached_without_a_login_where_one_is_required()
    {
        await using DashboardBroker broker = await DashboardBroker.StartAsync(o => o with { RequireAuth = true });
        using var stranger = new HttpClient { BaseAddress = new Uri(broker.Address) };
        JsonNode api = JsonNode.Parse(
            await stranger.GetStringAsync("/openapi/v1.json", TestContext.Current.CancellationToken)
        )!;
        string[] open = ["/v1/login"];
        int seen = 0;
        foreach ((string path, JsonNode? methods) in api["paths"]!.AsObject())
        {
            foreach ((string method, _) in methods!.AsObject().Where(m => !open.Contains(path)))
            {
                using var request = new HttpRequestMessage(
                    new HttpMethod(method.ToUpperInvariant()),
                    Parameter().Replace(path, "x")
                );
                if (method is "post" or "put")
                    request.Content = new StringContent("{}", Encoding.UTF8, "application/json");
                using HttpResponseMessage answer = await stranger.SendAsync(
                    request,
                    TestContext.Current.CancellationToken
                );
                Assert.True(answer.StatusCode == HttpStatusCode.Unauthorized, $"{method} {path}: {answer.StatusCode}");
                seen++;
            }
        }

        foreach (string rpc in Rpcs())
        {
            using var request = new HttpRequestMessage(HttpMethod.Post, rpc)
            {
                Content = new ByteArrayContent(new byte[5])
                {
                    Headers = { ContentType = new("application/grpc-web+proto") },
                },
            };
            using HttpResponseMessage answer = await stranger.SendAsync(request, TestContext.Current.CancellationToken);
            string body = await answer.Content.ReadAsStringAsync(TestContext.Current.CancellationToken);
            string status = answer.Headers.TryGetValues("grpc-status", out IEnumerable<string>? found)
                ? $"grpc-status: {found.Single()}"
                : body;
            Assert.True(status.Contains("grpc-status: 16", StringComparison.Ordinal), $"{rpc}: {status}");
            seen++;
        }

        Assert.True(seen > 60, $"Only {seen} were found.");
    }

    [Fact]
    public async Task A_page_of_another_site_can_neither_call_nor_frame_it()
    {
        await using DashboardBroker broker = await DashboardBroker.StartAsync();
        await using DashboardBroker other = await DashboardBroker.StartAsync();
        await using Window window = await browser.OpenAsync(broker);
        // Another port is another origin; the page of one broker calls the other.
        await window.Page.GotoAsync("/healthz/live");
        string called = await window.Page.EvaluateAsync<string>(
            """
            url => fetch(url, {method: 'POST', headers: {'content-type': 'application/grpc-web+proto'}, body: new Uint8Array(5)})
              .then(() => 'called', e => 'refused: ' + e.name)
            """,
            other.Address + "lightq.control.v1.Topics/ListTopics"
        );
        Assert.Equal("refused: TypeError", called);
        using var request = new HttpRequestMessage(HttpMethod.Get, "/") { Headers = { { "Accept", "text/html" } } };
        using HttpResponseMessage page = await broker.Web.SendAsync(request, TestContext.Current.CancellationToken);
        string policy = page.Headers.GetValues("Content-Security-Policy").Single();
        Assert.Contains("frame-ancestors 'none'", policy, StringComparison.Ordinal);
        Assert.Contains("script-src 'self' 'wasm-unsafe-eval';", policy, StringComparison.Ordinal);
        Assert.DoesNotContain("unsafe-eval' 'unsafe-inline", policy, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Files_come_compressed_or_plain_and_once_and_not_where_a_setting_says_so()
    {
        await using DashboardBroker broker = await DashboardBroker.StartAsync();
        Assert.SkipUnless(await broker.HasDashboardAsync(), "The dashboard is not in this build: packaging/dashboard.");
        using var plain = new HttpClient { BaseAddress = new Uri(broker.Address) };
        byte[] script = await plain.GetByteArrayAsync(
            "/_framework/blazor.webassembly.js",
            TestContext.Current.CancellationToken
        );
        using var request = new HttpRequestMessage(HttpMethod.Get, "/_framework/blazor.webassembly.js");
        request.Headers.AcceptEncoding.ParseAdd("gzip, br");
        using HttpResponseMessage compressed = await plain.SendAsync(request, TestContext.Current.CancellationToken);
        Assert.Equal(["br"], compressed.Content.Headers.ContentEncoding);
        await using Stream body = await compressed.Content.ReadAsStreamAsync(TestContext.Current.CancellationToken);
        await using var inflated = new BrotliStream(body, CompressionMode.Decompress);
        using var bytes = new MemoryStream();
        await inflated.CopyToAsync(bytes, TestContext.Current.CancellationToken);
        Assert.Equal(script, bytes.ToArray());

        using var again = new HttpRequestMessage(HttpMethod.Get, "/app.css");
        again.Headers.TryAddWithoutValidation("If-None-Match", compressed.Headers.ETag!.ToString());
        using HttpResponseMessage same = await plain.SendAsync(again, TestContext.Current.CancellationToken);
        Assert.Equal(HttpStatusCode.NotModified, same.StatusCode);
        using HttpResponseMessage none = await plain.GetAsync(
            "/_framework/../../etc/passwd",
            TestContext.Current.CancellationToken
        );
        Assert.Equal(HttpStatusCode.NotFound, none.StatusCode);

        await using DashboardBroker off = await DashboardBroker.StartAsync(o =>
            o with
            {
                Dashboard = new() { IsEnabled = false },
            }
        );
        Assert.False(await off.HasDashboardAsync());
        Assert.Contains(
            "Dashboard:IsEnabled",
            await off.Web.GetStringAsync("/", TestContext.Current.CancellationToken),
            StringComparison.Ordinal
        );
    }

    /// <summary>Every rpc of the control plane but the login.</summary>
    private static IEnumerable<string> Rpcs()
    {
        DirectoryInfo? tree = new(AppContext.BaseDirectory);
        while (tree is not null && !File.Exists(Path.Combine(tree.FullName, "LightQ.sln")))
            tree = tree.Parent;
        Assert.NotNull(tree);
        foreach (
            string file in Directory.EnumerateFiles(Path.Combine(tree.FullName, "proto/lightq/control/v1"), "*.proto")
        )
        {
            string service = "";
            foreach (string line in File.ReadLines(file))
            {
                if (Service().Match(line) is { Success: true } found)
                    service = found.Groups[1].Value;
                else if (Rpc().Match(line) is { Success: true } rpc && rpc.Groups[1].Value != "Login")
                    yield return $"/lightq.control.v1.{service}/{rpc.Groups[1].Value}";
            }
        }
    }

    [GeneratedRegex("^service ([A-Za-z]+)")]
    private static partial Regex Service();

    [GeneratedRegex(@"^  rpc ([A-Za-z]+)\(")]
    private static partial Regex Rpc();

    [GeneratedRegex(@"\{[a-z_]+\}")]
    private static partial Regex Parameter();
}
