using System.Diagnostics.Metrics;
using LightQ.Client;
using Xunit;
using ClientTopicKind = LightQ.Client.TopicKind;

namespace LightQ.IntegrationTests.Delivery;

/// <summary>
/// Sockets, engine and SDK together allocate nothing per message or batch once they run, but for the bytes of messages
/// that are consumed one by one, which own them.
/// </summary>
[CollectionDefinition(nameof(AllocationTests), DisableParallelization = true)]
[Collection(nameof(AllocationTests))]
public sealed class AllocationTests
{
    private const int Messages = 200_000,
        BodyBytes = 100,
        Publishers = 100;

    /// <summary>So small that a round has more than five thousand batches.</summary>
    private const int BatchBytes = 4096;

    /// <summary>
    /// A fifth of a byte a message, less than 8 bytes a batch: an object for each of either would be far more. What is
    /// below it is the round's own, state machines of this test and the housekeeping's timers: 6 KB, 16 KB with a
    /// hundred publishers.
    /// </summary>
    private const int RoundBytes = 40_000;

    /// <summary>
    /// A record has 8 bytes beside its body, and several share one header and one array: an array for each would have
    /// more than 200 bytes.
    /// </summary>
    private const int MessageBytes = BodyBytes + 30;

    /// <summary>
    /// The first rounds fill the pools and a later one may need a buffer more than any before, or a new segment; what
    /// is allocated per message is so in every round.
    /// </summary>
    private const int MostRounds = 20;

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(ClientTopicKind.Transient, ReceiveMode.Thread)]
    [InlineData(ClientTopicKind.Transient, ReceiveMode.Async)]
    [InlineData(ClientTopicKind.Durable, ReceiveMode.Thread)]
    [InlineData(ClientTopicKind.Transient, ReceiveMode.Thread, true)]
    [InlineData(ClientTopicKind.Transient, ReceiveMode.Thread, false, true)]
    [InlineData(ClientTopicKind.Transient, ReceiveMode.Async, false, true)]
    public async Task Batches_allocate_nothing_measured_or_not_encrypted_or_not(
        ClientTopicKind kind,
        ReceiveMode mode,
        bool isMeasured = false,
        bool isEncrypted = false
    )
    {
#if DEBUG
        Assert.SkipWhen(
            isEncrypted,
            "The compiler makes the state machines of asynchronous methods classes in debug builds."
        );
#endif
        long measured = 0;
        using MeterListener? listener = isMeasured ? Listen(messages => Interlocked.Add(ref measured, messages)) : null;
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                Tls = new() { SelfSigned = isEncrypted },
            }
        );
        await using var client = new LightQClient(
            LightQClientOptions.Parse(server.ConnectionString) with
            {
                ReceiveMode = mode,
            }
        );
        await client.Topics.CreateAsync(new TopicSpec("t") { Kind = kind }, Cancelled);
        await using Producer producer = await client.CreateProducerAsync(
            "t",
            new ProducerOptions { BatchBytes = BatchBytes },
            Cancelled
        );
        await using IAsyncEnumerator<MessageBatch> batches = client
            .ConsumeBatchesAsync("t", new ConsumeOptions { Start = StartPosition.Earliest }, Cancelled)
            .GetAsyncEnumerator(Cancelled);
        using BatchBuilder batch = producer.CreateBatch();

        await AssertNoneAsync(() => Task.WhenAll(PublishAsync(), ConsumeAsync()));
        Assert.True(isMeasured == (measured >= 2 * Messages), $"{measured} messages were measured");

        async Task PublishAsync()
        {
            byte[] body = new byte[BodyBytes];
            for (int sent = 0; sent < Messages; sent++)
            {
                if (batch.TryAdd(body))
                    continue;
                while (!producer.TryPublish(batch))
                    await producer.WaitForRoomAsync(Cancelled);
                batch.TryAdd(body);
            }
            while (!producer.TryPublish(batch))
                await producer.WaitForRoomAsync(Cancelled);
        }

        async Task ConsumeAsync()
        {
            for (int received = 0; received < Messages; )
            {
                Assert.True(await batches.MoveNextAsync());
                received += batches.Current.Count;
            }
        }
    }

    [Theory]
    [InlineData(ClientTopicKind.Transient, ReceiveMode.Thread)]
    [InlineData(ClientTopicKind.Transient, ReceiveMode.Async)]
    [InlineData(ClientTopicKind.Durable, ReceiveMode.Thread)]
    [InlineData(ClientTopicKind.Transient, ReceiveMode.Thread, SettleMode.Explicit)]
    [InlineData(ClientTopicKind.Transient, ReceiveMode.Async, SettleMode.Explicit)]
    [InlineData(ClientTopicKind.Durable, ReceiveMode.Thread, SettleMode.Explicit, "workers")]
    [InlineData(ClientTopicKind.Durable, ReceiveMode.Async, SettleMode.Explicit, "workers")]
    public async Task Messages_one_by_one_allocate_their_bytes(
        ClientTopicKind kind,
        ReceiveMode mode,
        SettleMode settle = SettleMode.Automatic,
        string? group = null
    )
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(
            LightQClientOptions.Parse(server.ConnectionString) with
            {
                ReceiveMode = mode,
            }
        );
        await client.Topics.CreateAsync(new TopicSpec("t") { Kind = kind }, Cancelled);
        await using Producer producer = await client.CreateProducerAsync(
            "t",
            new ProducerOptions { BatchBytes = BatchBytes },
            Cancelled
        );
        await using IAsyncEnumerator<Message> messages = client
            .ConsumeAsync(
                "t",
                new ConsumeOptions
                {
                    Start = StartPosition.Earliest,
                    SettleMode = settle,
                    Group = group,
                },
                Cancelled
            )
            .GetAsyncEnumerator(Cancelled);

        await AssertNoneAsync(() => Task.WhenAll(PublishAsync(), ConsumeAsync()), Messages * MessageBytes);

        async Task PublishAsync()
        {
            byte[] body = new byte[BodyBytes];
            for (int sent = 0; sent < Messages; )
            {
                if (producer.TryPublish(body))
                    sent++;
                else
                    await producer.WaitForRoomAsync(Cancelled);
            }
        }

        async Task ConsumeAsync()
        {
            for (int received = 0; received < Messages; received++)
            {
                Assert.True(await messages.MoveNextAsync());
                if (settle == SettleMode.Explicit)
                    messages.Current.QueueCompletion();
            }
        }
    }

    [Fact]
    public async Task Awaited_publishes_allocate_nothing()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("t");
        await using var client = new LightQClient(server.ConnectionString);
        await using Producer producer = await client.CreateProducerAsync("t", cancellationToken: Cancelled);
        byte[] body = new byte[BodyBytes];

        await AssertNoneAsync(() => Task.WhenAll(Enumerable.Range(0, Publishers).Select(_ => PublishAsync())));

        async Task PublishAsync()
        {
            for (int i = 0; i < Messages / Publishers; i++)
                await producer.PublishAsync(body, cancellationToken: Cancelled);
        }
    }

    /// <summary>Listens to all instruments of the client, and adds up the messages that they count.</summary>
    private static MeterListener Listen(Action<long> onMessages)
    {
        var listener = new MeterListener
        {
            InstrumentPublished = static (instrument, listener) =>
            {
                if (instrument.Meter.Name == LightQTelemetry.MeterName)
                    listener.EnableMeasurementEvents(instrument);
            },
        };
        listener.SetMeasurementEventCallback<long>((_, messages, _, _) => onMessages(messages));
        listener.SetMeasurementEventCallback<double>(static (_, _, _, _) => { });
        listener.Start();
        return listener;
    }

    /// <summary>Moves round after round, until one allocates next to nothing beside what it may.</summary>
    private static async Task AssertNoneAsync(Func<Task> round, long mayAllocate = 0)
    {
        var allocated = new List<long>();
        do
        {
            Assert.True(
                allocated.Count < MostRounds,
                $"Bytes allocated by rounds of {Messages} messages: {string.Join(", ", allocated)}"
            );
            long before = GC.GetTotalAllocatedBytes(precise: true);
            await round();
            allocated.Add(GC.GetTotalAllocatedBytes(precise: true) - before);
        } while (allocated[^1] >= RoundBytes + mayAllocate);
    }
}
