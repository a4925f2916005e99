using System.Net;
using LightQ.Client;
using LightQ.Testing;
using Microsoft.AspNetCore.Mvc.Testing;
using Xunit;

namespace LightQ.IntegrationTests.Docs;

// Inside: the test program has a Program of its own outside.
#pragma warning disable IDE0065
using Program = LightQ.TestShop.Orders;
#pragma warning restore IDE0065

/// <summary>The test of docs/use/testing.md, word for word between the markers.</summary>
internal static class TestingExamples
{
    public static async Task TestWithABrokerAsync()
    {
        // SHOWN: a test with a broker and a clock
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync();     // its data go with it
        await using LightQClient client = broker.CreateClient();
        var orders = new TopicSpec("orders") { LockDuration = TimeSpan.FromMinutes(5), RetryDelay = TimeSpan.Zero };
        await client.Topics.CreateAsync(orders);
        await using Producer producer = await client.CreateProducerAsync("orders");
        await producer.PublishAsync("order 1"u8);

        var explicitly = new ConsumeOptions { Group = "billing", SettleMode = SettleMode.Explicit };
        await using MessageConsumer billing = client.CreateConsumer("orders", explicitly);
        Message first = Assert.Single(await billing.FetchAsync(10, TimeSpan.FromSeconds(10)));

        broker.Time.Advance(TimeSpan.FromMinutes(5));                                  // its lock runs out, at once

        Message again = Assert.Single(await billing.FetchAsync(10, TimeSpan.FromSeconds(10)));
        Assert.Equal(2, again.DeliveryCount);
        Assert.Equal(SettleOutcome.LockExpired, await first.CompleteAsync());
        Assert.Equal(SettleOutcome.Done, await again.CompleteAsync());

        await broker.RestartAsync();                                     // same ports, same data; clients reconnect
        Assert.Empty(await billing.FetchAsync(10, TimeSpan.FromMilliseconds(200)));
        // SHOWN: end
    }

    public static async Task TestOfAWebApplicationAsync()
    {
        // SHOWN: a test of a web application
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync();
        await using var shop = new WebApplicationFactory<Program>().WithWebHostBuilder(web => web.UseLightQ(broker));
        using HttpClient http = shop.CreateClient();

        using HttpResponseMessage taken = await http.PostAsync("/orders/42", null);
        Assert.Equal(HttpStatusCode.OK, taken.StatusCode);

        await using LightQClient client = broker.CreateClient();
        await foreach (Message order in client.ConsumeAsync("orders", new() { Start = StartPosition.Earliest }))
        {
            Assert.Equal("42", order.GetText());
            break;
        }
        // SHOWN: end
    }
}
