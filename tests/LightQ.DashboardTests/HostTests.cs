using System.Net;
using System.Net.Http.Headers;
using LightQ.Server;
using Microsoft.Playwright;
using Xunit;

namespace LightQ.DashboardTests;

/// <summary>The dashboard on this machine for a broker elsewhere.</summary>
public sealed class HostTests(Browser browser)
{
    [Fact]
    public async Task It_shows_a_broker_elsewhere_to_whom_that_broker_lets_in()
    {
        await using DashboardBroker broker = await DashboardBroker.StartAsync(o => o with { RequireAuth = true });
        await broker.CreateTopicAsync("orders");
        await using Window window = await browser.OpenAsync(broker);
        await using DashboardHost host = await DashboardHost.StartAsync(
            broker.Control,
            cancellationToken: TestContext.Current.CancellationToken
        );
        await window.GoAsync(host.Address + "topics", "Sign in to LightQ");
        await window.SignInAsync("admin", broker.AdminPassword);
        await window.HeadingAsync("Topics");
        await Assertions
            .Expect(window.Page.GetByRole(AriaRole.Link, new() { Name = "orders", Exact = true }))
            .ToBeVisibleAsync();
        await window.ClickAsync("Create topic");
        await window.Page.GetByLabel("Name", new() { Exact = true }).FillAsync("orders");
        await window.ClickAsync("Create");
        await Assertions
            .Expect(window.Page.GetByRole(AriaRole.Dialog).GetByRole(AriaRole.Alert).First)
            .ToContainTextAsync("orders");
    }

    [Fact]
    public async Task It_says_so_when_the_broker_is_not_there_and_takes_calls_of_pages_alone()
    {
        Assert.SkipUnless(DashboardHost.IsInThisBuild, "The dashboard is not in this build: run packaging/dashboard.");
        await using DashboardHost host = await DashboardHost.StartAsync(
            new Uri("http://127.0.0.1:1"),
            cancellationToken: TestContext.Current.CancellationToken
        );
        using var client = new HttpClient { BaseAddress = host.Address };
        using HttpResponseMessage gone = await PostAsync("application/grpc-web+proto");
        string body = await gone.Content.ReadAsStringAsync(TestContext.Current.CancellationToken);
        string status = gone.Headers.TryGetValues("grpc-status", out IEnumerable<string>? found)
            ? found.Single()
            : body;
        Assert.Contains("14", status, StringComparison.Ordinal);
        using HttpResponseMessage plain = await PostAsync("text/plain");
        Assert.Equal(HttpStatusCode.UnsupportedMediaType, plain.StatusCode);

        using var rebound = new HttpRequestMessage(HttpMethod.Get, "/") { Headers = { Host = "rebound.example" } };
        using HttpResponseMessage misdirected = await client.SendAsync(rebound, TestContext.Current.CancellationToken);
        Assert.Equal(HttpStatusCode.MisdirectedRequest, misdirected.StatusCode);

        ServerStartException taken = await Assert.ThrowsAsync<ServerStartException>(() =>
            DashboardHost.StartAsync(
                new Uri("http://127.0.0.1:1"),
                null,
                host.Address.Port,
                TestContext.Current.CancellationToken
            )
        );
        Assert.Equal(ServerStartFailure.PortInUse, taken.Failure);

        Task<HttpResponseMessage> PostAsync(string type) =>
            client.PostAsync(
                "/lightq.control.v1.Topics/ListTopics",
                new ByteArrayContent(new byte[5]) { Headers = { ContentType = new MediaTypeHeaderValue(type) } },
                TestContext.Current.CancellationToken
            );
    }
}
