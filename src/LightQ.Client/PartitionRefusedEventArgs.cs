namespace LightQ.Client;

/// <summary>
/// A partition of a consumed topic that the broker does not serve: the consumer gets none of its messages, and so no
/// message with one of its keys.
/// </summary>
public sealed class PartitionRefusedEventArgs : EventArgs
{
    /// <summary>Creates the event's data.</summary>
    /// <param name="topic">The topic.</param>
    /// <param name="partition">The partition.</param>
    /// <param name="group">The group, or null.</param>
    /// <param name="reason">The broker's reason.</param>
    public PartitionRefusedEventArgs(string topic, int partition, string? group, LightQException reason)
    {
        Topic = topic;
        Partition = partition;
        Group = group;
        Reason = reason;
    }

    /// <summary>The topic's name.</summary>
    public string Topic { get; }

    /// <summary>The partition.</summary>
    public int Partition { get; }

    /// <summary>The group of the consumer; null for none.</summary>
    public string? Group { get; }

    /// <summary>The broker's reason; for damage it names the range of offsets.</summary>
    public LightQException Reason { get; }
}
