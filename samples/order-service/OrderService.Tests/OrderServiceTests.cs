using System.Diagnostics;
using System.Net;
using System.Net.Http.Json;
using System.Net.ServerSentEvents;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Testing;
using Microsoft.AspNetCore.Mvc.Testing;
using Microsoft.EntityFrameworkCore;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Xunit;

namespace OrderService.Tests;

/// <summary>The whole service, with a broker of the test's own and a clock that the test moves.</summary>
public sealed class OrderServiceTests : IAsyncLifetime, IDisposable
{
    private readonly DirectoryInfo _directory = Directory.CreateTempSubdirectory("order-service");
    private readonly Mails _mails = new();
    private LightQTestBroker _broker = null!;
    private WebApplicationFactory<Program> _shop = null!;
    private HttpClient _http = null!;

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync()
    {
        _broker = await LightQTestBroker.StartAsync();
        _shop = Shop();
        _http = _shop.CreateClient();
        await UntilAsync(async () => await StatusAsync("/ready") == HttpStatusCode.OK);
    }

    public async ValueTask DisposeAsync()
    {
        await _shop.DisposeAsync();
        await _broker.DisposeAsync();
        Dispose();
    }

    public void Dispose()
    {
        Microsoft.Data.Sqlite.SqliteConnection.ClearAllPools();
        if (_directory.Exists)
            _directory.Delete(recursive: true);
        _directory.Refresh();
    }

    [Fact]
    public async Task An_order_is_invoiced_once_however_often_it_is_sent()
    {
        for (int attempt = 0; attempt < 3; attempt++)
            await PlaceAsync("42", 9.99m);
        OrderRow row = await RowAsync("42");
        Assert.Equal(("ann", 9.99m, false), (row.Customer, row.Total, row.IsPaid));
        await UntilAsync(async () => await InvoicesAsync() == 1);

        await using LightQClient client = _broker.CreateClient();
        Assert.Equal(1, (await client.Stats.GetTopicAsync("orders", Cancel)).EndOffset);
    }

    [Fact]
    public async Task An_order_that_cannot_be_invoiced_becomes_a_dead_letter()
    {
        await PlaceAsync("free", 0);
        await PlaceAsync("42", 1);
        await using LightQClient client = _broker.CreateClient();
        var letters = new List<DeadLetterInfo>();
        await UntilAsync(async () =>
        {
            letters.Clear();
            await foreach (DeadLetterInfo letter in client.DeadLetters.ListAsync("orders", "invoicing"))
                letters.Add(letter);
            return letters.Count > 0;
        });
        Assert.Contains("The order free has a total of 0.", Assert.Single(letters).Reason, StringComparison.Ordinal);
        await UntilAsync(async () => await InvoicesAsync() == 1);
    }

    [Fact]
    public async Task Who_has_not_paid_after_a_day_is_reminded()
    {
        await PlaceAsync("paid", 1);
        await PlaceAsync("forgotten", 2);
        await RowAsync("paid");
        using HttpResponseMessage payment = await _http.PostAsync("/orders/paid/payment", null, Cancel);
        Assert.Equal(HttpStatusCode.Accepted, payment.StatusCode);
        await UntilAsync(async () => (await RowAsync("paid")).IsPaid);

        _broker.Time.Advance(TimeSpan.FromDays(1));

        await UntilAsync(() => Task.FromResult(_mails.Sent.Length > 0));
        Assert.Equal(["Please pay your order forgotten."], _mails.Sent);
    }

    [Fact]
    public async Task Another_version_makes_the_table_of_orders_anew()
    {
        await PlaceAsync("1", 1);
        await PlaceAsync("2", 2);
        await RowAsync("2");
        using (IServiceScope scope = _shop.Services.CreateScope())
        {
            ShopDb db = scope.ServiceProvider.GetRequiredService<ShopDb>();
            await db.Orders.Where(order => order.Id == "1").ExecuteDeleteAsync(Cancel); // As an old fault left it.
        }
        await _shop.DisposeAsync();

        _shop = Shop(version: 2);
        _http = _shop.CreateClient();
        Assert.Equal(1, (await RowAsync("1")).Total);
        Assert.Equal(2, (await RowAsync("2")).Total);
        await UntilAsync(async () => await StatusAsync("/ready") == HttpStatusCode.OK);
    }

    [Fact]
    public async Task A_browser_follows_orders_and_goes_on_where_it_left()
    {
        Task<SseItem<string>> first = NextAsync(lastEventId: null);
        for (int i = 0; !first.IsCompleted; i++)
            await PlaceAsync($"{i}", 1); // The stream is live: it has what is placed once it is there.
        SseItem<string> seen = await first;
        Assert.Contains("\"change\":\"Placed\"", seen.Data, StringComparison.Ordinal);

        await PlaceAsync("meanwhile", 1);
        SseItem<string> next = await NextAsync(seen.EventId);
        Assert.Equal(MessagePosition.Parse(seen.EventId!).Offset + 1, MessagePosition.Parse(next.EventId!).Offset);
    }

    [Fact]
    public async Task Without_its_broker_it_is_alive_and_not_ready()
    {
        await _broker.Server.StopAsync();
        await UntilAsync(async () => await StatusAsync("/ready") == HttpStatusCode.ServiceUnavailable);
        Assert.Equal(HttpStatusCode.OK, await StatusAsync("/live"));
    }

    [Fact]
    public async Task The_invoice_is_written_in_the_trace_of_the_request()
    {
        var handled = new TaskCompletionSource<ActivityTraceId>(TaskCreationOptions.RunContinuationsAsynchronously);
        using var listener = new ActivityListener
        {
            ShouldListenTo = source => source.Name == LightQTelemetry.ActivitySourceName,
            ActivityStopped = span =>
            {
                if (span.DisplayName.StartsWith("process orders", StringComparison.Ordinal))
                    handled.TrySetResult(span.TraceId);
            },
        };
        ActivitySource.AddActivityListener(listener);
        var trace = ActivityTraceId.CreateRandom();
        using var request = new HttpRequestMessage(HttpMethod.Post, "/orders")
        {
            Content = JsonContent.Create(new NewOrder("42", "ann", 1)),
        };
        request.Headers.Add("traceparent", $"00-{trace}-{ActivitySpanId.CreateRandom()}-01");
        using HttpResponseMessage response = await _http.SendAsync(request, Cancel);
        Assert.Equal(HttpStatusCode.Accepted, response.StatusCode);
        Assert.Equal(trace, await handled.Task.WaitAsync(TimeSpan.FromSeconds(60), Cancel));
    }

    private static async Task UntilAsync(Func<Task<bool>> condition)
    {
        for (var patience = Stopwatch.StartNew(); !await condition(); await Task.Delay(20, Cancel))
            Assert.True(patience.Elapsed < TimeSpan.FromSeconds(60), "It has not happened within a minute.");
    }

    /// <summary>What comes first to a browser that has seen this event last.</summary>
    private async Task<SseItem<string>> NextAsync(string? lastEventId)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, "/orders/live");
        if (lastEventId is not null)
            request.Headers.Add("Last-Event-ID", lastEventId);
        using HttpResponseMessage live = await _http.SendAsync(
            request,
            HttpCompletionOption.ResponseHeadersRead,
            Cancel
        );
        await using Stream stream = await live.Content.ReadAsStreamAsync(Cancel);
        await foreach (SseItem<string> item in SseParser.Create(stream).EnumerateAsync(Cancel))
            return item;
        throw new InvalidOperationException("The stream has ended.");
    }

    private WebApplicationFactory<Program> Shop(int version = 1) =>
        new WebApplicationFactory<Program>().WithWebHostBuilder(web =>
            web.UseLightQ(_broker)
                .UseSetting("ConnectionStrings:Shop", $"Data Source={Path.Combine(_directory.FullName, "shop.db")}")
                .UseSetting("OrderTable:Version", $"{version}")
                .ConfigureServices(services => services.Replace(ServiceDescriptor.Singleton<IMailer>(_mails)))
        );

    private async Task PlaceAsync(string id, decimal total)
    {
        using HttpResponseMessage placed = await _http.PostAsJsonAsync(
            "/orders",
            new NewOrder(id, "ann", total),
            Cancel
        );
        Assert.Equal(HttpStatusCode.Accepted, placed.StatusCode);
    }

    private async Task<HttpStatusCode> StatusAsync(string path)
    {
        using HttpResponseMessage response = await _http.GetAsync(path, Cancel);
        return response.StatusCode;
    }

    private async Task<OrderRow> RowAsync(string id)
    {
        await UntilAsync(async () => await StatusAsync($"/orders/{id}") == HttpStatusCode.OK);
        return (await _http.GetFromJsonAsync<OrderRow>($"/orders/{id}", Cancel))!;
    }

    private async Task<int> InvoicesAsync()
    {
        using IServiceScope scope = _shop.Services.CreateScope();
        return await scope.ServiceProvider.GetRequiredService<ShopDb>().Invoices.CountAsync(Cancel);
    }

    private sealed class Mails : IMailer
    {
        private readonly List<string> _sent = [];

        public string[] Sent
        {
            get
            {
                lock (_sent)
                    return [.. _sent];
            }
        }

        public Task SendAsync(string to, string text, CancellationToken cancellationToken)
        {
            lock (_sent)
                _sent.Add(text);
            return Task.CompletedTask;
        }
    }
}
