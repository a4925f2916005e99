namespace LightQ.Client;

/// <summary>A subscription that the broker has ended because it was slower than its policy allows.</summary>
public sealed class SlowConsumerEventArgs : EventArgs
{
    /// <summary>Creates the event's data.</summary>
    /// <param name="topic">The topic.</param>
    /// <param name="partition">The partition.</param>
    /// <param name="group">The group, or null.</param>
    /// <param name="reason">The broker's reason.</param>
    public SlowConsumerEventArgs(string topic, int partition, string? group, LightQException reason)
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

    /// <summary>The group that the subscription was a member of; null for none.</summary>
    public string? Group { get; }

    /// <summary>
    /// The exception with which the enumeration ends, after the messages that were already delivered. Its text names
    /// what was not sent.
    /// </summary>
    public LightQException Reason { get; }
}
