using Microsoft.Playwright;
using Xunit;

namespace LightQ.DashboardTests;

/// <summary>What people do with the page, from the login on.</summary>
public sealed class WorkTests(Browser browser)
{
    [Fact]
    public async Task A_user_creates_publishes_repairs_and_pauses()
    {
        await using DashboardBroker broker = await DashboardBroker.StartAsync(o => o with { RequireAuth = true });
        await using Window window = await browser.OpenAsync(broker);
        IPage page = window.Page;
        await window.GoAsync("/", "Sign in to LightQ");
        await window.SignInAsync("admin", broker.AdminPassword);
        await window.HeadingAsync("Overview");

        await broker.CreateTopicAsync("invoices");
        await page.GetByRole(AriaRole.Link, new() { Name = "Topics", Exact = true }).ClickAsync();
        await window.ClickAsync("Create topic");
        await page.GetByLabel("Name", new() { Exact = true }).FillAsync("orders");
        await window.ClickAsync("Create");
        await window.HeadingAsync("orders");

        await window.TabAsync("Messages");
        await window.ClickAsync("Publish");
        ILocator dialog = page.GetByRole(AriaRole.Dialog);
        await dialog.GetByLabel("Key").FillAsync("k-1");
        await dialog.GetByLabel("Body").FillAsync("""{"amount": 12}""");
        await dialog.GetByLabel("Headers").FillAsync("source: test");
        await dialog.GetByRole(AriaRole.Button, new() { Name = "Publish" }).ClickAsync();
        await window.SeesAsync("Published at offset 0 of partition 0.");
        await page.GetByRole(AriaRole.Button, new() { Name = "0", Exact = true }).ClickAsync();
        await window.SeesAsync("source");
        await Assertions.Expect(page.GetByLabel("Body", new() { Exact = true })).ToContainTextAsync("\"amount\": 12");

        // The figures move while the page is open, on every page and both ways.
        ILocator rate = page.Locator(".lq-tile").Filter(new() { HasText = "Messages in /s" }).Locator(".lq-tile-value");
        using (var stop = new CancellationTokenSource())
        {
            Task load = LoadAsync(broker, stop.Token);
            await Assertions.Expect(rate).Not.ToHaveTextAsync("0");
            await window.TurnAsync("/topics", "Topics");
            ILocator row = page.Locator("tbody tr").Filter(new() { HasText = "orders" });
            await Assertions.Expect(row.Locator("td.n").First).Not.ToHaveTextAsync("0");
            await window.ClickAsync("In /s");
            await Assertions.Expect(page.Locator("tbody tr").First).ToContainTextAsync("orders");
            await window.TurnAsync("/", "Overview");
            await Assertions.Expect(rate).Not.ToHaveTextAsync("0");
            await stop.CancelAsync();
            await load;
            await Assertions.Expect(rate).ToHaveTextAsync("0");
        }

        Assert.NotEmpty(await broker.FetchAsync("orders", "billing", "SETTLE_KIND_DEAD_LETTER", "no such customer"));
        await window.TurnAsync("/groups/orders/billing", "billing");
        await window.TabAsync("Dead letters");
        await window.SeesAsync("no such customer");
        await window.ClickAsync("Edit and publish");
        await dialog.GetByLabel("Body").FillAsync("mended");
        await dialog.GetByRole(AriaRole.Button, new() { Name = "Publish" }).ClickAsync();
        await window.SeesAsync("Published at offset");
        string[] mended = await broker.FetchAsync("orders", "billing", "SETTLE_KIND_COMPLETE");
        while (!mended.Contains("mended"))
            mended = await broker.FetchAsync("orders", "billing", "SETTLE_KIND_COMPLETE");

        await page.GetByLabel("Choose letter 1", new() { Exact = true }).CheckAsync();
        await window.ClickAsync("Redrive 1 chosen");
        await window.SeesAsync("1 dead letter of group billing redriven.");
        await Assertions.Expect(page.GetByLabel("Choose letter 1", new() { Exact = true })).ToHaveCountAsync(0);
        Assert.Equal(["load"], await broker.FetchAsync("orders", "billing", "SETTLE_KIND_COMPLETE"));

        await window.ClickAsync("Pause");
        await Assertions.Expect(page.Locator(".lq-why")).ToContainTextAsync("paused");
        await broker.PublishAsync("orders", "late");
        await window.ClickAsync("Resume");
        await Assertions.Expect(page.Locator(".lq-why")).Not.ToContainTextAsync("paused");
        Assert.Equal(["late"], await broker.FetchAsync("orders", "billing", "SETTLE_KIND_COMPLETE"));

        await window.TurnAsync("/topics/orders", "orders");
        await window.TabAsync("Messages");
        await window.ClickAsync("Publish");
        await dialog.GetByLabel("Body").FillAsync("reminder");
        await dialog.GetByLabel("Deliver after").FillAsync("12h");
        await dialog.GetByRole(AriaRole.Button, new() { Name = "Publish" }).ClickAsync();
        await window.SeesAsync("It is delivered later");
        await window.TabAsync("Scheduled");
        await window.SeesAsync("reminder");
        await window.ClickAsync("Cancel delivery");
        await dialog.GetByRole(AriaRole.Button, new() { Name = "Cancel delivery" }).ClickAsync();
        await window.SeesAsync("No delayed message waits.");

        await window.ClickAsync("Delete");
        ILocator delete = dialog.GetByRole(AriaRole.Button, new() { Name = "Delete" });
        await Assertions.Expect(delete).ToBeDisabledAsync();
        await dialog.GetByRole(AriaRole.Textbox).FillAsync("orders");
        await delete.ClickAsync();
        await window.HeadingAsync("Topics");
        await Assertions
            .Expect(page.GetByRole(AriaRole.Link, new() { Name = "orders", Exact = true }))
            .ToHaveCountAsync(0);
        Assert.Empty(window.Errors);
        Assert.All(window.Requested, url => Assert.StartsWith(broker.Address, url, StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_user_is_refused_what_it_has_no_right_to_and_reads_which_right_is_missing()
    {
        await using DashboardBroker broker = await DashboardBroker.StartAsync();
        await broker.CreateTopicAsync("orders");
        await broker.CreateTopicAsync("secrets");
        await broker.PublishAsync("orders", "first");
        await broker.FetchAsync("orders", "billing", "SETTLE_KIND_DEAD_LETTER", "no such customer");
        await broker.PostAsync("/v1/users", new() { ["name"] = "alice", ["password"] = "a long password" });
        await broker.PostAsync(
            "/v1/grants",
            new()
            {
                ["grant"] = new System.Text.Json.Nodes.JsonObject
                {
                    ["user"] = "alice",
                    ["right"] = "RIGHT_CONSUME",
                    ["topic"] = "orders",
                },
            }
        );
        await using Window window = await browser.OpenAsync(broker);
        IPage page = window.Page;
        await window.GoAsync("/topics", "Sign in to LightQ");
        await page.GetByLabel("User").FillAsync("alice");
        await page.GetByLabel("Password").FillAsync("wrong password");
        await window.ClickAsync("Sign in");
        await Assertions.Expect(page.GetByRole(AriaRole.Alert).First).ToContainTextAsync("password");
        await window.SignInAsync("alice", "a long password");

        await window.HeadingAsync("Topics");
        await Assertions
            .Expect(page.GetByRole(AriaRole.Link, new() { Name = "orders", Exact = true }))
            .ToBeVisibleAsync();
        await Assertions.Expect(page.GetByRole(AriaRole.Link, new() { Name = "secrets" })).ToHaveCountAsync(0);
        await window.TurnAsync("/", "Overview");
        await window.SeesAsync("1 dead letter waits");
        await Assertions.Expect(page.GetByRole(AriaRole.Link, new() { Name = "Users and rights" })).ToHaveCountAsync(0);
        await broker.PostAsync("/v1/topics/orders/groups/billing:redrive", []);
        await page.GotoAsync("/topics/orders");
        await IsDisabledAsync("Delete", "This needs the right to manage on orders.");
        await window.TabAsync("Messages");
        await window.SeesAsync("first");
        await IsDisabledAsync("Publish", "This needs the right to publish on orders.");
        await window.TurnAsync("/groups/orders/billing", "billing");
        await IsDisabledAsync("Pause", "This needs the right to manage on orders.");
        await window.TurnAsync("/", "Overview");
        await window.SeesAsync("and the group has no members");
        await Assertions.Expect(page.GetByText("dead letter")).ToHaveCountAsync(0);
        await window.TurnAsync("/users", "Users and rights");
        await Assertions
            .Expect(page.GetByRole(AriaRole.Alert).First)
            .ToContainTextAsync("alice does not have the right admin");
        await window.TurnAsync("/topics/secrets", "secrets");
        await Assertions.Expect(page.GetByRole(AriaRole.Alert).First).ToContainTextAsync("secrets");

        async Task IsDisabledAsync(string name, string why)
        {
            ILocator button = page.GetByRole(AriaRole.Button, new() { Name = name, Exact = true });
            await Assertions.Expect(button).ToBeDisabledAsync();
            await Assertions.Expect(button).ToHaveAttributeAsync("title", why);
        }
    }

    private static async Task LoadAsync(DashboardBroker broker, CancellationToken stop)
    {
        for (int i = 0; i < 600 && !stop.IsCancellationRequested; i++)
        {
            await broker.PublishAsync("orders", "load");
            await Task.Delay(100, TestContext.Current.CancellationToken);
        }
    }
}
