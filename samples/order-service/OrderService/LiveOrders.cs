using System.Net.ServerSentEvents;
using System.Runtime.CompilerServices;
using LightQ.Client;

namespace OrderService;

/// <summary>
/// A live stream for browsers: server-sent events that go on, after a lost connection, behind the last one that came.
/// </summary>
public sealed class LiveOrders(LightQClient client, IHostApplicationLifetime host)
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
            .ConsumeAsync(Topics.Orders, options, end.Token)
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
