using System.Text;
using LightQ.Client;
using LightQ.IntegrationTests.Control;
using LightQ.Protocol.Control;
using LightQ.Storage;
using LightQ.Storage.Files;
using LightQ.Tests.Shared;
using Xunit;
using TopicKind = LightQ.Protocol.Control.TopicKind;

namespace LightQ.IntegrationTests.Faults;

/// <summary>D4 as clients and operators see it: one topic's disk says EIO once.</summary>
public sealed class SyncErrorTests
{
    private const int IOError = 5;

    [Fact]
    [Trait("Fault", "D4")]
    public async Task A_sync_error_fences_its_topic_says_why_and_leaves_the_others_alone()
    {
        CancellationToken cancellation = TestContext.Current.CancellationToken;
        var files = new FaultyFileSystem(PlatformFileSystem.Choose());
        await using TestServer server = await TestServer.StartAsync(options =>
            options with
            {
                Broker = options.Broker with
                {
                    OpenEnvironment = environment => new JournalEnvironment(environment, files),
                },
            }
        );
        Topic failing = await TopicsTests.CreateAsync(
            server,
            "failing",
            new TopicSettings { Kind = TopicKind.Durable }
        );
        await TopicsTests.CreateAsync(server, "healthy", new TopicSettings { Kind = TopicKind.Durable });
        await using (var client = new LightQClient(server.ConnectionString))
        {
            await using Producer producer = await client.CreateProducerAsync(
                "failing",
                cancellationToken: cancellation
            );
            await using Producer other = await client.CreateProducerAsync("healthy", cancellationToken: cancellation);
            await producer.PublishAsync("kept"u8.ToArray(), cancellationToken: cancellation);
            int errors = 0;
            files.Before = (operation, path) =>
            {
                bool hit =
                    operation == "sync"
                    && path.Contains(failing.Id, StringComparison.Ordinal)
                    && path.Contains(".seg", StringComparison.Ordinal);
                if (hit && Interlocked.Increment(ref errors) == 1)
                    throw new StorageIOException("fdatasync", path, IOError);
            };
            LightQException refused = await Assert.ThrowsAsync<LightQException>(async () =>
                await producer.PublishAsync("lost"u8.ToArray(), cancellationToken: cancellation)
            );
            Assert.True(
                refused.Code is ErrorCode.TopicFailed or ErrorCode.OutcomeUnknown,
                $"{refused.Code}: {refused.Message}"
            );
            await Assert.ThrowsAsync<LightQException>(async () =>
                await producer.PublishAsync("after"u8.ToArray(), cancellationToken: cancellation)
            );
            await other.PublishAsync("served"u8.ToArray(), cancellationToken: cancellation);
            Assert.Equal(
                "ready, degraded: 1 of 2 topics have failed\n",
                await server.Web.GetStringAsync("/healthz/ready", cancellation)
            );
            GetTopicResponse got = await server.Control.CallAsync<GetTopicRequest, GetTopicResponse>(
                "GetTopic",
                new() { Name = "failing" }
            );
            Assert.Contains("fdatasync", got.Topic.Failure, StringComparison.Ordinal);
            Assert.Equal("kept", await FirstAsync(client));
        }
        files.Before = (_, _) => { };
        await server.RestartAsync();
        Assert.Equal("ready\n", await server.Web.GetStringAsync("/healthz/ready", cancellation));
        await using var again = new LightQClient(server.ConnectionString);
        await using Producer resumed = await again.CreateProducerAsync("failing", cancellationToken: cancellation);
        await resumed.PublishAsync("resumed"u8.ToArray(), cancellationToken: cancellation);
        Assert.Equal("kept", await FirstAsync(again));
    }

    /// <summary>Reads go on, whatever became of writing.</summary>
    private static async Task<string> FirstAsync(LightQClient client)
    {
        var options = new ConsumeOptions { Start = StartPosition.Earliest };
        await foreach (
            Message message in client
                .ConsumeAsync("failing", options)
                .WithCancellation(TestContext.Current.CancellationToken)
        )
        {
            return Encoding.UTF8.GetString(message.Body.Span);
        }

        return "";
    }
}
