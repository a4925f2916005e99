using System.Globalization;
using LightQ.Cli.Output;
using LightQ.Client.Administration;
using LightQ.Protocol;

namespace LightQ.Cli.Stats;

/// <summary>A topic's figures as the tool shows them.</summary>
internal sealed record TopicStatsView
{
    private const string DealtWith = " (those dealt with included)";

    public required string Topic { get; init; }

    /// <summary>The partition that the figures are of; absent for the whole topic.</summary>
    public int? Partition { get; init; }

    public DateTimeOffset Time { get; init; }

    public long MessagesReceived { get; init; }

    public long MessagesSent { get; init; }

    public long MessagesSettled { get; init; }

    public int PublishersCount { get; init; }

    public int SubscribersCount { get; init; }

    public long QueueSize { get; init; }

    public long TotalBytesWritten { get; init; }

    public long TotalBytesRead { get; init; }

    public double ReceiveRate { get; init; }

    public double SendRate { get; init; }

    public long StartOffset { get; init; }

    public long EndOffset { get; init; }

    public long DurableOffset { get; init; }

    public long Gaps { get; init; }

    public long Drops { get; init; }

    public long StoredBytes { get; init; }

    public long DelayedMessages { get; init; }

    public int GroupsCount { get; init; }

    /// <summary>The group with the largest lag; absent when none lags.</summary>
    public string? WorstGroup { get; init; }

    public long WorstGroupLag { get; init; }

    /// <summary>
    /// Messages in the topic's dead-letter topic; absent where that may not be seen, and for a partition.
    /// </summary>
    public long? DeadLetters { get; init; }

    /// <summary>
    /// The group that keeps most of a topic whose messages go when all have settled them; absent when none does.
    /// </summary>
    public string? RetentionGroup { get; init; }

    public long RetentionMessages { get; init; }

    public long RememberedIds { get; init; }

    public long Duplicates { get; init; }

    public long ForgottenIds { get; init; }

    private string LettersText =>
        DeadLetters is { } letters ? $"{Number(letters)}{(letters == 0 ? "" : DealtWith)}" : "unknown";

    private string KeptFor => RetentionGroup is null ? "as there is no group" : $"for the group {RetentionGroup}";

    public static TopicStatsView From(TopicStats stats) =>
        new()
        {
            Topic = stats.Topic,
            Partition = stats.Partition,
            Time = stats.Time,
            MessagesReceived = stats.MessagesReceived,
            MessagesSent = stats.MessagesSent,
            MessagesSettled = stats.MessagesSettled,
            PublishersCount = stats.PublishersCount,
            SubscribersCount = stats.SubscribersCount,
            QueueSize = stats.QueueSize,
            TotalBytesWritten = stats.TotalBytesWritten,
            TotalBytesRead = stats.TotalBytesRead,
            ReceiveRate = stats.ReceiveRate,
            SendRate = stats.SendRate,
            StartOffset = stats.StartOffset,
            EndOffset = stats.EndOffset,
            DurableOffset = stats.DurableOffset,
            Gaps = stats.Gaps,
            Drops = stats.Drops,
            StoredBytes = stats.StoredBytes,
            DelayedMessages = stats.DelayedMessages,
            GroupsCount = stats.GroupsCount,
            WorstGroup = stats.WorstGroup.Length == 0 ? null : stats.WorstGroup,
            WorstGroupLag = stats.WorstGroupLag,
            DeadLetters = stats.DeadLetters,
            RetentionGroup = stats.RetentionGroup,
            RetentionMessages = stats.RetentionMessages,
            RememberedIds = stats.RememberedIds,
            Duplicates = stats.Duplicates,
            ForgottenIds = stats.ForgottenIds,
        };

    public IEnumerable<(string Name, string Value)> Rows() =>
        [
            ("topic", new TopicAddress(Topic, Partition).ToString()),
            ("messages received", Number(MessagesReceived)),
            ("messages sent", Number(MessagesSent)),
            ("messages settled", Number(MessagesSettled)),
            ("publishers", Number(PublishersCount)),
            ("subscribers", Number(SubscribersCount)),
            ("queue size", Number(QueueSize)),
            ("delayed", Number(DelayedMessages)),
            ("groups", Number(GroupsCount)),
            ("largest lag of a group", WorstGroup is null ? "0" : $"{Number(WorstGroupLag)} ({WorstGroup})"),
            ("dead letters", LettersText),
            ("ids remembered", Number(RememberedIds)),
            ("duplicates", Number(Duplicates)),
            ("ids forgotten early", Number(ForgottenIds)),
            ("bytes written", Number(TotalBytesWritten)),
            ("bytes read", Number(TotalBytesRead)),
            ("offsets", $"{StartOffset} to {EndOffset}"),
            ("durable up to", Number(DurableOffset)),
            ("gaps", Number(Gaps)),
            ("drops", Number(Drops)),
            ("bytes stored", Number(StoredBytes)),
            .. RetentionMessages == 0
                ? []
                : new[] { ("kept", $"{Plural.Of(RetentionMessages, "message")}, {KeptFor}") },
        ];

    private static string Number(long value) => value.ToString("N0", CultureInfo.InvariantCulture);
}
