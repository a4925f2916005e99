using System.Globalization;
using System.Text;
using LightQ.Client;
using LightQ.IntegrationTests.DataPlane;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Protocol.Records;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// Somebody who may publish, and lies in his batches, beside producers that do everything right: what these were told
/// is stored is there after kill -9.
/// </summary>
[Collection(FaultCollection.Name)]
public sealed class HostilePublisherTests
{
    private const string Topic = "t";
    private const int Messages = 20;
    private const uint Hostile = 1,
        Healthy = 2;

    /// <summary>
    /// What is damaged in an otherwise valid batch: its payload, as it is, when it is delayed, when it says that it is
    /// compressed.
    /// </summary>
    public static TheoryData<string> Batches => ["plain", "delayed", "compressed"];

    [Theory]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    [MemberData(nameof(Batches))]
    public async Task A_wrong_payload_checksum_is_refused_and_what_others_published_in_the_same_commit_stays(
        string kind
    )
    {
        FaultRun.RequireTier("It publishes for some seconds.");
        using var directory = new TemporaryDirectory();
        await using var broker = new FaultBroker(directory.Path);
        await broker.StartAsync();
        await CreateTopicAsync(broker);
        await using (RawClient client = await RawClient.ConnectAsync(broker.DataPort))
        {
            await client.OpenProducerAsync(Topic, Hostile);
            await client.OpenProducerAsync(Topic, Healthy);
            byte[] hostile = [.. Batch(0), .. Damaged(kind, 1)];

            // One write, one receive, one commit: the damaged batch in front.
            await client.SendAsync(
                (byte[])
                    [
                        .. RawClient.PublishFrame(Hostile, hostile),
                        .. Enumerable.Range(0, Messages).SelectMany(i => RawClient.PublishFrame(Healthy, Batch(i))),
                    ]
            );

            List<AckRange> answers = [];
            long acknowledged = 0;
            while (acknowledged < Messages || answers.Count < 2)
            {
                (FrameHeader header, byte[] body) = await client.ReadAsync();
                if (header.Type != FrameType.PublishAck)
                    continue;
                foreach (AckRange range in Ranges(body))
                {
                    if (header.Stream == Hostile)
                        answers.Add(range);
                    else
                        acknowledged += range.Count;
                }
            }
            Assert.Equal(
                [new AckRange(0, 1, ErrorCode.None, 0), new AckRange(1, 1, ErrorCode.MalformedBatch, -1)],
                answers
            );
        }
        await broker.KillAsync();
        await broker.StartAsync();

        Assert.Equal([Text(0), .. Enumerable.Range(0, Messages).Select(Text)], await ReadAsync(broker, Messages + 1));
    }

    [Fact]
    public async Task A_forged_producer_id_is_refused_and_the_named_producer_goes_on_after_kill_9_where_it_was()
    {
        using var directory = new TemporaryDirectory();
        await using var broker = new FaultBroker(directory.Path);
        await broker.StartAsync();
        await CreateTopicAsync(broker);
        await using (RawClient client = await RawClient.ConnectAsync(broker.DataPort))
        {
            ProducerOpenedFrame named = await OpenNamedAsync(client);
            await client.OpenProducerAsync(Topic, Hostile);
            await PublishAsync(client, named, 0, Messages / 2);

            // What any consumer can see of the named producer is enough to continue in its name.
            var forged = new BatchOrigin(named.ProducerId, named.ProducerEpoch, Messages / 2);
            await client.SendAsync(RawClient.PublishFrame(Hostile, RawClient.Batch(0, 10, records: 30, forged)));

            Assert.Equal(
                [new AckRange(Messages / 2, 30, ErrorCode.MalformedBatch, -1)],
                Ranges(await client.ReadAsync(FrameType.PublishAck))
            );
        }
        await broker.KillAsync();
        await broker.StartAsync();

        await using (RawClient client = await RawClient.ConnectAsync(broker.DataPort))
        {
            ProducerOpenedFrame back = await OpenNamedAsync(client);
            Assert.Equal((ulong)Messages / 2, back.NextSequence);
            await PublishAsync(client, back, Messages / 2, Messages);
        }
        Assert.Equal(Enumerable.Range(0, Messages).Select(Text), await ReadAsync(broker, Messages));
    }

    private static async Task<ProducerOpenedFrame> OpenNamedAsync(RawClient client)
    {
        await client.SendAsync(new OpenProducerFrame(Topic, 0, Durability.Fsync, "billing"), Healthy, Healthy);
        return FrameCodec.Read<ProducerOpenedFrame>(await client.ReadAsync(FrameType.ProducerOpened));
    }

    /// <summary>Publishes messages of a named producer, one after the other, and hears that each is stored.</summary>
    private static async Task PublishAsync(RawClient client, ProducerOpenedFrame opened, int first, int end)
    {
        for (int i = first; i < end; i++)
        {
            await client.SendAsync(
                RawClient.PublishFrame(
                    Healthy,
                    Batch(i, origin: new BatchOrigin(opened.ProducerId, opened.ProducerEpoch, (ulong)i))
                )
            );
            Assert.Equal(
                [new AckRange((ulong)i, 1, ErrorCode.None, i)],
                Ranges(await client.ReadAsync(FrameType.PublishAck))
            );
        }
    }

    private static async Task CreateTopicAsync(FaultBroker broker)
    {
        await using LightQClient client = broker.Connect();
        await client.Topics.CreateAsync(
            new TopicSpec(Topic) { Kind = TopicKind.Durable },
            TestContext.Current.CancellationToken
        );
    }

    private static async Task<List<string>> ReadAsync(FaultBroker broker, int count)
    {
        var found = new List<string>();
        await using LightQClient client = broker.Connect();
        Assert.Equal(count, (await client.Stats.GetTopicAsync(Topic, TestContext.Current.CancellationToken)).EndOffset);
        await foreach (
            Message message in client
                .ConsumeAsync(Topic, new ConsumeOptions { Start = StartPosition.Earliest })
                .WithCancellation(TestContext.Current.CancellationToken)
        )
        {
            found.Add(message.GetText());
            if (found.Count == count)
                break;
        }
        return found;
    }

    private static AckRange[] Ranges(byte[] body)
    {
        var frame = new PublishAckFrame(body);
        var ranges = new AckRange[frame.Count];
        for (int i = 0; i < ranges.Length; i++)
            ranges[i] = frame[i];
        return ranges;
    }

    private static byte[] Damaged(string kind, int number)
    {
        BatchProperties properties =
            kind == "delayed"
                ? new BatchProperties(UnixMicroseconds.From(DateTimeOffset.UtcNow.AddMinutes(1)), 0)
                : default;
        byte[] batch = Batch(number, properties, kind == "compressed" ? BatchCodec.Brotli : BatchCodec.None);
        batch[^9] ^= 1;
        return batch;
    }

    private static string Text(int number) => string.Create(CultureInfo.InvariantCulture, $"message {number}");

    private static byte[] Batch(
        int number,
        in BatchProperties properties = default,
        BatchCodec codec = BatchCodec.None,
        BatchOrigin? origin = null
    )
    {
        byte[] body = Encoding.UTF8.GetBytes(Text(number));
        int length = RecordWriter.SizeOf(body.Length);
        byte[] batch = new byte[properties.HeaderLength + length + BatchLayout.Alignment];
        RecordWriter.Write(batch.AsSpan(properties.HeaderLength), body);
        return batch[
            ..BatchWriter.Complete(
                batch,
                length,
                1,
                length,
                codec,
                properties,
                origin ?? new BatchOrigin(0, 0, (ulong)number),
                UnixMicroseconds.From(DateTimeOffset.UtcNow)
            )
        ];
    }
}
