using Grpc.Core;
using LightQ.Protocol.Control;

namespace LightQ.Server.Control;

/// <summary>
/// Reads the statistics of a topic from all nodes that lead its partitions, again and again; the rates are over the
/// time since the reading before.
/// </summary>
internal sealed class ClusterStatsReader(
    INodes nodes,
    UnaryServerMethod<GetTopicStatsRequest, GetTopicStatsResponse> local,
    WatchTopicStatsRequest watch,
    ServerCallContext context,
    TimeProvider time
)
{
    private readonly Forward<GetTopicStatsRequest, GetTopicStatsResponse> _forward = nodes.Find<
        GetTopicStatsRequest,
        GetTopicStatsResponse
    >("/lightq.control.v1.Stats/GetTopicStats")!;
    private TopicStats? _last;
    private long _lastRead;

    public async Task<TopicStats> ReadAsync()
    {
        var request = new GetTopicStatsRequest { Topic = watch.Topic };
        if (watch.HasPartition)
            request.Partition = watch.Partition;
        GetTopicStatsResponse response = await _forward.ServeAsync(request, context, local).ConfigureAwait(false);
        TopicStats stats = response.Stats;
        long now = time.GetTimestamp();
        double seconds = _last is null ? 0 : time.GetElapsedTime(_lastRead, now).TotalSeconds;
        if (seconds > 0)
        {
            stats.ReceiveRate = Rate(_last!.MessagesReceived, stats.MessagesReceived, seconds);
            stats.SendRate = Rate(_last.MessagesSent, stats.MessagesSent, seconds);
        }
        (_last, _lastRead) = (stats, now);
        return stats;
    }

    /// <summary>A partition that another node leads now is counted anew.</summary>
    private static double Rate(ulong before, ulong after, double seconds) =>
        after > before ? (after - before) / seconds : 0;
}
