namespace LightQ.Broker.Topics;

/// <summary>Where a topic's messages live.</summary>
public enum TopicKind
{
    /// <summary>In memory only.</summary>
    Transient = 1,

    /// <summary>In a journal on disk.</summary>
    Durable = 2,
}
