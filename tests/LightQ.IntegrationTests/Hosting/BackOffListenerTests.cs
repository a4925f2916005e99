using System.Buffers;
using System.Net;
using System.Net.Sockets;
using LightQ.Broker;
using LightQ.Server;
using LightQ.Server.Limits;
using LightQ.Server.Ports;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Connections.Features;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging.Abstractions;
using Xunit;

namespace LightQ.IntegrationTests.Hosting;

public sealed class BackOffListenerTests
{
    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    /// <summary>HTTP/2 rents so when a response is written on after the client has reset its stream.</summary>
    [Fact]
    public async Task The_memory_pool_of_a_connection_has_room_also_for_who_names_no_size()
    {
        WebApplicationBuilder builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.WebHost.UseKestrelCore();
        await using WebApplication app = builder.Build();
        Socket listening = ListenSocket.Open(IPAddress.Loopback, 0, "--control-port");
        var limits = new ServerLimits(
            new LightQServerOptions(),
            new LimitRefusals(),
            TimeProvider.System,
            NullLogger.Instance
        );
        var factory = new BackOffListener.Factory(
            _ => listening,
            app.Services.GetRequiredService<IMemoryPoolFactory<byte>>(),
            limits,
            TimeProvider.System,
            NullLogger.Instance
        );
        await using IConnectionListener listener = await factory.BindAsync(listening.LocalEndPoint!, Cancel);
        using var client = new TcpClient();
        await client.ConnectAsync((IPEndPoint)listener.EndPoint, Cancel);
        await using ConnectionContext connection = (await listener.AcceptAsync(Cancel))!;
        using IMemoryOwner<byte> rented = connection.Features.Get<IMemoryPoolFeature>()!.MemoryPool.Rent(0);
        Assert.NotEqual(0, rented.Memory.Length);
    }
}
