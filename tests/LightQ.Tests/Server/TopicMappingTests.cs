using Google.Protobuf.WellKnownTypes;
using LightQ.Broker;
using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.Server.Control;
using Xunit;
using Proto = LightQ.Protocol.Control;
using TopicKind = LightQ.Broker.Topics.TopicKind;

namespace LightQ.Tests.Server;

public sealed class TopicMappingTests
{
    private static readonly TopicSettings Odd = new TopicSettings
    {
        Kind = TopicKind.Durable,
        RingBytes = 16 << 20,
        SegmentBytes = 128 << 20,
        RetentionBytes = 1L << 40,
        RetentionAge = TimeSpan.FromHours(1),
        AckLevel = Durability.Written,
        ReadLevel = Durability.Written,
        MaxMessageBytes = 2 << 20,
        SlowPolicy = SlowPolicy.DropOldest,
        Retention = Retention.Settled,
    }.Complete();

    [Fact]
    public void Settings_come_back_as_they_went() =>
        Assert.Equal(Odd, TopicMapping.Apply(TopicMapping.ToProto(Odd), new TopicSettings()));

    [Fact]
    public void Replicas_come_back_as_they_went_and_one_is_none()
    {
        TopicSettings replicated = new TopicSettings { Kind = TopicKind.Durable, Replicas = 3 }.Complete();
        Assert.Equal(replicated, TopicMapping.Apply(TopicMapping.ToProto(replicated), new TopicSettings()));
        Assert.Equal(Odd, TopicMapping.Apply(new Proto.TopicSettings { Replicas = 1 }, Odd));
    }

    [Fact]
    public void The_table_has_every_field_of_the_message_in_order() =>
        Assert.Equal(
            Proto.TopicSettings.Descriptor.Fields.InFieldNumberOrder().Select(f => f.Name),
            TopicMapping.Fields.Select(f => f.Name)
        );

    [Fact]
    public void Absent_fields_change_nothing()
    {
        Assert.Same(Odd, TopicMapping.Apply(null, Odd));
        Assert.Equal(Odd, TopicMapping.Apply(new Proto.TopicSettings(), Odd));
    }

    [Fact]
    public void A_retention_that_is_present_and_zero_removes_the_limit()
    {
        Assert.Equal(
            Odd with
            {
                RetentionBytes = 0,
            },
            TopicMapping.Apply(new Proto.TopicSettings { RetentionBytes = 0 }, Odd)
        );
        Assert.Equal(
            Odd with
            {
                RetentionAge = TimeSpan.Zero,
            },
            TopicMapping.Apply(new Proto.TopicSettings { RetentionAge = new Duration() }, Odd)
        );
    }

    [Fact]
    public void Every_difference_is_named_once_with_both_values()
    {
        TopicSettings plain = new TopicSettings().Complete();
        string[] differences =
        [
            .. TopicMapping
                .Compare(plain, Odd)
                .Select(d => $"{d.Change.Setting}: {d.Change.From} -> {d.Change.To}{(d.Field.IsImmutable ? "!" : "")}"),
        ];
        Assert.Equal(
            [
                "kind: transient -> durable!",
                "ring_bytes: 8388608 -> 16777216!",
                "segment_bytes: 0 -> 134217728!",
                "retention_bytes: 0 -> 1099511627776",
                "retention_age: 00:00:00 -> 01:00:00",
                "ack_level: memory -> written",
                "read_level: memory -> written!",
                "max_message_bytes: 1048576 -> 2097152!",
                "slow_consumer_policy: block -> drop_oldest",
                "retention: keep -> settled",
            ],
            differences
        );
    }

    public static TheoryData<object, string> Refusals() =>
        new()
        {
            {
                new Proto.TopicSettings { Kind = (Proto.TopicKind)7 },
                "kind is 7; allowed: transient, durable."
            },
            {
                new Proto.TopicSettings { AckLevel = (Proto.DurabilityLevel)(-1) },
                "ack_level is "
            },
            {
                new Proto.TopicSettings { AckLevel = (Proto.DurabilityLevel)257 },
                "ack_level is "
            },
            {
                new Proto.TopicSettings { SlowConsumerPolicy = (Proto.SlowConsumerPolicy)9 },
                "slow_consumer_policy is 9"
            },
            {
                new Proto.TopicSettings { RingBytes = ulong.MaxValue },
                "ring_bytes is 18446744073709551615; allowed: at most 1073741824."
            },
            {
                new Proto.TopicSettings { RetentionBytes = ulong.MaxValue },
                "retention_bytes is 18446744073709551615"
            },
            {
                new Proto.TopicSettings
                {
                    RetentionAge = new Duration { Seconds = 1, Nanos = -1 },
                },
                "retention_age is "
            },
            {
                new Proto.TopicSettings { RetentionAge = new Duration { Seconds = long.MaxValue } },
                "retention_age is "
            },
        };

    [Theory]
    [MemberData(nameof(Refusals))]
    public void A_value_outside_its_range_is_named(object requested, string message)
    {
        BrokerException error = Assert.Throws<BrokerException>(() =>
            TopicMapping.Apply((Proto.TopicSettings)requested, new TopicSettings())
        );
        Assert.Equal(ErrorCode.InvalidArgument, error.Code);
        Assert.StartsWith(message, error.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(typeof(TopicKind), typeof(Proto.TopicKind))]
    [InlineData(typeof(Durability), typeof(Proto.DurabilityLevel))]
    [InlineData(typeof(SlowPolicy), typeof(Proto.SlowConsumerPolicy))]
    [InlineData(typeof(Retention), typeof(Proto.Retention))]
    public void Enumerations_have_the_same_numbers_on_both_sides(System.Type engine, System.Type wire)
    {
        foreach (object value in System.Enum.GetValues(wire))
        {
            int number = Convert.ToInt32(value, System.Globalization.CultureInfo.InvariantCulture);
            if (number != 0)
            {
                Assert.Equal(
                    value.ToString(),
                    System.Enum.GetName(
                        engine,
                        Convert.ChangeType(
                            number,
                            System.Enum.GetUnderlyingType(engine),
                            System.Globalization.CultureInfo.InvariantCulture
                        )
                    )
                );
            }
        }
    }
}
