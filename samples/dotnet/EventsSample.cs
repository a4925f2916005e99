using LightQ.Client;
using LightQ.Testing;

namespace LightQ.Samples;

/// <summary>A broker that leaves and comes back, as its client sees it. See docs/use/events.md.</summary>
internal static class EventsSample
{
    public static async Task RunAsync(LightQClient _)
    {
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync();
        await using LightQClient client = broker.CreateClient();
        var connected = new SemaphoreSlim(0);
        client.ConnectionStateChanged += (_, change) =>
        {
            if (change.State != ConnectionState.Connected)
                return; // It may try more than once.
            Console.WriteLine("connected");
            connected.Release();
        };
        client.GoingAway += (_, leaving) => Console.WriteLine($"going away: {leaving.Code}");

        await client.PingAsync();
        await connected.WaitAsync(TimeSpan.FromSeconds(30));
        await broker.RestartAsync();
        await connected.WaitAsync(TimeSpan.FromSeconds(30));
    }
}
