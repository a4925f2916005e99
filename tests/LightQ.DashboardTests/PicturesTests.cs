using Microsoft.Playwright;
using Xunit;

namespace LightQ.DashboardTests;

/// <summary>
/// Makes the pictures of the documents, from a broker under a made load, where LIGHTQ_DOC_PICTURES names their folder.
/// </summary>
[Collection(AloneCollection.Name)]
public sealed class PicturesTests(Browser browser)
{
    private const string Variable = "LIGHTQ_DOC_PICTURES";
    private const int MostBytes = 150 * 1024;

    private static readonly TimeSpan Load = TimeSpan.FromSeconds(75);

    [Fact]
    public async Task Pictures_of_the_documents_are_small()
    {
        string folder = Environment.GetEnvironmentVariable(Variable) ?? "";
        Assert.SkipWhen(folder.Length == 0, $"{Variable} names no folder.");
        await using DashboardBroker broker = await DashboardBroker.StartAsync();
        foreach (string topic in (string[])["audit.events", "invoices", "orders", "payments", "shipments"])
            await broker.CreateTopicAsync(topic);
        await broker.PublishAsync("payments", """{"order": 4711, "amount": 12.50, "currency": "EUR"}""");
        await broker.FetchAsync("payments", "ledger", "SETTLE_KIND_DEAD_LETTER", "no such account: 4711");
        await broker.PublishAsync("shipments", "parcel 1", "parcel 2", "parcel 3");
        await broker.FetchAsync("shipments", "printer", null);
        await using Window light = await browser.OpenAsync(broker);
        await using Window dark = await browser.OpenAsync(broker, isDark: true);
        await light.GoAsync("/", "Overview");
        await dark.GoAsync("/topics/orders", "orders");
        await LoadAsync(broker);
        await TakeAsync(light, "overview");
        await TakeAsync(dark, "topic");
        await light.TurnAsync("/topics", "Topics");
        await light.TurnAsync("/groups/payments/ledger", "ledger");
        await light.TabAsync("Dead letters");
        await light.Page.GetByRole(AriaRole.Button, new() { Name = "0", Exact = true }).ClickAsync();
        await light.SeesAsync("currency");
        await light.Page.Mouse.MoveAsync(5, 5);
        await Task.Delay(1_500, TestContext.Current.CancellationToken);
        await TakeAsync(light, "letters");

        async Task TakeAsync(Window window, string name)
        {
            string path = Path.Combine(folder, $"dashboard-{name}.png");
            await window.Page.SetViewportSizeAsync(1200, 780);
            await window.Page.ScreenshotAsync(new() { Path = path });
            Assert.InRange(new FileInfo(path).Length, 1, MostBytes);
        }
    }

    private static async Task LoadAsync(DashboardBroker broker)
    {
        var random = new Random(1);
        long end = Environment.TickCount64 + (long)Load.TotalMilliseconds;
        for (int i = 0; Environment.TickCount64 < end; i++)
        {
            int count = (int)(40 + (25 * Math.Sin(i / 25.0)) + random.Next(10));
            await broker.PublishAsync("orders", [.. Enumerable.Repeat("""{"order": 4711, "items": 3}""", count)]);
            await broker.PublishAsync("invoices", [.. Enumerable.Repeat("invoice", count / 4)]);
            if (i % 3 != 0)
                await broker.FetchAsync("orders", "billing", "SETTLE_KIND_COMPLETE");
            await Task.Delay(150, TestContext.Current.CancellationToken);
        }
    }
}
