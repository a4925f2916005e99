namespace LightQ.Broker.Replication;

/// <summary>What a broker needs for topics with replicas.</summary>
internal sealed record ReplicationOptions
{
    /// <summary>Keeps their streams. The broker does not dispose it.</summary>
    public required IReplicationEngine Engine { get; init; }

    /// <summary>The cluster's name: brokers of one name share their streams.</summary>
    public required string Cluster { get; init; }

    /// <summary>This broker's name within it.</summary>
    public required string Node { get; init; }

    /// <summary>
    /// Whether topics with replicas are made only while the engine syncs before it acknowledges. Default: false.
    /// </summary>
    public bool RequireSync { get; init; }

    /// <summary>Demands that the engine syncs before it acknowledges, if it must.</summary>
    /// <exception cref="BrokerException">It does not: <see cref="ErrorCode.NotSupported"/>.</exception>
    public async Task DemandSyncAsync(uint replicas, CancellationToken cancellationToken)
    {
        if (RequireSync && await Engine.FindUnsyncedAsync(cancellationToken).ConfigureAwait(false) is { } reason)
        {
            throw new BrokerException(
                ErrorCode.NotSupported,
                $"replicas {replicas} needs servers that sync before they acknowledge, and {reason}. Set "
                    + "'sync_interval: always' in the jetstream block of every nats-server and Cluster:Monitoring to "
                    + "the monitoring ports of all of them; or set Cluster:RequireSync to false: then a power cut of "
                    + "all servers may lose up to 2 minutes of what was acknowledged. See docs/operate/cluster.md."
            );
        }
    }

    /// <summary>Demands that the engine stores batches of a topic's limit.</summary>
    /// <exception cref="ReplicationException">It does not.</exception>
    public void Demand(int maxBatchBytes)
    {
        if (maxBatchBytes > Engine.MaxEntryBytes)
        {
            throw new ReplicationException(
                $"{Engine.Description} takes entries of at most {Engine.MaxEntryBytes} bytes, and the topic has "
                    + $"batches of up to {maxBatchBytes}: raise max_payload of its servers, or lower max_message_bytes."
            );
        }
    }

    /// <summary>The stream of a partition.</summary>
    public string StreamOf(Guid topicId, uint partition) => $"LQ_{Cluster}_{topicId:N}_{partition}";
}
