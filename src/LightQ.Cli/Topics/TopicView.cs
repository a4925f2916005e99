using System.Globalization;
using LightQ.Broker;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Protocol;

namespace LightQ.Cli.Topics;

/// <summary>A topic as the tool shows it.</summary>
internal sealed record TopicView
{
    private const double SecondsOfDay = 86400;

    /// <summary>When a transient topic gives its memory back; the broker may have been told otherwise.</summary>
    public static string RestText { get; } =
        $"after {new BrokerOptions().RestAfter.TotalMinutes} minutes without use (the server's Broker:RestAfter)";

    public required string Name { get; init; }

    /// <summary>32 hexadecimal digits.</summary>
    public required string Id { get; init; }

    public required string Kind { get; init; }

    public int Partitions { get; init; }

    /// <summary>How many nodes of a cluster keep a copy; absent for a topic without replicas.</summary>
    public int? Replicas { get; init; }

    /// <summary>The only partition whose offsets and damage are shown; absent when all are.</summary>
    public int? Partition { get; init; }

    public long RingBytes { get; init; }

    public long SegmentBytes { get; init; }

    public required string Retention { get; init; }

    public long RetentionBytes { get; init; }

    public double RetentionSeconds { get; init; }

    public required string AckLevel { get; init; }

    public required string ReadLevel { get; init; }

    public long MaxMessageBytes { get; init; }

    public required string SlowPolicy { get; init; }

    public double LockSeconds { get; init; }

    public int MaxDeliveries { get; init; }

    public double RetryDelaySeconds { get; init; }

    public double MaxRetryDelaySeconds { get; init; }

    public required string DeadLetterTopic { get; init; }

    /// <summary>How long ids of messages are remembered; 0 for not at all.</summary>
    public double DedupSeconds { get; init; }

    public int DedupMaxIds { get; init; }

    /// <summary>Whether names and ids are all users'; absent where each user has its own.</summary>
    public bool? SharedNames { get; init; }

    public DateTimeOffset CreateTime { get; init; }

    public required IReadOnlyList<long> StartOffsets { get; init; }

    public required IReadOnlyList<long> EndOffsets { get; init; }

    /// <summary>Messages appended a second; only in a list that measures.</summary>
    public double? ReceiveRate { get; init; }

    /// <summary>Messages sent a second; only in a list that measures.</summary>
    public double? SendRate { get; init; }

    /// <summary>The group with the largest lag; only in a list, absent when none lags.</summary>
    public string? WorstGroup { get; init; }

    /// <summary>Its lag; only in a list.</summary>
    public long? WorstGroupLag { get; init; }

    /// <summary>Messages in the topic's dead-letter topic; only in a list, absent where that may not be seen.</summary>
    public long? DeadLetters { get; init; }

    /// <summary>Why it takes no messages; absent when it does.</summary>
    public string? Failure { get; init; }

    /// <summary>What was found damaged; absent when nothing was.</summary>
    public IReadOnlyList<DamagedRange>? Damage { get; init; }

    /// <summary>The partitions that the broker does not serve; absent when it serves all.</summary>
    public IReadOnlyList<RefusedPartition>? RefusedPartitions { get; init; }

    public static TopicView From(TopicInfo info) =>
        new()
        {
            Name = info.Name,
            Id = info.Id,
            Kind = Lower(info.Spec.Kind),
            Partitions = info.Spec.Partitions,
            Replicas = info.Spec.Replicas > 1 ? info.Spec.Replicas : null,
            RingBytes = info.Spec.RingBytes,
            SegmentBytes = info.Spec.SegmentBytes,
            Retention = Lower(info.Spec.Retention),
            RetentionBytes = info.Spec.RetentionBytes ?? 0,
            RetentionSeconds = (info.Spec.RetentionAge ?? TimeSpan.Zero).TotalSeconds,
            AckLevel = Lower(info.Spec.AckLevel),
            ReadLevel = Lower(info.Spec.ReadLevel),
            MaxMessageBytes = info.Spec.MaxMessageBytes,
            SlowPolicy = ValueOptions.Hyphenated(info.Spec.SlowPolicy),
            LockSeconds = (info.Spec.LockDuration ?? TimeSpan.Zero).TotalSeconds,
            MaxDeliveries = info.Spec.MaxDeliveries ?? 0,
            RetryDelaySeconds = (info.Spec.RetryDelay ?? TimeSpan.Zero).TotalSeconds,
            MaxRetryDelaySeconds = (info.Spec.MaxRetryDelay ?? TimeSpan.Zero).TotalSeconds,
            DeadLetterTopic = info.Spec.DeadLetterTopic ?? info.Name + TopicName.DeadLetterSuffix,
            DedupSeconds = (info.Spec.DedupWindow ?? TimeSpan.Zero).TotalSeconds,
            DedupMaxIds = info.Spec.DedupMaxIds ?? 0,
            SharedNames = info.Spec.SharedNames == true ? true : null,
            CreateTime = info.CreateTime,
            StartOffsets = info.StartOffsets,
            EndOffsets = info.EndOffsets,
            Failure = info.Failure.Length == 0 ? null : info.Failure,
            Damage = info.Damage.Count == 0 ? null : info.Damage,
            RefusedPartitions = info.RefusedPartitions.Count == 0 ? null : info.RefusedPartitions,
        };

    /// <summary>The same with the offsets and the damage of one partition.</summary>
    public TopicView Of(int partition) =>
        partition < Partitions
            ? this with
            {
                Partition = partition,
                StartOffsets = [.. StartOffsets.Skip(partition).Take(1)],
                EndOffsets = [.. EndOffsets.Skip(partition).Take(1)],
                Damage = Damage?.Where(d => d.Partition == partition).ToArray() is { Length: > 0 } damage
                    ? damage
                    : null,
                RefusedPartitions = RefusedPartitions?.Where(r => r.Partition == partition).ToArray()
                    is { Length: > 0 } refused
                    ? refused
                    : null,
            }
            : throw new CommandException(
                ExitCode.Failed,
                $"{Name} has no partition {partition}; allowed: 0 to {Partitions - 1}."
            );

    /// <summary>Name and value of every field, for people.</summary>
    public IEnumerable<(string Name, string Value)> Rows()
    {
        yield return ("name", Name);
        yield return ("id", Id);
        yield return ("kind", Kind);
        yield return ("partitions", Partitions.ToString(CultureInfo.InvariantCulture));
        if (Replicas is { } replicas)
            yield return ("replicas", replicas.ToString(CultureInfo.InvariantCulture));
        yield return ("ring", Bytes(RingBytes));
        if (Kind == "durable")
        {
            yield return ("segment", Bytes(SegmentBytes));
            yield return ("retention", RetentionText());
            yield return ("read level", ReadLevel);
            yield return ("lock", Duration(LockSeconds));
            yield return (
                "deliveries",
                MaxDeliveries == 0 ? "without end" : $"{MaxDeliveries}, then to {DeadLetterTopic}"
            );
            yield return (
                "retry delay",
                $"{Duration(RetryDelaySeconds)}, doubling up to {Duration(MaxRetryDelaySeconds)}"
            );
        }
        else
        {
            yield return ("retention", $"in memory: gone when the broker stops, and {RestText}");
        }
        yield return ("ack level", AckLevel);
        yield return ("max message", Bytes(MaxMessageBytes));
        yield return ("slow policy", SlowPolicy);
        if (DedupSeconds != 0)
        {
            yield return (
                "deduplication",
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"ids remembered for {Duration(DedupSeconds)}, at most {DedupMaxIds:N0} a partition"
                )
            );
        }

        if (SharedNames == true)
            yield return ("producer names", "shared by all users, as message ids are");
        yield return ("created", CreateTime.ToString("u", CultureInfo.InvariantCulture));
        foreach (((long start, long end), int index) in StartOffsets.Zip(EndOffsets).Select((range, i) => (range, i)))
        {
            yield return (
                Partitions == 1 ? "offsets" : $"offsets of partition {Partition ?? index}",
                end < 0 ? "refused" : $"{start} to {end}"
            );
        }

        foreach (RefusedPartition refused in RefusedPartitions ?? [])
            yield return (Partitions == 1 ? "refused" : $"refused partition {refused.Partition}", refused.Reason);
        if (Failure is not null && RefusedPartitions is null)
            yield return ("failure", Failure);
        foreach (DamagedRange range in Damage ?? [])
        {
            yield return (
                "damage",
                $"offsets {range.FirstOffset} to "
                    + $"{range.LastOffset}{(Partitions == 1 ? "" : $" of partition {range.Partition}")} in "
                    + $"{range.File}: {range.Detail}"
            );
        }
    }

    private static string Lower<T>(T value)
        where T : struct, Enum => value.ToString().ToLowerInvariant();

    private static string Bytes(long bytes) => bytes.ToString("N0", CultureInfo.InvariantCulture) + " bytes";

    private static string Duration(double seconds) =>
        seconds >= SecondsOfDay && seconds % SecondsOfDay == 0
            ? string.Create(CultureInfo.InvariantCulture, $"{seconds / SecondsOfDay}d")
            : DurationText.Format(TimeSpan.FromSeconds(seconds));

    private string RetentionText()
    {
        string[] limits =
        [
            .. Retention == "settled" ? ["until all groups have settled a message"] : Array.Empty<string>(),
            .. RetentionBytes != 0 ? ["at most " + Bytes(RetentionBytes)] : Array.Empty<string>(),
            .. RetentionSeconds != 0 ? ["for " + Duration(RetentionSeconds)] : Array.Empty<string>(),
        ];
        string all = limits.Length == 0 ? "for ever" : string.Join(", ", limits);
        return limits.Length > 1 ? all + ", whichever removes first" : all;
    }
}
