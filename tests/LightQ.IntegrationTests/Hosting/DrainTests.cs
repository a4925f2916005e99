using System.Collections.Concurrent;
using System.Diagnostics;
using Grpc.Core;
using LightQ.Client;
using LightQ.IntegrationTests.Cli;
using LightQ.IntegrationTests.Control;
using LightQ.IntegrationTests.DataPlane;
using LightQ.Protocol.Control;
using LightQ.Protocol.Frames;
using LightQ.Tests.Shared;
using Xunit;
using TopicKind = LightQ.Client.TopicKind;

namespace LightQ.IntegrationTests.Hosting;

/// <summary>A broker that is drained: nothing new begins, and what is under way ends as it would have.</summary>
public sealed class DrainTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Members_of_a_group_finish_what_they_hold_and_get_nothing_more()
    {
        const int Jobs = 30,
            Held = 4;
        await using TestServer server = await TestServer.StartAsync();
        var handled = new ConcurrentQueue<int>();
        var release = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using (var client = new LightQClient(server.ConnectionString))
        {
            await PublishAsync(client, "jobs", Jobs);
            var going = new TaskCompletionSource<GoingAwayEventArgs>();
            client.GoingAway += (_, args) => going.TrySetResult(args);
            await using LightQProcessor processor = client.CreateProcessor(
                "jobs",
                "workers",
                new() { MaxConcurrency = 2, MaxInFlight = Held }
            );
            processor.ProcessMessageAsync += async args =>
            {
                await release.Task.WaitAsync(args.CancellationToken);
                handled.Enqueue(BitConverter.ToInt32(args.Message.BodySpan));
            };
            await processor.StartAsync(Cancelled);
            await Eventually.TrueAsync(
                () => server.Server.ConnectionCount == 1 && HeldOf(server) == Held,
                Patience,
                () => $"{HeldOf(server)} are held"
            );

            Task draining = server.Server.DrainAsync(TimeSpan.FromSeconds(30), Cancelled);
            GoingAwayEventArgs told = await going.Task.WaitAsync(Patience, Cancelled);
            Assert.Equal(ErrorCode.ShuttingDown, told.Code);
            Assert.InRange(told.TimeLeft, TimeSpan.FromSeconds(25), TimeSpan.FromSeconds(30));
            Assert.False(draining.IsCompleted);
            release.SetResult();
            await draining.WaitAsync(TimeSpan.FromSeconds(10), Cancelled);
            Assert.Equal(Enumerable.Range(0, Held), handled.Order());
            await server.Server.StopAsync();
        }
        await server.RestartAsync();
        await using var again = new LightQClient(server.ConnectionString);
        Assert.Equal(
            Held,
            Assert.Single((await again.Groups.GetAsync("jobs", "workers", Cancelled)).Partitions).CommittedOffset
        );
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task What_was_acknowledged_while_the_broker_drained_is_there_and_nothing_else()
    {
        FaultRun.RequireTier("A producer that is left without a broker is waited for.");
        await using TestServer server = await TestServer.StartAsync();
        var acknowledged = new ConcurrentQueue<int>();
        int next = 0;
        await using (var client = new LightQClient(server.ConnectionString))
        {
            await client.Topics.CreateAsync(new TopicSpec("orders") { Kind = TopicKind.Durable }, Cancelled);
            await using Producer producer = await client.CreateProducerAsync(
                "orders",
                new ProducerOptions { Name = "p" },
                Cancelled
            );
            using var enough = new CancellationTokenSource();
            Task[] publishing =
            [
                .. Enumerable
                    .Range(0, 8)
                    .Select(_ =>
                        Task.Run(async () =>
                        {
                            try
                            {
                                while (true)
                                {
                                    int number = Interlocked.Increment(ref next);
                                    await producer.PublishAsync(
                                        BitConverter.GetBytes(number),
                                        cancellationToken: enough.Token
                                    );
                                    acknowledged.Enqueue(number);
                                }
                            }
                            catch (OperationCanceledException)
                            {
                                // It waits for the next broker.
                            }
                        })
                    ),
            ];
            await Eventually.TrueAsync(() => acknowledged.Count > 200, Patience, () => "too few");
            await server
                .Server.DrainAsync(TimeSpan.FromSeconds(20), Cancelled)
                .WaitAsync(TimeSpan.FromSeconds(10), Cancelled);
            await server.Server.StopAsync();
            await enough.CancelAsync();
            await Task.WhenAll(publishing);
        }
        await server.RestartAsync();
        await using var reader = new LightQClient(server.ConnectionString);
        Client.Administration.TopicStats stats = await reader.Stats.GetTopicAsync("orders", Cancelled);
        var found = new List<int>();
        await foreach (
            Message message in reader.ConsumeAsync(
                "orders",
                new ConsumeOptions { Start = StartPosition.Earliest },
                Cancelled
            )
        )
        {
            found.Add(BitConverter.ToInt32(message.BodySpan));
            if (message.Offset == stats.EndOffset - 1)
                break;
        }
        Assert.Equal(found.Distinct().Count(), found.Count);
        Assert.Equal(acknowledged.Order(), found.Order());
    }

    [Fact]
    public async Task Nothing_new_begins_and_who_has_nothing_under_way_is_sent_away()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders");
        await using RawClient client = await RawClient.ConnectAsync(server.DataPort);
        Task draining = server.Server.DrainAsync(TimeSpan.FromSeconds(30), Cancelled);
        GoAwayFrame goAway = FrameCodec.Read<GoAwayFrame>(await client.ReadAsync(FrameType.GoAway));
        Assert.Equal(ErrorCode.ShuttingDown, goAway.Code);

        await client.SendAsync(new OpenProducerFrame("orders", 0, Durability.Default, ""), 1, 1);
        (FrameHeader header, byte[] body) = await client.ReadAsync();
        Assert.Equal(
            (FrameType.Closed, ErrorCode.ShuttingDown),
            (header.Type, FrameCodec.Read<ClosedFrame>(body).Code)
        );

        (RawClient late, header, body) = await RawClient.LogInAsync(server.DataPort, HelloFrame.Anonymous, "");
        await late.DisposeAsync();
        Assert.Equal((FrameType.Error, ErrorCode.ShuttingDown), (header.Type, FrameCodec.Read<ErrorFrame>(body).Code));

        var publish = new PublishRequest { Topic = "orders", Messages = { Messages.PublishStream.Text("x") } };
        RpcException refused = await Assert.ThrowsAsync<RpcException>(() =>
            server.Control.CallAsync<PublishRequest, PublishResponse>("Publish", publish)
        );
        Assert.Equal(
            (StatusCode.Unavailable, nameof(ErrorCode.ShuttingDown)),
            (refused.StatusCode, refused.Trailers.GetValue("lightq-error-code"))
        );

        (header, body) = await client.ReadAsync();
        Assert.Equal((FrameType.Error, ErrorCode.ShuttingDown), (header.Type, FrameCodec.Read<ErrorFrame>(body).Code));
        await client.DisposeAsync();
        await draining.WaitAsync(TimeSpan.FromSeconds(10), Cancelled);
        HttpResponseMessage ready = await server.Web.GetAsync(new Uri("/healthz/ready", UriKind.Relative), Cancelled);
        Assert.Equal(System.Net.HttpStatusCode.ServiceUnavailable, ready.StatusCode);
    }

    [Fact]
    public async Task A_drain_ends_in_time_and_what_is_held_then_comes_again()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using (var client = new LightQClient(server.ConnectionString))
        {
            await PublishAsync(client, "jobs", 3);
            await using IAsyncEnumerator<Message> messages = client
                .ConsumeAsync(
                    "jobs",
                    new ConsumeOptions { Group = "workers", SettleMode = SettleMode.Explicit },
                    Cancelled
                )
                .GetAsyncEnumerator(Cancelled);
            Assert.True(await messages.MoveNextAsync());
            var watch = Stopwatch.StartNew();
            await server.Server.DrainAsync(TimeSpan.FromMilliseconds(700), Cancelled);
            Assert.InRange(watch.Elapsed, TimeSpan.FromMilliseconds(650), TimeSpan.FromSeconds(5));
            await server.Server.StopAsync();
        }
        await server.RestartAsync();
        await using var again = new LightQClient(server.ConnectionString);
        Assert.Equal(
            0,
            Assert.Single((await again.Groups.GetAsync("jobs", "workers", Cancelled)).Partitions).CommittedOffset
        );
    }

    [Fact]
    public async Task A_client_is_told_how_a_stop_over_the_control_port_goes()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await PublishAsync(client, "jobs", 3);
        await using IAsyncEnumerator<Message> messages = client
            .ConsumeAsync("jobs", new ConsumeOptions { Group = "workers", SettleMode = SettleMode.Explicit }, Cancelled)
            .GetAsyncEnumerator(Cancelled);
        Assert.True(await messages.MoveNextAsync());
        await using var operator_ = new LightQClient(server.ConnectionString);
        var told = new List<Client.Administration.StopProgress>();
        await foreach (
            Client.Administration.StopProgress progress in operator_.Operations.DrainAndStopAsync(
                TimeSpan.FromSeconds(20),
                Cancelled
            )
        )
        {
            told.Add(progress);
            if (told.Count > 1)
                continue;
            Assert.Equal((1, 3L), (progress.Connections, progress.HeldMessages));
            await messages.Current.CompleteAsync(Cancelled);
            for (int i = 0; i < 2; i++)
            {
                Assert.True(await messages.MoveNextAsync());
                await messages.Current.CompleteAsync(Cancelled);
            }
        }
        Assert.Equal((0, 0L), (told[^1].Connections, told[^1].HeldMessages));
        await server.Server.Stopped.WaitAsync(TimeSpan.FromSeconds(10), Cancelled);
        LightQException refused = await Assert.ThrowsAsync<LightQException>(() =>
            operator_.Operations.StopAsync(Cancelled)
        );
        Assert.Equal(ErrorCode.Unavailable, refused.Code);
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task The_tool_drains_a_broker_which_ends_with_0_and_a_second_signal_waits_no_longer()
    {
        FaultRun.RequireTier("It starts processes.");
        await Task.WhenAll(DrainByToolAsync(), HurryBySignalAsync());
    }

    private static async Task DrainByToolAsync()
    {
        using var directory = new TemporaryDirectory();
        await using ToolServer server = await ToolServer.StartAsync(directory.Path);
        await using var client = new LightQClient(server.Url);
        await PublishAsync(client, "jobs", 3);
        await using LightQProcessor processor = client.CreateProcessor(
            "jobs",
            "workers",
            new() { MaxConcurrency = 3, MaxInFlight = 3 } // What no handler has would go back.
        );
        var going = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        client.GoingAway += (_, _) => going.TrySetResult();
        int done = 0;
        processor.ProcessMessageAsync += async args =>
        {
            await going.Task.WaitAsync(args.CancellationToken);
            Interlocked.Increment(ref done);
        };
        await processor.StartAsync(Cancelled);
        await Eventually.TrueAsync(
            async () => (await client.Groups.GetAsync("jobs", "workers", Cancelled)).Partitions[0].InFlight == 3,
            Patience,
            () => "not held"
        );
        (await LightQTool.RunAsync(server.Url, "server", "stop", "--timeout", "5s")).FailedWith(
            2,
            "--timeout needs --drain"
        );
        ToolResult stopped = (
            await LightQTool.RunAsync(server.Url, "server", "stop", "--drain", "--timeout", "20s")
        ).Succeeded();
        Assert.Contains("every client has finished", stopped.Text, StringComparison.Ordinal);
        await LightQTool.EndAsync(server.Process);
        Assert.Equal((0, 3), (server.Process.ExitCode, done));
    }

    private static async Task HurryBySignalAsync()
    {
        using var directory = new TemporaryDirectory();
        await using ToolServer server = await ToolServer.StartAsync(directory.Path, "--drain-timeout", "5m");
        await using var client = new LightQClient(server.Url);
        await PublishAsync(client, "jobs", 1);
        await using IAsyncEnumerator<Message> messages = client
            .ConsumeAsync("jobs", new ConsumeOptions { Group = "workers", SettleMode = SettleMode.Explicit })
            .GetAsyncEnumerator(Cancelled);
        Assert.True(await messages.MoveNextAsync());
        var going = new TaskCompletionSource();
        client.GoingAway += (_, _) => going.TrySetResult();
        Task<int> first = server.SignalAsync("TERM");
        await going.Task.WaitAsync(Patience, Cancelled);
        await Task.Delay(500, Cancelled);
        Assert.False(first.IsCompleted);
        Assert.Equal(0, await server.SignalAsync("TERM"));
    }

    private static long HeldOf(TestServer server) =>
        server.Broker.TryGetTopic("jobs", out Broker.Topics.Topic? topic)
            ? server.Broker.Groups.Find(topic, "workers").Sum(g => g.Figures().InFlight)
            : 0;

    private static async Task PublishAsync(LightQClient client, string topic, int count)
    {
        await client.Topics.CreateAsync(new TopicSpec(topic) { Kind = TopicKind.Durable }, Cancelled);
        await using Producer producer = await client.CreateProducerAsync(topic, cancellationToken: Cancelled);
        for (int i = 0; i < count; i++)
            await producer.PublishAsync(BitConverter.GetBytes(i), cancellationToken: Cancelled);
    }
}
