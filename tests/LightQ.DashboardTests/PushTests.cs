using System.Text.Json.Nodes;
using LightQ.Server;
using Microsoft.Playwright;
using Xunit;

namespace LightQ.DashboardTests;

/// <summary>Figures that the broker sends to the page by one stream, for as long as somebody looks at it.</summary>
public sealed class PushTests(Browser browser)
{
    private const string Watch = "/lightq.control.v1.Stats/WatchBrokerStats";

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Figures_come_by_one_stream_and_agree_with_the_statistics()
    {
        await using DashboardBroker broker = await DashboardBroker.StartAsync();
        await broker.CreateTopicAsync("orders");
        await broker.PublishAsync("orders", "one", "two", "three");
        await using Window window = await browser.OpenAsync(broker);
        await window.GoAsync("/", "Overview");
        JsonNode stats = JsonNode.Parse(await broker.Web.GetStringAsync("/v1/stats", Cancel))!;
        await SeesAsync(window, "Topics", stats["topicsCount"]!.ToString());
        await Assertions.Expect(Tile(window, "Disk free")).ToContainTextAsync("of messages");
        await Assertions.Expect(Tile(window, "Sync of the disk")).ToContainTextAsync("99 %");
        await window.TurnAsync("/topics", "Topics");
        await Assertions.Expect(window.Page.GetByRole(AriaRole.Row, new() { Name = "orders" })).ToBeVisibleAsync();
        await window.TurnAsync("/topics/orders", "orders");
        await SeesAsync(window, "Held", "3");
        await broker.PublishAsync("orders", "four");
        await SeesAsync(window, "Held", "4");
        Assert.NotEmpty(Watches(window));
        Assert.DoesNotContain(window.Requested, url => url.Contains("/metrics", StringComparison.Ordinal));
        Assert.DoesNotContain(window.Requested, url => url.Contains("/healthz", StringComparison.Ordinal));
        Assert.Empty(window.Errors);
    }

    [Fact]
    public async Task A_lost_stream_is_told_and_opened_again()
    {
        await using DashboardBroker broker = await DashboardBroker.StartAsync();
        await broker.CreateTopicAsync("orders");
        await using Window window = await browser.OpenAsync(broker);
        int port;
        await using (DashboardHost host = await HostAsync(0))
        {
            port = host.Address.Port;
            await window.GoAsync(host.Address + "topics/orders", "orders");
            await SeesAsync(window, "Held", "0");
        }
        ILocator health = window.Page.Locator(".lq-health");
        await Assertions.Expect(health).ToHaveTextAsync("Reconnecting");
        await broker.PublishAsync("orders", "meanwhile");
        await using DashboardHost again = await HostAsync(port);
        await Assertions.Expect(health).ToHaveTextAsync("Healthy");
        await SeesAsync(window, "Held", "1");

        Task<DashboardHost> HostAsync(int at) => DashboardHost.StartAsync(broker.Control, null, at, Cancel);
    }

    [Fact]
    public async Task A_page_that_is_hidden_or_stands_still_has_no_stream()
    {
        await using DashboardBroker broker = await DashboardBroker.StartAsync();
        await using Window window = await browser.OpenAsync(broker);
        var ended = new List<TaskCompletionSource> { new() };
        window.Page.RequestFailed += (_, request) => End(request);
        window.Page.RequestFinished += (_, request) => End(request);
        await window.GoAsync("/", "Overview");
        await Assertions.Expect(Tile(window, "Topics")).ToBeVisibleAsync();

        await HideAsync(true);
        await ended[^1].Task.WaitAsync(TimeSpan.FromMilliseconds(Window.PatienceMilliseconds), Cancel);
        ended.Add(new());
        int before = Watches(window).Length;
        await broker.CreateTopicAsync("orders");
        await HideAsync(false);
        await SeesAsync(window, "Topics", "1");
        Assert.Equal(before + 1, Watches(window).Length);

        await window.Page.GetByLabel("Let the figures stand still").ClickAsync();
        await ended[^1].Task.WaitAsync(TimeSpan.FromMilliseconds(Window.PatienceMilliseconds), Cancel);
        Assert.Equal(before + 1, Watches(window).Length);

        void End(IRequest request)
        {
            if (request.Url.EndsWith(Watch, StringComparison.Ordinal))
                ended[^1].TrySetResult();
        }

        Task HideAsync(bool isHidden) =>
            window.Page.EvaluateAsync(
                """
                hidden => {
                  Object.defineProperty(document, 'hidden', {value: hidden, configurable: true});
                  document.dispatchEvent(new Event('visibilitychange'));
                }
                """,
                isHidden
            );
    }

    [Fact]
    public async Task Signing_out_ends_the_stream_and_signing_in_again_with_the_same_token_opens_another()
    {
        await using DashboardBroker broker = await DashboardBroker.StartAsync(o => o with { RequireAuth = true });
        JsonNode made = await broker.PostAsync("/v1/tokens", new() { ["user"] = "admin" });
        await using Window window = await browser.OpenAsync(broker);
        await window.GoAsync("/", "Sign in to LightQ");
        Assert.Empty(Watches(window));
        await SignInAsync();
        await SeesAsync(window, "Topics", "0");
        await broker.CreateTopicAsync("orders");
        await SeesAsync(window, "Topics", "1");
        int before = Watches(window).Length;
        await window.Page.GetByLabel("Sign out").ClickAsync();
        await window.HeadingAsync("Sign in to LightQ");
        await broker.CreateTopicAsync("bills");
        Assert.Equal(before, Watches(window).Length);
        await SignInAsync();
        await SeesAsync(window, "Topics", "2");

        async Task SignInAsync()
        {
            await window.ClickAsync("Use a token");
            await window.Page.GetByLabel("Token").FillAsync((string)made["token"]!);
            await window.ClickAsync("Sign in");
            await window.HeadingAsync("Overview");
        }
    }

    private static string[] Watches(Window window) =>
        [.. window.Requested.Where(url => url.EndsWith(Watch, StringComparison.Ordinal))];

    private static ILocator Tile(Window window, string label) =>
        window
            .Page.Locator(".lq-tile")
            .Filter(new() { Has = window.Page.GetByText(label, new() { Exact = true }) })
            .First;

    private static Task SeesAsync(Window window, string label, string value) =>
        Assertions.Expect(Tile(window, label).Locator(".lq-tile-value")).ToHaveTextAsync(value);
}
