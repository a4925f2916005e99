using System.Globalization;
using System.Security.Cryptography.X509Certificates;
using LightQ.Broker;
using LightQ.Broker.Logs;
using LightQ.Broker.Topics;
using LightQ.Server.Configuration;
using LightQ.Server.Control;
using LightQ.Server.Hosting;
using LightQ.Server.Limits;

namespace LightQ.Server.Web;

/// <summary>The metrics of a broker and of the process around it.</summary>
internal static class MetricsPage
{
    private static readonly (string Name, string Help, Func<TopicFigures, double> Value)[] TopicCounters =
    [
        ("lightq_topic_messages_received_total", "Messages appended.", f => f.MessagesReceived),
        ("lightq_topic_messages_sent_total", "Messages sent to subscribers, each copy counted.", f => f.MessagesSent),
        ("lightq_topic_messages_settled_total", "Messages settled by subscribers with explicit settlement, each copy counted.", f => f.MessagesSettled),
        ("lightq_topic_received_bytes_total", "Bytes of batches appended.", f => f.BytesWritten),
        ("lightq_topic_sent_bytes_total", "Bytes of batches sent to subscribers.", f => f.BytesRead),
        ("lightq_topic_gaps_total", "Gaps sent to subscribers.", f => f.Gaps),
        ("lightq_topic_dropped_messages_total", "Messages lost to subscribers that were too slow.", f => f.Drops),
        ("lightq_topic_duplicates_total", "Messages that were not stored, because their ids were remembered.", f => f.Duplicates),
    ];

    private static readonly (string Name, string Help, Func<TopicFigures, double> Value)[] TopicGauges =
    [
        ("lightq_topic_producers", "Open producer streams.", f => f.Publishers),
        ("lightq_topic_subscriptions", "Open subscriptions, group members included.", f => f.Subscribers),
        ("lightq_topic_lag_messages", "Messages that the slowest open subscription has not been sent; 0 with none, whatever waits for groups: see lightq_group_lag_messages.", f => f.QueueSize),
        ("lightq_topic_delayed_messages", "Messages that were published with a due time and are not due yet.", f => f.DelayedMessages),
        ("lightq_topic_remembered_ids", "Ids of messages that are remembered.", f => f.RememberedIds),
        ("lightq_topic_stored_bytes", "Bytes the topic occupies in memory or on disk.", f => f.StoredBytes),
        ("lightq_topic_start_offset", "The first offset held; of several partitions, the sum.", f => f.StartOffset),
        ("lightq_topic_end_offset", "One behind the last offset appended; of several partitions, the sum.", f => f.EndOffset),
        ("lightq_topic_durable_offset", "One behind the last offset that survives a power cut; of several partitions, the sum.", f => f.DurableOffset),
    ];

    private static readonly (string Name, string Help, Func<ITopicLog, long> Value)[] PartitionGauges =
    [
        ("lightq_partition_start_offset", "The first offset that a partition holds, of topics with several.", l => l.StartOffset),
        ("lightq_partition_end_offset", "One behind the last offset appended to a partition, of topics with several.", l => l.EndOffset),
        ("lightq_partition_durable_offset", "One behind the last offset of a partition that survives a power cut, of topics with several.", l => l.DurableOffset),
    ];

    /// <summary>Writes everything.</summary>
    /// <param name="broker">The broker.</param>
    /// <param name="visible">The topics that are told of, by name.</param>
    /// <param name="groups">Their groups.</param>
    /// <param name="sees">Whether who asks may know of a topic.</param>
    /// <param name="limits">What was refused.</param>
    /// <param name="connections">Open data-plane connections.</param>
    /// <param name="ready">Whether the server takes work.</param>
    /// <param name="degradation">What the disk refuses.</param>
    /// <param name="certificate">The server's; null for none.</param>
    public static string Write(
        LightQBroker broker, IReadOnlyList<Topic> visible, GroupMetrics groups, Func<string, bool> sees, ServerLimits limits, int connections, bool ready, Degradation degradation, X509Certificate2? certificate)
    {
        var writer = new PrometheusWriter();
        (Topic Topic, TopicFigures Figures)[] topics = [.. visible.Select(t => (t, TopicFigures.Of(t)))];
        writer.Gauge("lightq_build_info", "Always 1; the label has the version.").Sample(1, "version", ServerVersion.Text);
        writer.Gauge("lightq_ready", "1 while the broker takes work.").Sample(ready ? 1 : 0);
        writer.Gauge("lightq_catalog_unconfirmed", "1 while nobody but admin may log in, because a repair of the catalog is not confirmed.").Sample(degradation.IsLimitedToAdmin ? 1 : 0);
        writer.Gauge("lightq_start_time_seconds", "When the broker started, in seconds since 1970.").Sample(broker.Started.ToUnixTimeMilliseconds() / 1000.0);
        if (certificate is not null)
            writer.Gauge("lightq_tls_certificate_end_seconds", "When the certificate in force ends, in seconds since 1970; only with TLS.").Sample(new DateTimeOffset(certificate.NotAfter).ToUnixTimeSeconds());
        writer.Gauge("lightq_connections", "Open data-plane connections.").Sample(connections);
        writer.Counter("lightq_limit_refusals_total", "What was refused because a limit was met, by the setting that is the limit.");
        foreach (ServerSetting setting in ServerSettings.All.Where(s => s.IsLimit))
            writer.Sample(limits.Refusals[setting.Key], "limit", setting.Key);
        writer.Counter("lightq_accept_failures_total", "Tries to accept a connection that failed, most likely for want of descriptors.").Sample(limits.AcceptFailures);
        WriteDisk(writer, broker, degradation);
        writer.Gauge("lightq_pending_bytes", "Bytes of batches that wait in memory because their topics are full.").Sample(broker.PendingBytes);
        writer.Gauge("lightq_topics", "Topics.").Sample(topics.Length);
        foreach ((string name, string help, Func<TopicFigures, double> value) in TopicCounters)
            WriteTopics(writer.Counter(name, help), topics, value);
        foreach ((string name, string help, Func<TopicFigures, double> value) in TopicGauges)
            WriteTopics(writer.Gauge(name, help), topics, value);
        WritePartitions(writer, topics);
        WriteStates(writer, topics);
        writer.Gauge("lightq_topic_dead_letters", "Messages that the dead-letter topic of a topic holds; absent for who may not see that topic.");
        foreach (Topic topic in visible)
        {
            if (TopicBacklog.DeadLettersOf(broker, topic, sees) is { } letters)
                writer.Sample(letters, "topic", topic.Name);
        }
        groups.Write(writer);
        WriteRetention(writer, broker, topics);
        writer.Gauge("lightq_spilled_bytes", "Bytes of backlogs that slow subscriptions spill, in memory and on disk.").Sample(broker.SpilledBytes);
        writer.Gauge("lightq_backlog_memory_bytes", "Bytes of memory for what slow subscriptions keep outside their rings.").Sample(broker.BacklogMemoryBytes);
        writer.Counter("lightq_scrubbed_bytes_total", "Bytes of durable topics that were read again to find damage.").Sample(broker.ScrubbedBytes);
        writer.Counter("lightq_scrub_passes_total", "Complete passes of that over everything.").Sample(broker.ScrubPasses);
        WriteProcess(writer);
        return writer.ToString();
    }

    /// <summary>What is wrong with topics.</summary>
    private static void WriteStates(PrometheusWriter writer, (Topic Topic, TopicFigures Figures)[] topics)
    {
        writer.Gauge("lightq_topic_failed", "1 for a topic that takes no messages, or not on each of its partitions, because a journal failed.");
        foreach ((Topic topic, _) in topics)
            writer.Sample(topic.Failure.Length == 0 ? 0 : 1, "topic", topic.Name);
        writer.Gauge("lightq_topic_disk_full", "1 for a topic that takes no messages for want of space.");
        foreach ((Topic topic, _) in topics)
            writer.Sample(topic.IsDiskFull ? 1 : 0, "topic", topic.Name);
        writer.Gauge("lightq_topic_damaged_ranges", "Ranges of offsets that were found damaged since the broker started, and are not past retention.");
        foreach ((Topic topic, _) in topics)
            writer.Sample(topic.Damage.Count(), "topic", topic.Name);
        writer.Gauge("lightq_topic_damaged_bytes", "Bytes of these ranges.");
        foreach ((Topic topic, _) in topics)
            writer.Sample(topic.Damage.Sum(d => d.Damage.Bytes), "topic", topic.Name);
    }

    /// <summary>What has no limit, and who keeps most of what waits for all groups: at most one sample a topic.</summary>
    private static void WriteRetention(PrometheusWriter writer, LightQBroker broker, (Topic Topic, TopicFigures Figures)[] topics)
    {
        writer.Gauge("lightq_topic_unlimited", "1 for a durable topic that keeps messages for ever: it grows as long as it is published to.");
        foreach ((Topic topic, _) in topics.Where(t => t.Topic.Settings.Kind == TopicKind.Durable))
            writer.Sample(topic.Settings.IsUnlimited ? 1 : 0, "topic", topic.Name);
        writer.Gauge("lightq_topic_retention_messages", "Messages of a topic with retention until all groups have settled, kept for the group that keeps most; no group where there is none.");
        foreach ((Topic topic, _) in topics)
        {
            if (broker.Groups.FindRetentionHold(topic) is (var hold, var messages))
                writer.Sample(messages, "topic", topic.Name, "group", hold.Group);
        }
    }

    private static void WriteDisk(PrometheusWriter writer, LightQBroker broker, Degradation degradation)
    {
        writer.Gauge("lightq_disk_free_bytes", "Bytes that the disk under the data directory still takes.").Sample(broker.FreeBytes);
        writer.Gauge("lightq_catalog_failed", "1 while the catalog cannot be stored: a restart may undo what was changed of topics, users and rights.")
            .Sample(broker.FailureOf(StoredState.Catalog) is null ? 0 : 1);
        writer.Gauge("lightq_positions_failed", "1 while the positions of groups cannot be stored: what they settle comes again after an unclean stop.")
            .Sample(broker.FailureOf(StoredState.Positions) is null ? 0 : 1);
        if (degradation.IsAuditFailing is { } isFailing)
            writer.Gauge("lightq_audit_failed", "1 while the audit log cannot be written.").Sample(isFailing ? 1 : 0);
    }

    /// <summary>The offsets by partition, where they are not the topic's.</summary>
    private static void WritePartitions(PrometheusWriter writer, (Topic Topic, TopicFigures Figures)[] topics)
    {
        Partition[] partitions = [.. topics.Where(t => t.Topic.Partitions.Length > 1).SelectMany(t => t.Topic.Partitions)];
        foreach ((string name, string help, Func<ITopicLog, long> value) in PartitionGauges)
        {
            writer.Gauge(name, help);
            foreach (Partition partition in partitions.Where(p => p.Refusal is null))
                WritePartition(writer, partition, value(partition.Log));
        }
        writer.Gauge("lightq_partition_failed", "1 for a partition that takes no messages because its journal failed or could not be opened, of topics with several.");
        foreach (Partition partition in partitions)
            WritePartition(writer, partition, partition.Log.Failure is null ? 0 : 1);
    }

    private static void WritePartition(PrometheusWriter writer, Partition partition, double value) =>
        writer.Sample(value, "topic", partition.Topic.Name, "partition", partition.Index.ToString(CultureInfo.InvariantCulture));

    private static void WriteTopics(PrometheusWriter writer, (Topic Topic, TopicFigures Figures)[] topics, Func<TopicFigures, double> value)
    {
        foreach ((Topic topic, TopicFigures figures) in topics)
            writer.Sample(value(figures), "topic", topic.Name);
    }

    private static void WriteProcess(PrometheusWriter writer)
    {
        GCMemoryInfo memory = GC.GetGCMemoryInfo();
        writer.Gauge("process_resident_memory_bytes", "Resident memory of the process.").Sample(Environment.WorkingSet);
        writer.Counter("process_cpu_seconds_total", "User and system time of the process.").Sample(Environment.CpuUsage.TotalTime.TotalSeconds);
        writer.Gauge("dotnet_gc_heap_bytes", "Bytes of the managed heap after the last collection.").Sample(memory.HeapSizeBytes);
        writer.Counter("dotnet_gc_allocated_bytes_total", "Bytes allocated on the managed heap.").Sample(GC.GetTotalAllocatedBytes());
        writer.Counter("dotnet_gc_pause_seconds_total", "Time that collections stopped the process.").Sample(GC.GetTotalPauseDuration().TotalSeconds);
        writer.Counter("dotnet_gc_collections_total", "Collections, by generation.");
        for (int generation = 0; generation <= GC.MaxGeneration; generation++)
            writer.Sample(GC.CollectionCount(generation), "generation", generation.ToString(CultureInfo.InvariantCulture));
    }
}
