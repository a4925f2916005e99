using System.Globalization;
using LightQ.Cli.Options;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Protocol;

namespace LightQ.Cli.Top;

/// <summary>Open subscriptions, the slowest first.</summary>
internal sealed class SubscribersView()
    : TopList<SubscriptionInfo>(
        "subscribers",
        "lag",
        new("topic", s => TopCell.Text(new TopicAddress(s.Topic, s.Partition).ToString())),
        new("group", s => TopCell.Text(s.Group.Length == 0 ? "-" : s.Group)),
        new("connection", s => TopCell.Text(s.ConnectionId.ToString(CultureInfo.InvariantCulture))),
        new("lag", s => TopCell.Number(s.Lag)),
        new("lost", s => TopCell.Number(s.Drops, s.Drops > 0 ? TopMark.Bad : TopMark.None)),
        new("kept", s => TopCell.Bytes(s.BacklogBytes)),
        new("credit", s => TopCell.Number(s.CreditBytes)),
        new("policy", s => TopCell.Text(ValueOptions.Hyphenated(s.SlowPolicy)))
    )
{
    protected override async Task<IReadOnlyList<SubscriptionInfo>> FetchAsync(
        LightQClient client,
        int? most,
        CancellationToken cancellationToken
    ) => await client.Stats.ListSubscriptionsAsync(null, cancellationToken);

    protected override TopReport ReportOf(SubscriptionInfo[] rows) =>
        new(Name, DateTimeOffset.UtcNow) { Subscribers = rows };
}
