using System.Text.RegularExpressions;
using Google.Protobuf;
using Grpc.Health.V1;
using Grpc.Reflection.V1;
using LightQ.Client;
using LightQ.IntegrationTests.Cli;
using LightQ.IntegrationTests.Docs;
using LightQ.Protocol.Control;
using LightQ.Tests.Shared;
using Xunit;
using V1Alpha = Grpc.Reflection.V1Alpha;

namespace LightQ.IntegrationTests.Grpc;

/// <summary>Clients that end their calls in the middle of an answer leave a broker at rest behind them.</summary>
public sealed partial class ResetTests
{
    private const string Topic = "orders";
    private const int Connections = 4,
        Parallel = 16;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60),
        Second = TimeSpan.FromSeconds(1),
        Rest = TimeSpan.FromMilliseconds(100);

    private static readonly Call[] Calls =
    [
        new(
            "/lightq.control.v1.Messages/Consume",
            400,
            false,
            new ConsumeRequest
            {
                Subscribe = new Subscribe
                {
                    Topic = Topic,
                    Earliest = true,
                    Credit = 1_000_000,
                },
            }
        ),
        new(
            "/lightq.control.v1.Messages/Consume",
            400,
            true,
            new ConsumeRequest
            {
                Subscribe = new Subscribe
                {
                    Topic = Topic,
                    Earliest = true,
                    Credit = 1_000_000,
                },
            }
        ),
        new("/lightq.control.v1.Backups/CreateBackup", 100, true, new CreateBackupRequest()),
        new(
            "/lightq.control.v1.Messages/PublishStream",
            400,
            false,
            [
                new PublishStreamRequest { Open = new OpenProducer { Topic = "acks" } },
                .. Enumerable.Repeat(Publish(), 4),
            ]
        ),
        new("/lightq.control.v1.Stats/WatchTopicStats", 400, true, new WatchTopicStatsRequest { Topic = Topic }),
        new("/lightq.control.v1.Stats/WatchBrokerStats", 400, true, new WatchBrokerStatsRequest { Topics = { Topic } }),
        new("/lightq.control.v1.Cluster/WatchMetadata", 400, true, new GetMetadataRequest { Topics = { Topic } }),
        new("/grpc.health.v1.Health/Watch", 400, true, new HealthCheckRequest()),
        new(
            "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
            400,
            false,
            [.. Enumerable.Repeat(new ServerReflectionRequest { FileContainingSymbol = "lightq.control.v1.Topics" }, 4)]
        ),
        new(
            "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
            400,
            false,
            [
                .. Enumerable.Repeat(
                    new V1Alpha.ServerReflectionRequest { FileContainingSymbol = "lightq.control.v1.Topics" },
                    4
                ),
            ]
        ),
    ];

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    /// <summary>But the one that stops the broker, and the one that needs a cluster.</summary>
    [Fact]
    public void Every_rpc_that_answers_with_a_stream_is_reset()
    {
        string[] streaming =
        [
            .. Directory
                .EnumerateFiles(SourceTree.PathOf("proto"), "*.proto", SearchOption.AllDirectories)
                .SelectMany(f => StreamingIn(File.ReadAllText(f))),
        ];
        IEnumerable<string> ours = Calls
            .Select(c => c.Path)
            .Where(path => path.StartsWith("/lightq.", StringComparison.Ordinal))
            .Append("/lightq.control.v1.Operations/Stop")
            .Append("/lightq.control.v1.Cluster/DrainNode");
        Assert.Equal(streaming.Order(StringComparer.Ordinal), ours.Distinct().Order(StringComparer.Ordinal));
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task After_thousands_of_calls_that_were_reset_in_the_middle_of_an_answer_the_broker_is_at_rest()
    {
        FaultRun.RequireTier("It makes thousands of calls.");
        using var directory = new TemporaryDirectory();
        await using ToolServer server = await ToolServer.StartAsync(directory.Path);
        await FillAsync(server);
        await using var client = new LightQClient(server.Url); // It calls, and opens no connection of the data plane.
        int resets = 0;
        foreach (Call call in Calls)
        {
            int[] done = await Task.WhenAll(
                Enumerable
                    .Range(0, Connections)
                    .Select(c =>
                        ResetAsync(
                            server.ControlPort,
                            call,
                            call.Times * FaultRun.Times(1, 4, 40) / Connections,
                            new Random(c)
                        )
                    )
            );
            TestContext.Current.TestOutputHelper?.WriteLine($"{call.Path}: {done.Sum()} resets");
            Assert.True(
                done.Sum() >= call.Times / 2,
                $"only {done.Sum()} calls of {call.Path} were reset in the middle of an answer"
            );
            resets += done.Sum();
        }
        Assert.True(resets > 2000);
        await Eventually.TrueAsync(
            async () => (await client.Stats.ListSubscriptionsAsync(cancellationToken: Cancel)).Count == 0,
            Patience,
            () => "there are subscriptions of nobody"
        );
        await Eventually.TrueAsync(
            async () => (await client.Stats.ListConnectionsAsync(Cancel)).Count == 0,
            Patience,
            () => "there are calls of nobody"
        );
        await Eventually.TrueAsync(() => IsAtRestAsync(server), Patience, () => "the broker is busy with nothing");
    }

    private static IEnumerable<string> StreamingIn(string proto)
    {
        string service = Service().Match(proto).Groups[1].Value;
        return StreamingRpc()
            .Matches(proto)
            .Select(m => $"/{Package().Match(proto).Groups[1].Value}.{service}/{m.Groups[1].Value}");
    }

    /// <summary>Whether the process uses next to no processor for a second.</summary>
    private static async Task<bool> IsAtRestAsync(ToolServer server)
    {
        server.Process.Refresh();
        TimeSpan before = server.Process.TotalProcessorTime;
        await Task.Delay(Second, Cancel);
        server.Process.Refresh();
        return server.Process.TotalProcessorTime - before < Rest;
    }

    private static async Task FillAsync(ToolServer server)
    {
        await using var client = new LightQClient(server.Url);
        await client.Topics.CreateAsync(new TopicSpec(Topic) { Kind = LightQ.Client.TopicKind.Durable }, Cancel);
        await client.Topics.CreateAsync(new TopicSpec("acks") { Kind = LightQ.Client.TopicKind.Transient }, Cancel);
        await using Producer producer = await client.CreateProducerAsync(Topic, cancellationToken: Cancel);
        for (int i = 0; i < 20; i++)
            await producer.PublishAsync(new byte[256 * 1024], cancellationToken: Cancel);
    }

    /// <summary>
    /// Makes so many calls on a connection, some at a time, and resets each when a frame or some of its answer are
    /// there.
    /// </summary>
    /// <returns>How many were reset before they had ended.</returns>
    private static async Task<int> ResetAsync(int port, Call call, int times, Random random)
    {
        int resets = 0,
            begun = 0;
        while (begun < times)
        {
            await using Http2Peer peer = await Http2Peer.ConnectAsync(port);
            var open = new Dictionary<int, int>();
            while (open.Count != 0 || begun < times)
            {
                for (; open.Count < Parallel && begun < times; begun++)
                    open.Add(await peer.CallAsync(call.Path, call.IsLast, call.Requests), random.Next(4));
                if (await peer.ReadAsync() is not { } frame)
                    break; // The broker has had enough of this connection.
                if (!open.TryGetValue(frame.Stream, out int left))
                    continue; // It was on its way.
                if (frame.IsLast)
                {
                    open.Remove(frame.Stream);
                }
                else if (left > 0 && frame.Type == Http2FrameType.Data)
                {
                    open[frame.Stream] = left - 1;
                }
                else
                {
                    open.Remove(frame.Stream);
                    await peer.ResetAsync(frame.Stream);
                    resets++;
                }
            }
        }
        return resets;
    }

    private static PublishStreamRequest Publish() =>
        new()
        {
            Messages = { Enumerable.Repeat(new PublishedMessage { Body = ByteString.CopyFrom(new byte[10]) }, 200) },
        };

    [GeneratedRegex("^package ([a-z0-9.]+);", RegexOptions.Multiline)]
    private static partial Regex Package();

    [GeneratedRegex("^service (\\w+) ", RegexOptions.Multiline)]
    private static partial Regex Service();

    [GeneratedRegex("^ +rpc (\\w+)\\(.*\\) returns \\(stream ", RegexOptions.Multiline)]
    private static partial Regex StreamingRpc();

    private sealed record Call(string Path, int Times, bool IsLast, params IMessage[] Requests);
}
