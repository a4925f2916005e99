using System.Text.Json;
using Google.Protobuf;
using Google.Protobuf.WellKnownTypes;
using LightQ.Broker;
using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Control;
using LightQ.Protocol.Frames;
using LightQ.Protocol.Records;
using LightQ.Server.Control;
using LightQ.Server.Messages;
using LightQ.Server.Web;
using LightQ.Tests.Protocol;
using static LightQ.Tests.Fuzzing.FuzzInvariantException;
using Engine = LightQ.Broker.Topics;
using Proto = LightQ.Protocol.Control;
using SettleKind = LightQ.Protocol.Control.SettleKind;

namespace LightQ.Tests.Fuzzing.Targets;

/// <summary>The requests of the control plane and of the web port, and what becomes of them for the engine.</summary>
internal static class ServerTargets
{
    private static readonly HashSet<System.Type> Refusals =
    [
        typeof(BrokerException),
        typeof(InvalidProtocolBufferException),
    ];

    public static IEnumerable<FuzzTarget> All()
    {
        yield return new FuzzTarget
        {
            Name = "publish-requests",
            What = "messages to publish, and the records they become",
            Parse = Publish,
            Seeds =
            [
                PublishSeed().ToByteArray(),
                new PublishRequest
                {
                    Topic = "t",
                    Messages = { new PublishedMessage { Body = ByteString.CopyFromUtf8("x") } },
                }.ToByteArray(),
            ],
            Refusals = Refusals,
            MaxLength = 512,
            MaxAllocation = 256 * 1024,
            GateExecutions = 50_000,
        };
        Engine.Topic topic = TopicOf(3);
        yield return new FuzzTarget
        {
            Name = "consume-requests",
            What = "subscriptions and settlements",
            Parse = input => Consume(topic, input),
            Seeds = [.. ConsumeSeeds().Select(r => r.ToByteArray())],
            Refusals = Refusals,
            MaxLength = 256,
            GateExecutions = 50_000,
        };
        yield return new FuzzTarget
        {
            Name = "topic-settings",
            What = "a topic's settings, and written again",
            Parse = Settings,
            Seeds =
            [
                TopicMapping
                    .ToProto(
                        new Engine.TopicSettings { Kind = Engine.TopicKind.Durable, RetentionBytes = 5 }.Complete()
                    )
                    .ToByteArray(),
                new Proto.TopicSettings { Kind = Proto.TopicKind.Transient }.ToByteArray(),
            ],
            Tokens = FuzzText.Bytes("..", "dead"),
            Refusals = Refusals,
            MaxLength = 256,
            GateExecutions = 30_000,
        };
        yield return new FuzzTarget
        {
            Name = "admin-requests",
            What = "a request of the JSON protocol",
            Parse = Admin,
            Seeds = FuzzText.Bytes(
                "{\"cmd\":\"join\",\"topic\":\"orders\",\"user_id\":\"u\",\"password\":\"p\",\"type\":\"pub\",\"connection_type\":\"zmq\"}",
                "{\"cmd\":\"stats\"}",
                "{\"admin_user_id\":\"admin\",\"admin_password\":\"x\",\"cmd\":\"create_topic\",\"broker_type\":\"file\"}"
            ),
            Tokens = FuzzText.Bytes(
                "null",
                "{",
                "}",
                "[",
                "]",
                "\"cmd\":",
                "\\ud800",
                "\\u0000",
                "1e999",
                "\"\":",
                ",",
                "true"
            ),
            Refusals = new HashSet<System.Type> { typeof(JsonException) },
            MaxLength = 512,
            GateExecutions = 30_000,
        };
    }

    /// <summary>A request that uses every field.</summary>
    public static PublishRequest PublishSeed() =>
        new()
        {
            Topic = "orders",
            Messages =
            {
                new PublishedMessage
                {
                    Body = ByteString.CopyFromUtf8("hello"),
                    Key = ByteString.CopyFromUtf8("k"),
                    TimeToLive = Duration.FromTimeSpan(TimeSpan.FromSeconds(5)),
                    Headers =
                    {
                        new MessageHeader { Name = "a", Value = ByteString.CopyFromUtf8("x") },
                        new MessageHeader { Id = 3, Value = ByteString.CopyFromUtf8("text") },
                    },
                },
                new PublishedMessage
                {
                    Key = ByteString.CopyFromUtf8("k"),
                    Tombstone = true,
                    Delay = Duration.FromTimeSpan(TimeSpan.FromMinutes(1)),
                },
                new PublishedMessage
                {
                    DeliverTime = Timestamp.FromDateTimeOffset(DateTimeOffset.UnixEpoch.AddDays(20_000)),
                },
            },
        };

    private static bool Publish(ReadOnlySpan<byte> input)
    {
        PublishRequest request = PublishRequest.Parser.ParseFrom(input);
        var encoder = new RecordEncoder(1024);
        for (int i = 0; i < request.Messages.Count; i++)
        {
            PublishedMessage message = request.Messages[i];
            byte[] record = new byte[encoder.Measure(message, i)];
            BatchProperties properties = MessageTimes.Of(message, i, Sample.Time);
            ThrowUnless(
                properties.DueAt >= 0
                    && properties.ExpiresAt >= 0
                    && properties.HeaderLength is >= BatchLayout.HeaderSize and <= BatchLayout.MaxHeaderSize,
                "a message's times are times"
            );
            encoder.Write(message, record);
            var records = new RecordEnumerator(record, 1, 0);
            ThrowUnless(
                records.MoveNext()
                    && records.Current.Body.SequenceEqual(message.Body.Span)
                    && records.Current.Key.SequenceEqual(message.Key.Span)
                    && records.Current.IsTombstone == message.Tombstone,
                "a record is its message"
            );
            int headers = 0;
            foreach (HeaderView header in records.Current.Headers)
            {
                ThrowUnless(
                    header.Value.SequenceEqual(message.Headers[headers++].Value.Span),
                    "a record has its message's headers"
                );
            }

            ThrowUnless(
                headers == message.Headers.Count && !records.MoveNext(),
                "a record has all headers of its message"
            );
        }
        return true;
    }

    private static IEnumerable<ConsumeRequest> ConsumeSeeds()
    {
        yield return new ConsumeRequest
        {
            Subscribe = new Subscribe
            {
                Topic = "orders",
                Group = "g",
                SettleMode = GroupSettleMode.Explicit,
                Credit = 5,
                LockDuration = Duration.FromTimeSpan(TimeSpan.FromSeconds(5)),
            },
        };
        yield return new ConsumeRequest
        {
            Subscribe = new Subscribe
            {
                Topic = "orders",
                Time = Timestamp.FromDateTimeOffset(DateTimeOffset.UnixEpoch),
                SlowTimeout = Duration.FromTimeSpan(TimeSpan.FromSeconds(1)),
                Positions =
                {
                    new PartitionStart
                    {
                        Partition = 1,
                        Offset = 7,
                        Epoch = 1,
                        Incarnation = 3,
                    },
                },
            },
        };
        yield return new ConsumeRequest
        {
            Subscribe = new Subscribe
            {
                Topic = "orders",
                Partition = 2,
                Offset = 9,
            },
        };
        yield return new ConsumeRequest
        {
            Subscribe = new Subscribe { Topic = "orders", Earliest = true },
        };
        yield return new ConsumeRequest { Credit = new Credit { Messages = 5 } };
        yield return new ConsumeRequest
        {
            Settle = new Settle
            {
                Tag = 4,
                Settlements =
                {
                    new Settlement
                    {
                        Partition = 1,
                        Kind = SettleKind.Complete,
                        FirstOffset = 5,
                        Count = 3,
                        DeliveryId = 8,
                    },
                    new Settlement
                    {
                        Kind = SettleKind.Abandon,
                        FirstOffset = 1,
                        Delay = Duration.FromTimeSpan(TimeSpan.FromMilliseconds(5)),
                    },
                    new Settlement { Kind = SettleKind.DeadLetter, Reason = "bad" },
                },
            },
        };
    }

    private static bool Consume(Engine.Topic topic, ReadOnlySpan<byte> input)
    {
        ConsumeRequest request = ConsumeRequest.Parser.ParseFrom(input);
        switch (request.RequestCase)
        {
            case ConsumeRequest.RequestOneofCase.Subscribe:
                foreach (SubscribeFrame frame in SubscribeMapping.ToFrames(request.Subscribe, topic))
                {
                    ThrowUnless(
                        frame.Partition < topic.Partitions.Length
                            && System.Enum.IsDefined(frame.Start)
                            && System.Enum.IsDefined(frame.SlowPolicy),
                        "a subscription is within its limits"
                    );
                    ThrowUnless(
                        frame.LockMilliseconds
                            is 0
                                or (>= ProtocolLimits.MinLockMilliseconds and <= ProtocolLimits.MaxLockMilliseconds),
                        "a lock is within its limits"
                    );
                }
                return true;
            case ConsumeRequest.RequestOneofCase.Settle:
                SettlementMapping.CheckCount(request.Settle.Settlements.Count);
                for (int i = 0; i < request.Settle.Settlements.Count; i++)
                {
                    ThrowUnless(
                        SettlementMapping.ToRange(request.Settle.Settlements[i], i)
                            is { FirstOffset: >= 0, Count: > 0 },
                        "a settlement is of a range"
                    );
                }

                return true;
            default:
                return request.RequestCase == ConsumeRequest.RequestOneofCase.Credit;
        }
    }

    private static Engine.Topic TopicOf(int partitions)
    {
        var topic = new Engine.Topic(
            "orders",
            Guid.NewGuid(),
            DateTimeOffset.UnixEpoch,
            new Engine.TopicSettings { Partitions = (uint)partitions }.Complete()
        );
        topic.Partitions =
        [
            .. Enumerable.Range(0, partitions).Select(i => new Engine.Partition(topic, (uint)i, TimeProvider.System)),
        ];
        return topic;
    }

    private static bool Settings(ReadOnlySpan<byte> input)
    {
        Proto.TopicSettings request = Proto.TopicSettings.Parser.ParseFrom(input);
        Engine.TopicSettings settings = TopicMapping.Apply(request, new Engine.TopicSettings()).Complete();
        ThrowUnless(
            settings.RingBytes is >= Engine.TopicSettings.MinRingBytes and <= Engine.TopicSettings.MaxRingBytes,
            "a ring is within its limits"
        );
        ThrowUnless(settings.Complete() == settings, "settings that are complete stay as they are");
        ThrowUnless(
            TopicMapping.Apply(TopicMapping.ToProto(settings), new Engine.TopicSettings()).Complete() == settings,
            "settings that are shown can be given"
        );
        return true;
    }

    private static bool Admin(ReadOnlySpan<byte> input)
    {
        using var body = new MemoryStream(input.ToArray());
        Task<AdminRequest?> reading = JsonSerializer.DeserializeAsync(body, AdminJson.Default.AdminRequest).AsTask();
        ThrowUnless(reading.IsCompleted, "what is all there is read at once");
        if (reading.GetAwaiter().GetResult() is not { } request)
            return false;
        var response = new AdminResponse
        {
            Cmd = request.Cmd,
            Topic = request.Topic,
            Status = AdminResponse.Error,
            Description = request.ToString(),
        };
        ThrowUnless(
            JsonSerializer.SerializeToUtf8Bytes(response, AdminJson.Default.AdminResponse).Length > 2,
            "an answer is JSON"
        );
        return true;
    }
}
