namespace LightQ.Client;

/// <summary>Where a topic's messages are kept.</summary>
public enum TopicKind
{
    /// <summary>What the broker takes by default, which is transient.</summary>
    Default = 0,

    /// <summary>In a ring in the broker's memory: fastest, gone with the broker, and only as long as the ring has room.</summary>
    Transient = 1,

    /// <summary>In a journal on the broker's disk, until retention removes them.</summary>
    Durable = 2,
}
