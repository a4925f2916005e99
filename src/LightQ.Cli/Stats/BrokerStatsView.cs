using System.Globalization;
using LightQ.Client.Administration;

namespace LightQ.Cli.Stats;

/// <summary>The broker's figures as the tool shows them.</summary>
internal sealed record BrokerStatsView
{
    public required string Version { get; init; }

    public required string BrokerId { get; init; }

    public DateTimeOffset StartTime { get; init; }

    public int TopicsCount { get; init; }

    public int ConnectionsCount { get; init; }

    public int PublishersCount { get; init; }

    public int SubscribersCount { get; init; }

    public long MessagesReceived { get; init; }

    public long MessagesSent { get; init; }

    public long TotalBytesWritten { get; init; }

    public long TotalBytesRead { get; init; }

    public long ResidentBytes { get; init; }

    public int DataPort { get; init; }

    /// <summary>Whether a repair of the catalog is not confirmed; absent when there is nothing to confirm.</summary>
    public bool? CatalogUnconfirmed { get; init; }

    public static BrokerStatsView From(BrokerStats stats) =>
        new()
        {
            Version = stats.Version,
            BrokerId = stats.BrokerId,
            StartTime = stats.StartTime,
            TopicsCount = stats.TopicsCount,
            ConnectionsCount = stats.ConnectionsCount,
            PublishersCount = stats.PublishersCount,
            SubscribersCount = stats.SubscribersCount,
            MessagesReceived = stats.MessagesReceived,
            MessagesSent = stats.MessagesSent,
            TotalBytesWritten = stats.TotalBytesWritten,
            TotalBytesRead = stats.TotalBytesRead,
            ResidentBytes = stats.ResidentBytes,
            DataPort = stats.DataPort,
            CatalogUnconfirmed = stats.IsCatalogUnconfirmed ? true : null,
        };

    public IEnumerable<(string Name, string Value)> Rows() =>
        [
            ("version", Version),
            ("broker id", BrokerId),
            ("started", StartTime.ToString("u", CultureInfo.InvariantCulture)),
            ("topics", Number(TopicsCount)),
            ("connections", Number(ConnectionsCount)),
            ("publishers", Number(PublishersCount)),
            ("subscribers", Number(SubscribersCount)),
            ("messages received", Number(MessagesReceived)),
            ("messages sent", Number(MessagesSent)),
            ("bytes written", Number(TotalBytesWritten)),
            ("bytes read", Number(TotalBytesRead)),
            ("resident bytes", Number(ResidentBytes)),
            ("data port", DataPort.ToString(CultureInfo.InvariantCulture)),
            .. CatalogUnconfirmed is true
                ? [("catalog", "repaired and not confirmed: only admin may log in")]
                : Array.Empty<(string, string)>(),
        ];

    private static string Number(long value) => value.ToString("N0", CultureInfo.InvariantCulture);
}
