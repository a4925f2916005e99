using Google.Protobuf.WellKnownTypes;
using LightQ.Broker;
using LightQ.Protocol.Control;
using LightQ.Server.Configuration;
using LightQ.Server.Connections;
using LightQ.Server.Security;
using LightQ.Server.Telemetry;
using LightQ.Storage;
using Topic = LightQ.Broker.Topics.Topic;
using TopicKind = LightQ.Broker.Topics.TopicKind;

namespace LightQ.Server.Control;

/// <summary>Reads the figures of the broker as a whole, with those of the topics that a caller may see.</summary>
internal sealed class BrokerStatsReader(
    LightQBroker broker,
    ConnectionListener listener,
    ClientDirectory clients,
    LimitRefusals refusals,
    AccessControl access,
    Readiness readiness,
    Degradation degradation,
    TimeProvider time
)
{
    /// <summary>Reads.</summary>
    /// <param name="principal">The caller.</param>
    /// <param name="syncs">
    /// The syncs of the reading before, whose percentiles are left out; null for all since the start. Those of this
    /// reading afterwards.
    /// </param>
    public GetBrokerStatsResponse Read(Principal principal, ref SyncDurations? syncs)
    {
        SyncDurations all = broker.SyncDurations;
        SyncDurations recent = syncs is null ? all : all.Since(syncs);
        syncs = all;
        var response = new GetBrokerStatsResponse
        {
            Version = ServerVersion.Text,
            BrokerId = broker.Id.ToString("N"),
            StartTime = broker.Started.ToTimestamp(),
            ConnectionsCount = (uint)clients.Count,
            ResidentBytes = (ulong)Environment.WorkingSet,
            DataPort = (uint)listener.EndPoint.Port,
            CatalogUnconfirmed = access.IsLimitedToAdmin,
            Time = time.GetUtcNow().ToTimestamp(),
            Syncs = (ulong)broker.Syncs,
            SyncTime = broker.SyncTime.ToDuration(),
            SyncTimeP50 = recent.Percentile(0.5)?.ToDuration(),
            SyncTimeP99 = recent.Percentile(0.99)?.ToDuration(),
            DiskFreeBytes = (ulong)broker.FreeBytes,
            ClockStep = broker.Clock.Step?.By.ToDuration(),
            Health = readiness.NotReadyReason ?? degradation.Line(),
        };
        foreach (ServerSetting limit in ServerSettings.All.Where(s => s.IsLimit && refusals[s.Key] != 0))
            response.LimitRefusals[limit.Key] = (ulong)refusals[limit.Key];
        foreach (Topic topic in broker.Topics.Where(t => access.Sees(principal, t.Name)))
            Add(response, topic);
        return response;
    }

    private static void Add(GetBrokerStatsResponse response, Topic topic)
    {
        var figures = TopicFigures.Of(topic);
        response.TopicsCount++;
        response.PublishersCount += figures.Publishers;
        response.SubscribersCount += figures.Subscribers;
        response.MessagesReceived += figures.MessagesReceived;
        response.MessagesSent += figures.MessagesSent;
        response.TotalBytesWritten += figures.BytesWritten;
        response.TotalBytesRead += figures.BytesRead;
        if (topic.Settings.Kind == TopicKind.Durable)
            response.DiskUsedBytes += figures.StoredBytes;
    }
}
