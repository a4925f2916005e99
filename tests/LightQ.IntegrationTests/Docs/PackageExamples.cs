using LightQ.Client;
using LightQ.Disruptor;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using LightQ.Server;
using LightQ.Testing;

namespace LightQ.IntegrationTests.Docs;

/// <summary>The C# of the packages' own README.md files. See <see cref="PackageReadmeTests"/>.</summary>
internal static class PackageExamples
{
    public static async Task ClientAsync()
    {
        // Client: begin
        await using var client = new LightQClient("lightq://localhost");
        await client.Topics.EnsureAsync(new TopicSpec("orders") { Kind = TopicKind.Durable });

        await using Producer producer = await client.CreateProducerAsync("orders");
        PublishAck ack = await producer.PublishAsync("first"u8, key: "42");     // waits until it is on the disk
        Console.WriteLine($"stored at {ack.Offset}");

        await foreach (Message message in client.ConsumeAsync("orders", new() { Start = StartPosition.Earliest }))
        {
            Console.WriteLine($"{message.Offset}: {message.GetText()}");
            break;                                                              // leaving the loop ends the subscription
        }
        // Client: end
    }

    public static async Task ServerAsync()
    {
        // Server: begin
        await using LightQServer server = await LightQServer.StartAsync();      // free ports, a temporary directory
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.EnsureAsync(new TopicSpec("orders") { Kind = TopicKind.Durable });
        await using Producer producer = await client.CreateProducerAsync("orders");
        PublishAck ack = await producer.PublishAsync("first"u8);
        Console.WriteLine($"{server.ConnectionString} has it at {ack.Offset}");
        // Server: end
    }

    public static async Task TestingAsync()
    {
        // Testing: begin
        await using LightQTestBroker broker = await LightQTestBroker.StartAsync();
        await using LightQClient client = broker.CreateClient();
        var orders = new TopicSpec("orders") { LockDuration = TimeSpan.FromMinutes(5), RetryDelay = TimeSpan.Zero };
        await client.Topics.CreateAsync(orders);
        await using Producer producer = await client.CreateProducerAsync("orders");
        await producer.PublishAsync("order 1"u8);

        var explicitly = new ConsumeOptions { Group = "billing", SettleMode = SettleMode.Explicit };
        await using MessageConsumer billing = client.CreateConsumer("orders", explicitly);
        Message first = (await billing.FetchAsync(10, TimeSpan.FromSeconds(10))).Single();

        broker.Time.Advance(TimeSpan.FromMinutes(5));                           // its lock runs out, at once

        Message again = (await billing.FetchAsync(10, TimeSpan.FromSeconds(10))).Single();
        Console.WriteLine($"delivered {again.DeliveryCount} times");
        // Testing: end
    }

    public static void Protocol()
    {
        // Protocol: begin
        Console.WriteLine($"protocol {ProtocolLimits.Version}, a frame's header has {FrameHeader.Size} bytes");
        // Protocol: end
    }

    public static void Disruptor()
    {
        // Disruptor: begin
        using RingMemory memory = RingMemory.Native(1 << 20);          // or Pinned(...), or Mapped("/dev/shm/prices", ...)
        var ring = new ByteRing(memory, maxEntryLength: 64 * 1024, waitStrategy: new BlockingWaitStrategy());

        using var consumer = new BatchEventProcessor<Printer>(ring, new Printer());
        consumer.Start();

        while (ring.TryPublishPayload("hello"u8) == ClaimResult.Full)  // never blocks: the caller chooses what to do when full
        {
            Thread.Yield();
        }

        consumer.Halt(drain: true);
        consumer.Join(Timeout.InfiniteTimeSpan);
        // Disruptor: end
    }

    private
    // Disruptor: begin
    readonly struct Printer : IRunHandler
    {
        public void OnRun(in RingRun run)
        {
            foreach (ReadOnlySpan<byte> entry in run)
            {
                Console.WriteLine(System.Text.Encoding.UTF8.GetString(PayloadEntry.Payload(entry)));
            }
        }
    }
    // Disruptor: end
}
