using System.CommandLine;
using LightQ.Cli.Options;
using LightQ.Client;
using LightQ.Protocol;

namespace LightQ.Cli.Topics;

/// <summary>One option for each setting of a topic.</summary>
internal sealed class TopicSettingOptions
{
    /// <summary>What the help says of a setting that a topic keeps as it was made.</summary>
    public const string Lasting = "Cannot be changed later.";

    private readonly Option<TopicKind> _kind = ValueOptions.Choice("--kind", TopicKind.Transient, TopicKind.Durable);
    private readonly Option<int?> _partitions = ValueOptions.NumberWithin(
        "--partitions",
        1,
        ProtocolLimits.MaxPartitions
    );
    private readonly Option<int?> _replicas = ValueOptions.NumberAmong("--replicas", 1, 3, 5);
    private readonly Option<long?> _ring = ValueOptions.Size("--ring");
    private readonly Option<long?> _segment = ValueOptions.Size("--segment");
    private readonly Option<Retention> _retention = ValueOptions.Choice(
        "--retention",
        Retention.Keep,
        Retention.Settled
    );
    private readonly Option<long?> _retentionBytes = ValueOptions.Size("--retention-bytes", orNone: true);
    private readonly Option<TimeSpan?> _retentionAge = ValueOptions.Duration("--retention-age", orNone: true);
    private readonly Option<Durability> _ack = ValueOptions.Choice(
        "--ack",
        Durability.Memory,
        Durability.Written,
        Durability.Fsync,
        Durability.Replicated
    );
    private readonly Option<Durability> _read = ValueOptions.Choice(
        "--read",
        Durability.Memory,
        Durability.Written,
        Durability.Fsync,
        Durability.Replicated
    );
    private readonly Option<long?> _maxMessage = ValueOptions.Size("--max-message");
    private readonly Option<SlowPolicy> _slow = CommonOptions.SlowPolicy();

    private readonly Option<TimeSpan?> _lock = ValueOptions.Duration("--lock");
    private readonly Option<int?> _maxDeliveries = ValueOptions.Number("--max-deliveries", 0);
    private readonly Option<TimeSpan?> _retryDelay = ValueOptions.Duration("--retry-delay");
    private readonly Option<TimeSpan?> _maxRetryDelay = ValueOptions.Duration("--max-retry-delay");
    private readonly Option<string?> _deadLetters = new("--dead-letter-topic") { HelpName = "TOPIC" };

    private readonly Option<TimeSpan?> _dedupWindow = ValueOptions.Duration("--dedup-window", orNone: true);
    private readonly Option<int?> _dedupIds = ValueOptions.NumberWithin(
        "--dedup-ids",
        1,
        Broker.Topics.TopicSettings.MaxDedupIds
    );

    private readonly Option<bool?> _sharedNames = new("--shared-names") { HelpName = "true|false" };

    public TopicSettingOptions()
    {
        _lock.Description =
            "Groups with explicit settlement: how long delivered messages are one member's. Default 30s.";
        _maxDeliveries.Description =
            "How often they deliver a message before it is dead-lettered; 0: without end. Default 10.";
        _retryDelay.Description =
            "How long a message waits for redelivery after it was abandoned or its lock ran out; each time twice as "
            + "long. Default 1s.";
        _maxRetryDelay.Description = "The longest wait for redelivery. Default 1m.";
        _deadLetters.Description = "The topic that gets dead-lettered messages. Default: the topic's name and .dead.";
        _dedupWindow.Description =
            "How long the ids of messages are remembered, so that one that is published again with the same id is not "
            + "stored again, for example 2m; none: not at all, as a new topic without it. 1s to 7d.";
        _dedupIds.Description =
            "How many ids each partition remembers at most; of more the oldest are forgotten. Default 100000, 48 "
            + "bytes of memory each.";
        _sharedNames.Description =
            "true: producer names and message ids are the same whichever user publishes; false: each user has its own. "
            + "Default: false.";
        _kind.Description =
            $"transient: in memory, and dropped {TopicView.RestText}; durable: in a journal on disk. "
            + $"Default: durable, but transient for the topics of -n. {Lasting}";
        _partitions.Description =
            $"How many partitions, 1 to {ProtocolLimits.MaxPartitions}. Messages with the same key are in one, in "
            + $"their order; ring, segments and retention are of each. Default: 1. {Lasting}";
        _replicas.Description =
            "Durable topics of a cluster: how many nodes keep a copy, 3 or 5; 1, the default: the broker alone. "
            + Lasting;
        _ack.Description =
            "How safe a message is before it is acknowledged. Default: memory for transient, fsync for durable topics; "
            + "with --replicas always replicated.";
        _read.Description =
            $"How safe a message is before consumers see it. Durable topics: fsync, the default, or written; "
            + $"transient ones: memory; with --replicas always replicated. {Lasting}";
        _slow.Description =
            $"What happens to subscribers that are slower than a transient topic and do not say: "
            + $"{CommonOptions.SlowPolicyText} Default: block.";
        _ring.Description = $"Size of the ring in memory. Default 8MiB. {Lasting}";
        _segment.Description = $"Size of the journal's files. Default 64MiB. {Lasting}";
        _retention.Description =
            "keep: until --retention-bytes or --retention-age say otherwise, for ever without them; settled: also "
            + "until all groups have settled a message, for durable topics. Default: keep.";
        _retentionBytes.Description = "Keep at most this much; none: no limit, as a new topic has without it.";
        _retentionAge.Description =
            "Keep messages this long, for example 7d; none: for ever, as a new topic does without it.";
        _maxMessage.Description = $"The largest message, at most 64MiB. Default 1MiB. {Lasting}";
    }

    public void AddTo(Command command)
    {
        foreach (
            Option option in new Option[]
            {
                _kind,
                _partitions,
                _ring,
                _segment,
                _retentionBytes,
                _retentionAge,
                _ack,
                _read,
                _maxMessage,
                _slow,
                _lock,
                _maxDeliveries,
                _retryDelay,
                _maxRetryDelay,
                _deadLetters,
                _retention,
                _dedupWindow,
                _dedupIds,
                _replicas,
                _sharedNames,
            }
        )
        {
            command.Add(option);
        }
    }

    /// <summary>Whether the kind is said.</summary>
    public bool IsKindGiven(System.CommandLine.Parsing.CommandResult result) => result.GetResult(_kind) is not null;

    public TopicSpec Read(ParseResult parsed, string name) =>
        new(name)
        {
            Kind = parsed.GetValue(_kind),
            Partitions = parsed.GetValue(_partitions) ?? 0,
            Replicas = parsed.GetValue(_replicas) ?? 0,
            RingBytes = parsed.GetValue(_ring) ?? 0,
            SegmentBytes = parsed.GetValue(_segment) ?? 0,
            Retention = parsed.GetValue(_retention),
            RetentionBytes = parsed.GetValue(_retentionBytes),
            RetentionAge = parsed.GetValue(_retentionAge),
            AckLevel = parsed.GetValue(_ack),
            ReadLevel = parsed.GetValue(_read),
            MaxMessageBytes = parsed.GetValue(_maxMessage) ?? 0,
            SlowPolicy = parsed.GetValue(_slow),
            LockDuration = parsed.GetValue(_lock),
            MaxDeliveries = parsed.GetValue(_maxDeliveries),
            RetryDelay = parsed.GetValue(_retryDelay),
            MaxRetryDelay = parsed.GetValue(_maxRetryDelay),
            DeadLetterTopic = parsed.GetValue(_deadLetters),
            DedupWindow = parsed.GetValue(_dedupWindow),
            DedupMaxIds = parsed.GetValue(_dedupIds),
            SharedNames = parsed.GetValue(_sharedNames),
        };
}
