namespace LightQ.Client;

/// <summary>Where a topic's messages are kept.</summary>
public enum TopicKind
{
    /// <summary>The broker's choice: a new topic is durable, and an existing one stays as it is.</summary>
    Default = 0,

    /// <summary>
    /// In a ring in the broker's memory. This is the fastest kind. Messages are lost when the broker stops, and
    /// overwritten when the ring needs the room.
    /// </summary>
    Transient = 1,

    /// <summary>In a journal on the broker's disk, until retention removes them.</summary>
    Durable = 2,
}
