namespace LightQ.Client;

/// <summary>
/// A partition of a consumed topic that the broker does not serve: none of its messages come, and so none of its keys.
/// </summary>
public sealed class PartitionRefusedEventArgs : EventArgs
{
    /// <summary>Makes the event's data.</summary>
    /// <param name="topic">The topic.</param>
    /// <param name="partition">The partition.</param>
    /// <param name="group">The group, or null.</param>
    /// <param name="reason">What the broker says.</param>
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

    /// <summary>The group that is consumed in; null for none.</summary>
    public string? Group { get; }

    /// <summary>What the broker says: of damage with the range of offsets.</summary>
    public LightQException Reason { get; }
}
