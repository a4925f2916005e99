namespace LightQ.Client;

/// <summary>Where a topic's messages are kept.</summary>
public enum TopicKind
{
    /// <summary>The broker's choice: a new topic is durable, and one that is there stays what it is.</summary>
    Default = 0,

    /// <summary>
    /// In a ring in the broker's memory: fastest, gone with the broker, and only as long as the ring has room.
    /// </summary>
    Transient = 1,

    /// <summary>In a journal on the broker's disk, until retention removes them.</summary>
    Durable = 2,
}
