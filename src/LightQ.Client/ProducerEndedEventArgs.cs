namespace LightQ.Client;

/// <summary>
/// A producer that has ended although the application did not close it: it takes no messages any more.
/// </summary>
public sealed class ProducerEndedEventArgs : EventArgs
{
    /// <summary>Creates the event's data.</summary>
    /// <param name="topic">The topic.</param>
    /// <param name="name">The producer's name, or null.</param>
    /// <param name="reason">The cause.</param>
    public ProducerEndedEventArgs(string topic, string? name, LightQException reason)
    {
        Topic = topic;
        Name = name;
        Reason = reason;
    }

    /// <summary>The topic's name.</summary>
    public string Topic { get; }

    /// <summary>The producer's <see cref="ProducerOptions.Name"/>; null for none.</summary>
    public string? Name { get; }

    /// <summary>
    /// The cause: for example, a newer producer has the name (<see cref="ErrorCode.Fenced"/>), the topic was deleted,
    /// or the right to publish was taken away.
    /// </summary>
    public LightQException Reason { get; }
}
