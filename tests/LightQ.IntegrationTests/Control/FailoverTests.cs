using System.Net;
using System.Net.Sockets;
using LightQ.Client;
using LightQ.Client.Administration;
using Xunit;

namespace LightQ.IntegrationTests.Control;

/// <summary>Calls of the control plane when not all of a client's brokers answer.</summary>
public sealed class FailoverTests
{
    private static readonly TopicSpec Orders = new("orders");

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Where_no_connection_can_be_made_any_call_goes_to_the_next_broker_and_stays_there()
    {
        await using TestServer server = await TestServer.StartAsync();
        using TcpListener nobody = new(IPAddress.Loopback, 0);
        nobody.Start();
        int closed = ((IPEndPoint)nobody.LocalEndpoint).Port;
        nobody.Stop();
        await using LightQClient client = Make(closed, server);
        await client.Topics.CreateAsync(Orders, Cancel);
        Assert.Equal("orders", (await client.Topics.GetAsync("orders", Cancel)).Spec.Name);
        LightQException unknown = await Assert.ThrowsAsync<LightQException>(() =>
            client.Topics.GetAsync("other", Cancel)
        );
        Assert.Equal(ErrorCode.UnknownTopic, unknown.Code);
        LightQException first = await Assert.ThrowsAsync<LightQException>(() => client.Operations.ReloadAsync(Cancel));
        Assert.Equal(ErrorCode.Unavailable, first.Code); // It is about the first broker.
    }

    [Fact]
    public async Task Where_a_broker_does_not_answer_reads_go_to_the_next_and_changes_are_not_made_twice()
    {
        await using TestServer server = await TestServer.StartAsync();
        using TcpListener silent = new(IPAddress.Loopback, 0);
        silent.Start();
        Task hangingUp = HangUpAsync(silent);
        int port = ((IPEndPoint)silent.LocalEndpoint).Port;
        await using (LightQClient client = Make(port, server))
        {
            LightQException e = await Assert.ThrowsAsync<LightQException>(() =>
                client.Topics.CreateAsync(Orders, Cancel)
            );
            Assert.Equal(ErrorCode.Unavailable, e.Code);
            Assert.Empty(await client.Topics.ListAsync(Cancel).ToListAsync(Cancel));
        }
        silent.Stop();
        await Assert.ThrowsAnyAsync<Exception>(() => hangingUp);
    }

    [Fact]
    public async Task Where_none_answers_all_are_named()
    {
        using TcpListener nobody = new(IPAddress.Loopback, 0);
        nobody.Start();
        int port = ((IPEndPoint)nobody.LocalEndpoint).Port;
        nobody.Stop();
        await using var client = new LightQClient($"lightq://127.0.0.1,localhost?control={port}");
        LightQException e = await Assert.ThrowsAsync<LightQException>(() =>
            client.Topics.ListAsync(Cancel).ToListAsync(Cancel).AsTask()
        );
        Assert.Equal(ErrorCode.Unavailable, e.Code);
        Assert.Contains($"127.0.0.1:{port}", e.Message, StringComparison.Ordinal);
        Assert.Contains($"localhost:{port}", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_broker_without_the_metadata_call_knows_no_leader()
    {
        await using TestServer server = await TestServer.StartAsync();
        using var control = new ControlChannel(LightQClientOptions.Parse(server.ConnectionString));
        Assert.Null(await new LeaderDirectory(control).FindAsync("orders", 0, 0, Cancel));
    }

    private static LightQClient Make(int firstControlPort, TestServer second) =>
        new($"lightq://127.0.0.1:1,127.0.0.1:{second.DataPort}?control={firstControlPort},{second.ControlPort}");

    /// <summary>Takes what is sent on every connection, and closes it.</summary>
    private static async Task HangUpAsync(TcpListener listener)
    {
        byte[] received = new byte[1024];
        while (true)
        {
            using Socket socket = await listener.AcceptSocketAsync(Cancel);
            await socket.ReceiveAsync(received, Cancel);
        }
    }
}
