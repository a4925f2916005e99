using LightQ.IntegrationTests.Delivery;
using Xunit;

namespace LightQ.IntegrationTests.DataPlane;

/// <summary>
/// What a connection costs that has not said Hello. What is counted is the whole process's, so nothing runs beside it.
/// </summary>
[Collection(nameof(AllocationTests))]
public sealed class UnwelcomedMemoryTests
{
    [Fact]
    public async Task A_byte_before_Hello_costs_little_memory()
    {
        const int Connections = 300;
        await using TestServer server = await TestServer.StartAsync();
        long before = GC.GetTotalAllocatedBytes(precise: true);
        List<RawClient> clients = [];
        for (int i = 0; i < Connections; i++)
        {
            clients.Add(await RawClient.ConnectAsync(server.DataPort, greet: false));
            await clients[^1].SendAsync(new byte[] { 100 });
        }
        await server.ConnectionsAsync(Connections);
        await Task.Delay(200, TestContext.Current.CancellationToken);
        long each = (GC.GetTotalAllocatedBytes(precise: true) - before) / Connections;
        foreach (RawClient client in clients)
            await client.DisposeAsync();

        Assert.InRange(each, 0, 64 * 1024); // This side's client is in it.
    }
}
