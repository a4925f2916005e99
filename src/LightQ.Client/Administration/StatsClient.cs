using System.Runtime.CompilerServices;
using Google.Protobuf.WellKnownTypes;
using Grpc.Core;
using LightQ.Protocol;
using LightQ.Protocol.Control;
using WireTopicStats = LightQ.Protocol.Control.TopicStats;

namespace LightQ.Client.Administration;

/// <summary>Reads the figures of topics and of the broker. Reached by <see cref="LightQClient.Stats"/>.</summary>
/// <remarks>
/// Thread-safe. Uses the control plane (gRPC), which has its own connection, independent of publishing and consuming.
/// </remarks>
public sealed class StatsClient
{
    private const uint LargestPage = 1000;

    private readonly Protocol.Control.Stats.StatsClient _calls;

    internal StatsClient(ControlChannel channel) => _calls = new Protocol.Control.Stats.StatsClient(channel.Calls);

    /// <summary>A topic's current figures.</summary>
    /// <param name="topic">The topic's name; <c>orders/3</c> names one of its partitions.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="LightQException">
    /// <see cref="ErrorCode.UnknownTopic"/>, <see cref="ErrorCode.UnknownPartition"/>, or the broker cannot be reached.
    /// </exception>
    public async Task<TopicStats> GetTopicAsync(string topic, CancellationToken cancellationToken = default)
    {
        TopicAddress address = AddressArgument.Parse(topic);
        var request = new GetTopicStatsRequest { Topic = address.Topic };
        if (address.Partition is { } partition)
            request.Partition = (uint)partition;
        return ToStats(
            (await _calls.GetTopicStatsAsync(request, cancellationToken: cancellationToken).ConfigureAwait(false)).Stats
        );
    }

    /// <summary>
    /// A topic's figures at intervals, with rates: the first at once, then one each interval, until you stop or the
    /// topic is deleted.
    /// </summary>
    /// <param name="topic">The topic's name; <c>orders/3</c> names one of its partitions.</param>
    /// <param name="interval">100 ms to 1 h; null for 1 s.</param>
    /// <param name="cancellationToken">Ends the enumeration.</param>
    /// <exception cref="LightQException">
    /// From the enumeration: <see cref="ErrorCode.UnknownTopic"/>, or the broker cannot be reached.
    /// </exception>
    public async IAsyncEnumerable<TopicStats> WatchAsync(
        string topic,
        TimeSpan? interval = null,
        [EnumeratorCancellation] CancellationToken cancellationToken = default
    )
    {
        TopicAddress address = AddressArgument.Parse(topic);
        var request = new WatchTopicStatsRequest
        {
            Topic = address.Topic,
            Interval = interval is { } time ? Duration.FromTimeSpan(time) : null,
        };
        if (address.Partition is { } partition)
            request.Partition = (uint)partition;
        using AsyncServerStreamingCall<WatchTopicStatsResponse> call = _calls.WatchTopicStats(
            request,
            cancellationToken: cancellationToken
        );
        await foreach (
            WatchTopicStatsResponse response in call
                .ResponseStream.ReadAllAsync(cancellationToken)
                .ConfigureAwait(false)
        )
        {
            yield return ToStats(response.Stats);
        }
    }

    /// <summary>
    /// The figures of all topics in the order of their names, without rates, fetched a page at a time while you
    /// enumerate.
    /// </summary>
    /// <param name="cancellationToken">Ends the enumeration.</param>
    /// <exception cref="LightQException">
    /// From the enumeration: a right is missing, or the broker cannot be reached.
    /// </exception>
    public async IAsyncEnumerable<TopicStats> ListTopicsAsync(
        [EnumeratorCancellation] CancellationToken cancellationToken = default
    )
    {
        string pageToken = "";
        do
        {
            // The first page is small: a caller that stops early wants no more. What follows is for a caller of all.
            uint pageSize = pageToken.Length == 0 ? 0u : LargestPage;
            ListTopicStatsResponse page = await _calls
                .ListTopicStatsAsync(
                    new ListTopicStatsRequest { PageToken = pageToken, PageSize = pageSize },
                    cancellationToken: cancellationToken
                )
                .ConfigureAwait(false);
            foreach (WireTopicStats stats in page.Stats)
                yield return ToStats(stats);
            pageToken = page.NextPageToken;
        } while (pageToken.Length > 0);
    }

    /// <summary>The current figures of the broker as a whole.</summary>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="LightQException">A right is missing, or the broker cannot be reached.</exception>
    public async Task<BrokerStats> GetBrokerAsync(CancellationToken cancellationToken = default)
    {
        GetBrokerStatsResponse stats = await _calls
            .GetBrokerStatsAsync(new GetBrokerStatsRequest(), cancellationToken: cancellationToken)
            .ConfigureAwait(false);
        return ToStats(stats);
    }

    /// <summary>
    /// The figures of the broker as a whole at intervals: the first at once, then one each interval, until you stop.
    /// </summary>
    /// <param name="interval">500 ms to 1 h; null for 2 s.</param>
    /// <param name="cancellationToken">Ends the enumeration.</param>
    /// <exception cref="LightQException">
    /// From the enumeration: the login is no longer valid, or the broker cannot be reached.
    /// </exception>
    public async IAsyncEnumerable<BrokerStats> WatchBrokerAsync(
        TimeSpan? interval = null,
        [EnumeratorCancellation] CancellationToken cancellationToken = default
    )
    {
        var request = new WatchBrokerStatsRequest
        {
            Interval = interval is { } time ? Duration.FromTimeSpan(time) : null,
        };
        using AsyncServerStreamingCall<WatchBrokerStatsResponse> call = _calls.WatchBrokerStats(
            request,
            cancellationToken: cancellationToken
        );
        await foreach (
            WatchBrokerStatsResponse response in call
                .ResponseStream.ReadAllAsync(cancellationToken)
                .ConfigureAwait(false)
        )
        {
            yield return ToStats(response.Broker);
        }
    }

    /// <summary>The broker's data-plane connections, oldest first.</summary>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="LightQException">A right is missing, or the broker cannot be reached.</exception>
    public async Task<IReadOnlyList<ConnectionInfo>> ListConnectionsAsync(CancellationToken cancellationToken = default)
    {
        ListConnectionsResponse response = await _calls
            .ListConnectionsAsync(new ListConnectionsRequest(), cancellationToken: cancellationToken)
            .ConfigureAwait(false);
        return
        [
            .. response.Connections.Select(c => new ConnectionInfo(
                c.Id,
                c.ClientName,
                c.RemoteAddress,
                TopicMapping.ToTime(c.ConnectTime),
                (int)c.PublishersCount,
                (int)c.SubscribersCount
            )
            {
                ClockSkew = c.ClockSkew?.ToTimeSpan(),
            }),
        ];
    }

    /// <summary>Open subscriptions, by connection.</summary>
    /// <param name="topic">Only the subscriptions of this topic; null for all.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="LightQException">A right is missing, or the broker cannot be reached.</exception>
    public async Task<IReadOnlyList<SubscriptionInfo>> ListSubscriptionsAsync(
        string? topic = null,
        CancellationToken cancellationToken = default
    )
    {
        var request = new ListSubscriptionsRequest { Topic = topic ?? "" };
        ListSubscriptionsResponse response = await _calls
            .ListSubscriptionsAsync(request, cancellationToken: cancellationToken)
            .ConfigureAwait(false);
        return
        [
            .. response.Subscriptions.Select(s => new SubscriptionInfo(
                s.ConnectionId,
                s.Stream,
                s.Topic,
                s.Group,
                s.NextOffset,
                (long)s.Lag,
                s.CreditBytes,
                (int)s.Partition,
                (SlowPolicy)s.SlowConsumerPolicy,
                (long)s.Drops,
                (long)s.BacklogBytes
            )),
        ];
    }

    private static BrokerStats ToStats(GetBrokerStatsResponse stats) =>
        new()
        {
            Version = stats.Version,
            BrokerId = stats.BrokerId,
            StartTime = TopicMapping.ToTime(stats.StartTime),
            TopicsCount = (int)stats.TopicsCount,
            ConnectionsCount = (int)stats.ConnectionsCount,
            PublishersCount = (int)stats.PublishersCount,
            SubscribersCount = (int)stats.SubscribersCount,
            MessagesReceived = (long)stats.MessagesReceived,
            MessagesSent = (long)stats.MessagesSent,
            TotalBytesWritten = (long)stats.TotalBytesWritten,
            TotalBytesRead = (long)stats.TotalBytesRead,
            ResidentBytes = (long)stats.ResidentBytes,
            DataPort = (int)stats.DataPort,
            IsCatalogUnconfirmed = stats.CatalogUnconfirmed,
            Time = stats.Time is { } read ? TopicMapping.ToTime(read) : DateTimeOffset.UtcNow,
            Syncs = (long)stats.Syncs,
            SyncTime = stats.SyncTime?.ToTimeSpan() ?? TimeSpan.Zero,
            SyncTimeP50 = stats.SyncTimeP50?.ToTimeSpan(),
            SyncTimeP99 = stats.SyncTimeP99?.ToTimeSpan(),
            DiskFreeBytes = (long)stats.DiskFreeBytes,
            DiskUsedBytes = (long)stats.DiskUsedBytes,
            Health = stats.Health,
            ClockStep = stats.ClockStep?.ToTimeSpan(),
        };

    private static TopicStats ToStats(WireTopicStats stats) =>
        new()
        {
            Topic = stats.Topic,
            Partition = stats.HasPartition ? (int)stats.Partition : null,
            Time = TopicMapping.ToTime(stats.Time),
            MessagesReceived = (long)stats.MessagesReceived,
            MessagesSent = (long)stats.MessagesSent,
            MessagesSettled = (long)stats.MessagesSettled,
            PublishersCount = (int)stats.PublishersCount,
            SubscribersCount = (int)stats.SubscribersCount,
            QueueSize = (long)stats.QueueSize,
            TotalBytesWritten = (long)stats.TotalBytesWritten,
            TotalBytesRead = (long)stats.TotalBytesRead,
            ReceiveRate = stats.ReceiveRate,
            SendRate = stats.SendRate,
            StartOffset = stats.StartOffset,
            EndOffset = stats.EndOffset,
            DurableOffset = stats.DurableOffset,
            Gaps = (long)stats.Gaps,
            Drops = (long)stats.Drops,
            StoredBytes = (long)stats.StoredBytes,
            DelayedMessages = (long)stats.DelayedMessages,
            GroupsCount = (int)stats.GroupsCount,
            WorstGroup = stats.WorstGroup,
            WorstGroupLag = (long)stats.WorstGroupLag,
            DeadLetters = stats.HasDeadLetters ? (long)stats.DeadLetters : null,
            RetentionGroup = stats.RetentionGroup.Length == 0 ? null : stats.RetentionGroup,
            RetentionMessages = (long)stats.RetentionMessages,
            RememberedIds = (long)stats.RememberedIds,
            Duplicates = (long)stats.Duplicates,
            ForgottenIds = (long)stats.ForgottenIds,
        };
}
