using System.Net.ServerSentEvents;
using System.Runtime.CompilerServices;
using LightQ.Client;
using Microsoft.Extensions.Hosting;

namespace LightQ.TestShop;

/// <summary>Orders as they come, as server-sent events. A browser that comes back goes on behind what it saw.</summary>
internal sealed class LiveOrders(LightQClient client, IHostApplicationLifetime host)
{
    public async IAsyncEnumerable<SseItem<string>> ReadAsync(
        string? lastEventId,
        [EnumeratorCancellation] CancellationToken aborted = default
    )
    {
        // A stream never ends by itself: without the host's token a stop waits for it.
        using var end = CancellationTokenSource.CreateLinkedTokenSource(aborted, host.ApplicationStopping);
        var options = new ConsumeOptions
        {
            StartAfter = MessagePosition.TryParse(lastEventId, null, out MessagePosition seen) ? [seen] : [],
        };
        await using IAsyncEnumerator<Message> orders = client
            .ConsumeAsync("orders", options, end.Token)
            .GetAsyncEnumerator(end.Token);
        while (await MoveNextAsync(orders, end.Token))
        {
            Message order = orders.Current;
            yield return new SseItem<string>(order.GetText(), "order") { EventId = order.Position.ToString() };
        }
    }

    private static async Task<bool> MoveNextAsync(IAsyncEnumerator<Message> orders, CancellationToken end)
    {
        try
        {
            return await orders.MoveNextAsync();
        }
        catch (OperationCanceledException) when (end.IsCancellationRequested)
        {
            return false; // The browser has left, or the host stops: the stream ends as one does.
        }
    }
}
