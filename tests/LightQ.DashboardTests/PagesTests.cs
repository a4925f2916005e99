using System.Text.Json.Nodes;
using Microsoft.Playwright;
using Xunit;

namespace LightQ.DashboardTests;

/// <summary>Every page, wide and narrow, light and dark: it can be read and used by everybody.</summary>
public sealed class PagesTests(Browser browser)
{
    private static readonly (string Path, string Heading)[] Pages =
    [
        ("/", "Overview"),
        ("/topics", "Topics"),
        ("/topics/orders", "orders"),
        ("/groups", "Groups"),
        ("/groups/orders/billing", "billing"),
        ("/connections", "Connections"),
        ("/users", "Users and rights"),
        ("/cluster", "Cluster"),
        ("/audit", "Audit log"),
        ("/settings", "Settings"),
    ];

    // Colours are the theme's alone, and the layout is the width's: two windows see all of both.
    [Theory]
    [InlineData(1440, false)]
    [InlineData(390, true)]
    public async Task Pages_are_accessible_and_no_wider_than_the_window(int width, bool isDark)
    {
        await using DashboardBroker broker = await DashboardBroker.StartAsync(o => o with { RequireAuth = true });
        await FillAsync(broker);
        await using Window window = await browser.OpenAsync(broker, width, isDark);
        var cut = new List<string>();
        string form = $"{width}-{(isDark ? "dark" : "light")}";
        await window.GoAsync("/", "Sign in to LightQ");
        await window.AccessibleAsync("sign in");
        await window.PictureAsync($"sign-in-{form}");
        await window.SignInAsync("admin", broker.AdminPassword);
        foreach ((string path, string heading) in Pages)
        {
            await window.TurnAsync(path, heading);
            await Assertions.Expect(window.Page.GetByText("Reading…")).ToHaveCountAsync(0);
            await Assertions.Expect(window.Page.Locator(".lq-tile, table").First).ToBeVisibleAsync();
            await LookAsync($"{heading.ToLowerInvariant().Replace(' ', '-')}-{form}");
        }

        await window.TurnAsync("/groups/orders/billing", "billing");
        await window.TabAsync("Dead letters");
        await window.SeesAsync("no such customer");
        await LookAsync($"letters-{form}");
        await window.TurnAsync("/topics/orders", "orders");
        await window.TabAsync("Messages");
        await window.SeesAsync("waiting until");
        await window.SeesAsync("as offset");
        await window.SeesAsync("of the delayed message at offset 5");
        await window.Page.GetByRole(AriaRole.Button, new() { Name = "2", Exact = true }).ClickAsync();
        await LookAsync($"messages-{form}");
        await window.ClickAsync("Publish");
        await Assertions.Expect(window.Page.GetByRole(AriaRole.Dialog)).ToBeVisibleAsync();
        await LookAsync($"publish-{form}");
        if (width > 390)
            await ResizeAsync(window);
        Assert.Empty(cut); // Tables that people have to move to read them.
        Assert.Empty(window.Errors);

        async Task LookAsync(string name)
        {
            await window.PictureAsync(name);
            await window.AccessibleAsync(name);
            int over = await window.Page.EvaluateAsync<int>(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            );
            Assert.True(over <= 0, $"{name} is {over} pixels wider than the window");
            cut.AddRange(
                await window.Page.EvaluateAsync<string[]>(
                    """
                    name => [...document.querySelectorAll('.lq-table')].filter(t => t.scrollWidth > t.clientWidth)
                      .map(t => `${name}, ${t.querySelector('th')?.textContent}: ${t.scrollWidth - t.clientWidth} pixels`)
                    """,
                    name
                )
            );
        }
    }

    /// <summary>The menu goes and comes with the width, and a smaller screen still has the whole table.</summary>
    private static async Task ResizeAsync(Window window)
    {
        await window.TurnAsync("/settings", "Settings");
        await window.Page.SetViewportSizeAsync(700, 900);
        await Assertions.Expect(window.Page.Locator(".mud-drawer--closed")).ToBeAttachedAsync();
        await window.Page.SetViewportSizeAsync(1280, 900);
        await Assertions.Expect(window.Page.Locator(".mud-drawer--open")).ToBeAttachedAsync();
        ILocator table = window.Page.Locator(".lq-table").Last;
        await Assertions.Expect(table.Locator("tbody tr").First).ToBeVisibleAsync();
        int over = await table.EvaluateAsync<int>("table => table.scrollWidth - table.clientWidth");
        await window.PictureAsync("settings-1280-light");
        Assert.True(over <= 0, $"The table of the settings is cut by {over} pixels");
    }

    [Fact]
    public async Task A_broker_without_users_opens_without_a_login_and_agrees_with_its_metrics()
    {
        await using DashboardBroker broker = await DashboardBroker.StartAsync();
        await FillTopicsAsync(broker);
        await using Window window = await browser.OpenAsync(broker);
        await window.GoAsync("/", "Overview");
        ILocator topics = window
            .Page.Locator(".lq-tile")
            .Filter(new() { HasText = "Topics" })
            .Locator(".lq-tile-value");
        string[] metrics = (await broker.Web.GetStringAsync("/metrics", TestContext.Current.CancellationToken)).Split(
            '\n'
        );
        string count = metrics.Single(l => l.StartsWith("lightq_topics ", StringComparison.Ordinal)).Split(' ')[1];
        await Assertions.Expect(topics).ToHaveTextAsync(count);
        await window.TurnAsync("/topics/orders", "orders");
        ILocator held = window.Page.Locator(".lq-tile").Filter(new() { HasText = "Held" }).Locator(".lq-tile-value");
        await Assertions.Expect(held).ToHaveTextAsync("4");
        Assert.Contains("lightq_topic_messages_received_total{topic=\"orders\"} 4", metrics);
    }

    private static async Task FillTopicsAsync(DashboardBroker broker)
    {
        await broker.CreateTopicAsync("orders");
        await broker.CreateTopicAsync("invoices");
        await broker.PublishAsync("orders", "first", "second", """{"amount": 12, "customer": "Ada"}""");
        await broker.FetchAsync("orders", "billing", "SETTLE_KIND_DEAD_LETTER", "no such customer");
        await broker.PublishAsync("orders", "held");
        await broker.FetchAsync("orders", "billing", null);
    }

    private static async Task FillAsync(DashboardBroker broker)
    {
        await FillTopicsAsync(broker);
        foreach ((string body, string delay) in ((string, string)[])[("later", "3600s"), ("soon", "0.1s")])
        {
            var message = new JsonObject { ["body"] = DashboardBroker.Base64(body), ["delay"] = delay };
            await broker.PostAsync("/v1/topics/orders:publish", new() { ["messages"] = new JsonArray(message) });
        }
        await broker.PostAsync("/v1/users", new() { ["name"] = "alice", ["password"] = "a long password" });
        await broker.PostAsync(
            "/v1/grants",
            new()
            {
                ["grant"] = new JsonObject
                {
                    ["user"] = "alice",
                    ["right"] = "RIGHT_CONSUME",
                    ["topic"] = "orders.*",
                },
            }
        );
        await broker.PostAsync("/v1/tokens", new() { ["user"] = "alice", ["description"] = "billing service" });
    }
}
