using LightQ.Bench.Figures;
using LightQ.Bench.Roles;

namespace LightQ.Bench.InProcess;

/// <summary>The two ends of a hand-over at work together, one task after the other.</summary>
/// <param name="target">What lies between them.</param>
/// <param name="link">The producer's end of it.</param>
/// <param name="line">The producer's end of the yardstick.</param>
/// <param name="producer">Where the producer runs.</param>
/// <param name="consumer">The other end of both.</param>
/// <param name="stop">Cancelled when either end fails, so that the other ends, too.</param>
/// <param name="cancellationToken">Gives up.</param>
internal sealed class HandOverPair(
    InProcessTarget target,
    HandOverLink link,
    CacheLine line,
    PinnedThread producer,
    IHandOverPartner consumer,
    CancellationTokenSource stop,
    CancellationToken cancellationToken
)
{
    /// <summary>How long the consumer may take for what is left when everything has been sent.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);

    /// <summary>Sends the cache line back and forth.</summary>
    /// <returns>Nanoseconds of half a round trip.</returns>
    public async Task<LatencyHistogram> PingAsync()
    {
        await consumer.StartAsync(HandOverTask.Echo);
        (LatencyHistogram histogram, _) = await BothAsync(producer.RunAsync(() => line.Ping(stop.Token)));
        return histogram;
    }

    /// <summary>Sends messages through the target.</summary>
    public Task<RoleMessage> SendAsync(SendPlan plan) =>
        SendAsync(new HandOverTask(plan.Messages), () => link.Send(plan, stop.Token));

    /// <summary>Sends the cache line in the messages' place.</summary>
    public Task<RoleMessage> SendLineAsync(SendPlan plan) =>
        SendAsync(new HandOverTask(plan.Messages, ThroughLine: true), () => line.Send(plan, stop.Token));

    private async Task<RoleMessage> SendAsync(HandOverTask task, Action send)
    {
        await consumer.StartAsync(task);
        (_, RoleMessage received) = await BothAsync(
            producer.RunAsync(() =>
            {
                send();
                return true;
            })
        );
        return received;
    }

    /// <summary>Waits for both ends. Whichever fails first ends the other and is what the user hears of.</summary>
    private async Task<(T Sent, RoleMessage Received)> BothAsync<T>(Task<T> sending)
    {
        Task<RoleMessage> receiving = consumer.EndAsync();
        Task first = await Task.WhenAny(sending, receiving);
        try
        {
            await first;
            T sent = await sending;
            return (sent, await receiving.WaitAsync(Patience, cancellationToken));
        }
        catch (TimeoutException)
        {
            throw new BenchException(
                BenchFailure.Failed,
                $"Through {target.Word()} not every message arrived: the consumer still waits {Patience.TotalSeconds} "
                    + $"s after the last was sent."
            );
        }
        finally
        {
            if (!sending.IsCompletedSuccessfully)
            {
                await stop.CancelAsync();
                await ((Task)sending).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            }
        }
    }
}
