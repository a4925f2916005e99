namespace LightQ.Protocol.Records;

/// <summary>The headers that the broker adds to a message in a dead-letter topic. Values are text in UTF-8.</summary>
public static class DeadLetterHeader
{
    /// <summary>Why it was given up.</summary>
    public const string Reason = "lightq-dead-reason";

    /// <summary>The topic it was in.</summary>
    public const string Topic = "lightq-dead-topic";

    /// <summary>That topic's id, 32 hex digits: one that is made again under its name has another.</summary>
    public const string TopicId = "lightq-dead-topic-id";

    /// <summary>The partition of that topic.</summary>
    public const string Partition = "lightq-dead-partition";

    /// <summary>Its offset there.</summary>
    public const string Offset = "lightq-dead-offset";

    /// <summary>The group that gave it up.</summary>
    public const string Group = "lightq-dead-group";

    /// <summary>How often it was delivered to that group.</summary>
    public const string Deliveries = "lightq-dead-deliveries";

    /// <summary>When it was given up; ISO 8601, UTC.</summary>
    public const string Time = "lightq-dead-time";

    /// <summary>
    /// Present when the body is not the message's own. <c>batch</c>: it is the whole batch in which the message lies,
    /// as it was stored, since the broker does not inflate batches. <c>omitted</c>: the message does not fit the
    /// dead-letter topic with these headers, and came without key, headers of its own and body; it stays in its topic
    /// for as long as that keeps it.
    /// </summary>
    public const string Body = "lightq-dead-body";
}
