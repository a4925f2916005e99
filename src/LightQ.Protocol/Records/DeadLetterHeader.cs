namespace LightQ.Protocol.Records;

/// <summary>The headers that the broker adds to a message in a dead-letter topic. Values are text in UTF-8.</summary>
public static class DeadLetterHeader
{
    /// <summary>Why the message was dead-lettered.</summary>
    public const string Reason = "lightq-dead-reason";

    /// <summary>The topic that the message came from.</summary>
    public const string Topic = "lightq-dead-topic";

    /// <summary>
    /// That topic's id, 32 hex digits. A topic that is created again with the same name has another id.
    /// </summary>
    public const string TopicId = "lightq-dead-topic-id";

    /// <summary>The partition of that topic.</summary>
    public const string Partition = "lightq-dead-partition";

    /// <summary>The message's offset in that partition.</summary>
    public const string Offset = "lightq-dead-offset";

    /// <summary>The group that dead-lettered the message.</summary>
    public const string Group = "lightq-dead-group";

    /// <summary>How often the message was delivered to that group.</summary>
    public const string Deliveries = "lightq-dead-deliveries";

    /// <summary>When the message was dead-lettered; ISO 8601, UTC.</summary>
    public const string Time = "lightq-dead-time";

    /// <summary>
    /// Present when the body is not the message's own. <c>batch</c>: the body is the whole batch that holds the
    /// message, as it was stored, because the broker does not inflate batches. <c>omitted</c>: the message does not fit
    /// the dead-letter topic with these headers, so it was copied without its key, its own headers and its body. The
    /// original stays in its topic for as long as the topic keeps it.
    /// </summary>
    public const string Body = "lightq-dead-body";
}
