using System.Text;
using Grpc.Core;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.IntegrationTests.Control;
using LightQ.IntegrationTests.Messages;
using LightQ.Protocol.Control;
using LightQ.Storage;
using LightQ.Storage.Files;
using LightQ.Tests.Shared;
using Xunit;
using SettleMode = LightQ.Client.SettleMode;
using SettleOutcome = LightQ.Client.SettleOutcome;
using TopicKind = LightQ.Client.TopicKind;

namespace LightQ.IntegrationTests.Faults;

/// <summary>D4 and D5 as those see them who look at a topic: its subscribers, and the broker's operator.</summary>
public sealed class FailedTopicTests
{
    private const int IOError = 5,
        NoSpace = 28;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    private readonly FaultyFileSystem _files = new(PlatformFileSystem.Choose());

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    private static ConsumeOptions Settling =>
        new()
        {
            Group = "explicit",
            SettleMode = SettleMode.Explicit,
            MaxInFlight = 2,
        };

    [Fact]
    [Trait("Fault", "D4")]
    public async Task A_subscriber_is_told_behind_everything_that_the_topic_holds()
    {
        await using TestServer server = await StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await CreateAsync(client, partitions: 1);
        await PublishAsync(client, "one", "two");
        var started = new TaskCompletionSource();
        Task<List<string>> waiting = ReadAsync(
            client,
            new ConsumeOptions { Start = StartPosition.Earliest, OnSubscribed = _ => started.TrySetResult() }
        );
        Task<List<string>> automatic = ReadAsync(client, new ConsumeOptions { Group = "automatic" });
        Task<List<string>> members = Task.WhenAll(ReadAsync(client, Settling), ReadAsync(client, Settling))
            .ContinueWith(t => t.Result.SelectMany(m => m).ToList(), TaskScheduler.Default);
        await started.Task;
        await FailAsync(server, client, partition: 0);
        Assert.Equal(["one", "two"], await waiting.WaitAsync(Patience, Cancelled));
        Assert.Equal(["one", "two"], await automatic.WaitAsync(Patience, Cancelled));
        Assert.Equal(["one", "two"], (await members.WaitAsync(Patience, Cancelled)).Order(StringComparer.Ordinal));
        Assert.Equal(
            ["one", "two"],
            await ReadAsync(client, new ConsumeOptions { Start = StartPosition.Earliest })
                .WaitAsync(Patience, Cancelled)
        ); // One that comes later, too.
        using ConsumeStream call = await ConsumeStream.OpenAsync(
            server,
            new Subscribe
            {
                Topic = "orders",
                Credit = 5,
                Earliest = true,
            }
        );
        await call.NextAsync(2);
        await ControlCalls.FailsAsync(call.ReadAsync, StatusCode.FailedPrecondition, "TopicFailed");
    }

    [Fact]
    [Trait("Fault", "D4")]
    public async Task A_member_that_still_holds_a_message_is_told_when_it_has_settled_it()
    {
        await using TestServer server = await StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await CreateAsync(client, partitions: 1);
        await PublishAsync(client, "one", "two");
        await using IAsyncEnumerator<Message> messages = client
            .ConsumeAsync("orders", Settling, Cancelled)
            .GetAsyncEnumerator(Cancelled);
        Assert.True(await messages.MoveNextAsync());
        Message first = messages.Current;
        Assert.True(await messages.MoveNextAsync());
        Message second = messages.Current;
        await FailAsync(server, client, partition: 0);
        Task<bool> next = messages.MoveNextAsync().AsTask();
        // Comes again, though the topic takes nothing.
        Assert.Equal(SettleOutcome.Done, await second.AbandonAsync(TimeSpan.Zero, cancellationToken: Cancelled));
        Assert.True(await next.WaitAsync(Patience, Cancelled));
        Assert.Equal(SettleOutcome.Done, await messages.Current.CompleteAsync(Cancelled));
        Assert.Equal(SettleOutcome.Done, await first.CompleteAsync(Cancelled));
        LightQException told = await Assert.ThrowsAsync<LightQException>(async () => await messages.MoveNextAsync());
        Assert.Equal(ErrorCode.TopicFailed, told.Code);
        Assert.DoesNotContain(server.Directory, told.Message, StringComparison.Ordinal);
    }

    [Fact]
    [Trait("Fault", "D4")]
    public async Task One_failed_partition_does_not_end_the_subscription_to_the_others()
    {
        await using TestServer server = await StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        var refused = new TaskCompletionSource<PartitionRefusedEventArgs>(
            TaskCreationOptions.RunContinuationsAsynchronously
        );
        client.PartitionRefused += (_, e) => refused.TrySetResult(e);
        await CreateAsync(client, partitions: 2);
        using ConsumeStream call = await ConsumeStream.OpenAsync(
            server,
            new Subscribe
            {
                Topic = "orders",
                Credit = 5,
                Earliest = true,
            }
        );
        await using IAsyncEnumerator<Message> messages = client
            .ConsumeAsync("orders", new ConsumeOptions { Start = StartPosition.Earliest }, Cancelled)
            .GetAsyncEnumerator(Cancelled);
        await FailAsync(server, client, partition: 0);
        await using Producer healthy = await client.CreateProducerAsync(
            "orders",
            new ProducerOptions { Partition = 1 },
            Cancelled
        );
        await healthy.PublishAsync("one"u8, cancellationToken: Cancelled);
        Assert.True(await messages.MoveNextAsync().AsTask().WaitAsync(Patience, Cancelled));
        Assert.Equal("one", Encoding.UTF8.GetString(messages.Current.Body.Span));
        PartitionRefusedEventArgs one = await refused.Task.WaitAsync(Patience, Cancelled);
        Assert.Equal(("orders", 0, ErrorCode.TopicFailed), (one.Topic, one.Partition, one.Reason.Code));
        Assert.Equal("one", (await call.NextAsync()).Body.ToStringUtf8());
        await FailAsync(server, client, partition: 1);
        LightQException told = await Assert.ThrowsAsync<LightQException>(async () =>
            await messages.MoveNextAsync().AsTask().WaitAsync(Patience, Cancelled)
        );
        Assert.Equal(ErrorCode.TopicFailed, told.Code);
        await ControlCalls.FailsAsync(call.ReadAsync, StatusCode.FailedPrecondition, "TopicFailed");
    }

    [Fact]
    [Trait("Fault", "D5")]
    public async Task A_full_disk_is_told_while_it_lasts_and_publishing_resumes()
    {
        await using TestServer server = await StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await CreateAsync(client, partitions: 1);
        await PublishAsync(client, "one");
        _files.Before = (operation, path) =>
        {
            if (operation == "write" && path.Contains(".seg", StringComparison.Ordinal))
                throw new StorageIOException(operation, path, NoSpace);
        };
        await using Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Cancelled);
        // Accepted before it is known.
        Task<LightQ.Client.PublishAck> waiting = producer.PublishAsync("two"u8, cancellationToken: Cancelled).AsTask();
        const string Told = "ready, degraded: for want of disk space 1 of 1 topics take no messages\n";
        await Eventually.TrueAsync(
            async () => await server.Web.GetStringAsync("/healthz/ready", Cancelled) == Told,
            Patience,
            () => "a full disk does not show"
        );
        LightQException refused = await Assert.ThrowsAsync<LightQException>(() => PublishAsync(client, "three"));
        Assert.Equal(ErrorCode.DiskFull, refused.Code);
        Assert.Contains(
            "lightq_topic_disk_full{topic=\"orders\"} 1\n",
            await server.Web.GetStringAsync("/metrics", Cancelled),
            StringComparison.Ordinal
        );
        Assert.Single(
            server.Log.Errors,
            e =>
                e.StartsWith(
                    "Topic orders takes no messages on partition 0, for want of space",
                    StringComparison.Ordinal
                )
        );
        _files.Before = (_, _) => { };
        Assert.Equal(1, (await waiting.WaitAsync(Patience, Cancelled)).Offset);
        await Eventually.TrueAsync(
            async () => await server.Web.GetStringAsync("/healthz/ready", Cancelled) == "ready\n",
            Patience,
            () => "it does not go away"
        );
        await PublishAsync(client, "four");
        _files.Free = 1000;
        await Eventually.TrueAsync(
            async () =>
                (await server.Web.GetStringAsync("/healthz/ready", Cancelled)).Contains(
                    "the disk is full",
                    StringComparison.Ordinal
                ),
            Patience,
            () => "nobody looks at the disk"
        );
        _files.Free = null;
        Assert.Contains(
            server.Log.Lines,
            l => l.Message.StartsWith("Topic orders takes messages on partition 0 again", StringComparison.Ordinal)
        );
    }

    [Fact]
    [Trait("Fault", "D4")]
    public async Task A_topic_whose_files_cannot_be_made_does_not_exist_and_the_log_has_the_path_that_the_client_has_not()
    {
        await using TestServer server = await StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        _files.Before = (operation, path) =>
        {
            if (operation == "allocate" && path.Contains("/topics/", StringComparison.Ordinal))
                throw new StorageIOException(operation, path, IOError);
        };
        LightQException refused = await Assert.ThrowsAsync<LightQException>(() => CreateAsync(client, partitions: 2));
        Assert.Equal(ErrorCode.Internal, refused.Code);
        Assert.DoesNotContain(server.Directory, refused.Message, StringComparison.Ordinal);
        string told = Assert.Single(
            server.Log.Errors,
            e => e.StartsWith("The disk refused the files of the topic orders: ", StringComparison.Ordinal)
        );
        Assert.Contains(Path.Combine(server.Directory, "topics"), told, StringComparison.Ordinal);
        Assert.Empty(server.Broker.Topics);
        _files.Before = (_, _) => { };
        await CreateAsync(client, partitions: 2);
    }

    private static Task<TopicInfo> CreateAsync(LightQClient client, int partitions) =>
        client.Topics.CreateAsync(
            new TopicSpec("orders") { Kind = TopicKind.Durable, Partitions = partitions },
            Cancelled
        );

    private static async Task PublishAsync(LightQClient client, params string[] bodies)
    {
        await using Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Cancelled);
        foreach (string body in bodies)
            await producer.PublishAsync(Encoding.UTF8.GetBytes(body), cancellationToken: Cancelled);
    }

    /// <summary>What a subscription brings until it is told that the topic has failed.</summary>
    private static async Task<List<string>> ReadAsync(LightQClient client, ConsumeOptions options)
    {
        var bodies = new List<string>();
        try
        {
            await foreach (Message message in client.ConsumeAsync("orders", options).WithCancellation(Cancelled))
            {
                bodies.Add(Encoding.UTF8.GetString(message.Body.Span));
                if (options.SettleMode == SettleMode.Explicit)
                    Assert.Equal(SettleOutcome.Done, await message.CompleteAsync(Cancelled));
            }
        }
        catch (LightQException e) when (e.Code == ErrorCode.TopicFailed)
        {
            return bodies;
        }
        return ["it ended without a word"];
    }

    private Task<TestServer> StartAsync() =>
        TestServer.StartAsync(options =>
            options with
            {
                Broker = options.Broker with
                {
                    OpenEnvironment = environment => new JournalEnvironment(environment, _files),
                },
            }
        );

    /// <summary>One sync of a partition says EIO; the broker's log tells at once, with the file's name.</summary>
    private async Task FailAsync(TestServer server, LightQClient client, int partition)
    {
        int left = 1;
        _files.Before = (operation, path) =>
        {
            if (
                operation == "sync"
                && path.Contains(".seg", StringComparison.Ordinal)
                && path.Contains($"/{partition}/", StringComparison.Ordinal)
                && Interlocked.Decrement(ref left) >= 0
            )
            {
                throw new StorageIOException("fdatasync", path, IOError);
            }
        };
        await using Producer producer = await client.CreateProducerAsync(
            "orders",
            new ProducerOptions { Partition = partition },
            Cancelled
        );
        LightQException refused = await Assert.ThrowsAsync<LightQException>(async () =>
            await producer.PublishAsync("lost"u8, cancellationToken: Cancelled)
        );
        Assert.True(
            refused.Code is ErrorCode.TopicFailed or ErrorCode.OutcomeUnknown,
            $"{refused.Code}: {refused.Message}"
        );
        Assert.DoesNotContain(server.Directory, refused.Message, StringComparison.Ordinal);
        string start = $"Topic orders takes no messages: partition {partition}: fdatasync of '{server.Directory}";
        Assert.Single(server.Log.Errors, e => e.StartsWith(start, StringComparison.Ordinal));
    }
}
