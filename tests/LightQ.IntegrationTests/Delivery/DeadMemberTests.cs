using System.Collections.Concurrent;
using LightQ.Client;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Xunit;

namespace LightQ.IntegrationTests.Delivery;

/// <summary>
/// What becomes of the messages that a member holds when it dies: lost by default, and not with a processor.
/// </summary>
public sealed class DeadMemberTests
{
    private const int Messages = 3;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task With_the_default_they_are_lost()
    {
        await using TestServer server = await TestServer.StartAsync();
        await PublishAsync(server);
        await using (var dying = new LightQClient(server.ConnectionString))
        {
            await using IAsyncEnumerator<Message> messages = dying
                .ConsumeAsync("orders", new() { Group = "billing" }, Cancel)
                .GetAsyncEnumerator(Cancel);
            Assert.True(await messages.MoveNextAsync());
            await Eventually.TrueAsync(
                () => Committed(server) == Messages,
                Patience,
                () => $"{Committed(server)} of {Messages} count as done"
            );
        }

        await using var next = new LightQClient(server.ConnectionString);
        await using Producer producer = await next.CreateProducerAsync("orders", cancellationToken: Cancel);
        await producer.PublishAsync("later"u8, cancellationToken: Cancel);
        await using MessageConsumer left = next.CreateConsumer("orders", new() { Group = "billing" });
        Assert.Equal("later", Assert.Single(await left.FetchAsync(1, Patience, cancellationToken: Cancel)).GetText());
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task With_a_processor_they_come_again(bool isHosted)
    {
        await using TestServer server = await TestServer.StartAsync();
        await PublishAsync(server);
        var hung = new Hanging();
        var dying = new LightQClient(server.ConnectionString);
        using IHost host = Build(dying, hung);
        await using LightQProcessor bare = dying.CreateProcessor("orders", "billing");
        bare.ProcessMessageAsync += hung.HandleAsync;
        await (isHosted ? host.StartAsync(Cancel) : bare.StartAsync(Cancel));
        await hung.Begun.WaitAsync(Cancel);
        await dying.DisposeAsync();

        var handled = new ConcurrentQueue<string>();
        await using var client = new LightQClient(server.ConnectionString);
        await using LightQProcessor next = client.CreateProcessor("orders", "billing");
        next.ProcessMessageAsync += args =>
        {
            handled.Enqueue(args.Message.GetText());
            return Task.CompletedTask;
        };
        await next.StartAsync(Cancel);
        await Eventually.TrueAsync(
            () => handled.Count == Messages,
            Patience,
            () => $"{handled.Count} of {Messages} came"
        );
        Assert.Equal(["0", "1", "2"], handled.Order());
    }

    private static IHost Build(LightQClient client, Hanging handler)
    {
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(null);
        builder.Services.AddSingleton(client).AddSingleton(handler).AddLightQProcessor<Hanging>("orders", "billing");
        return builder.Build();
    }

    private static async Task PublishAsync(TestServer server)
    {
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(new TopicSpec("orders") { Kind = TopicKind.Durable }, Cancel);
        await using Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Cancel);
        for (int i = 0; i < Messages; i++)
            await producer.PublishAsync(System.Text.Encoding.UTF8.GetBytes($"{i}"), cancellationToken: Cancel);
    }

    private static long Committed(TestServer server) =>
        server.Broker.GetTopic("orders").Partitions[0].Groups().Single().Committed;

    /// <summary>Never done with the message it has.</summary>
    private sealed class Hanging : IMessageHandler
    {
        private readonly TaskCompletionSource _begun = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private readonly TaskCompletionSource _never = new();

        public Task Begun => _begun.Task;

        public Task HandleAsync(ProcessMessageEventArgs args)
        {
            _begun.TrySetResult();
            return _never.Task.WaitAsync(args.CancellationToken);
        }
    }
}
