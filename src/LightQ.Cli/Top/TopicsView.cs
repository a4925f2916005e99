using LightQ.Client;
using LightQ.Client.Administration;

namespace LightQ.Cli.Top;

/// <summary>Topics: how much goes through them, and what waits.</summary>
internal sealed class TopicsView()
    : TopList<TopTopic>(
        "topics",
        "in",
        new("topic", t => TopCell.Text(t.Topic)),
        new("in", t => TopCell.Number(t.ReceiveRate)),
        new("out", t => TopCell.Number(t.SendRate)),
        new("backlog", t => TopCell.Number(t.QueueSize)),
        new("lag", t => TopCell.Number(t.WorstGroupLag)),
        new("letters", t => TopCell.Number(t.DeadLetters, t.DeadLetters > 0 ? TopMark.Warning : TopMark.None)),
        new("bytes-in", t => TopCell.Bytes(t.ReceiveBytesRate)),
        new("bytes-out", t => TopCell.Bytes(t.SendBytesRate)),
        new("stored", t => TopCell.Bytes(t.StoredBytes)),
        new("pubs", t => TopCell.Number(t.PublishersCount)),
        new("subs", t => TopCell.Number(t.SubscribersCount)),
        new("slowest-group", t => TopCell.Text(t.WorstGroup ?? "-"))
    )
{
    private readonly Rates<string> _rates = new();

    public override bool HasRates => true;

    protected override bool IsOrderOfBroker(TopOrder order) => order is { Column: "topic", IsReversed: false };

    protected override async Task<IReadOnlyList<TopTopic>> FetchAsync(
        LightQClient client,
        int? most,
        CancellationToken cancellationToken
    )
    {
        var topics = new List<TopTopic>();
        // Pages are asked for one by one: those behind the wanted rows never are.
        await foreach (TopicStats stats in client.Stats.ListTopicsAsync(cancellationToken))
        {
            topics.Add(RowOf(stats));
            if (topics.Count == most)
                break;
        }
        _rates.EndReading();
        return topics;
    }

    protected override TopReport ReportOf(TopTopic[] rows) => new(Name, DateTimeOffset.UtcNow) { Topics = rows };

    private TopTopic RowOf(TopicStats stats)
    {
        double?[] rates = _rates.Of(
            stats.Topic,
            stats.Time,
            stats.MessagesReceived,
            stats.MessagesSent,
            stats.TotalBytesWritten,
            stats.TotalBytesRead
        );
        return new TopTopic(stats.Topic, rates[0], rates[1], rates[2], rates[3])
        {
            QueueSize = stats.QueueSize,
            WorstGroup = stats.WorstGroup.Length == 0 ? null : stats.WorstGroup,
            WorstGroupLag = stats.WorstGroupLag,
            DeadLetters = stats.DeadLetters,
            StoredBytes = stats.StoredBytes,
            PublishersCount = stats.PublishersCount,
            SubscribersCount = stats.SubscribersCount,
        };
    }
}
