namespace LightQ.Client;

/// <summary>A message's body could not be turned into a value; its consumer may go on with the next one.</summary>
public sealed class UndecodableMessageException : Exception
{
    /// <summary>Makes the exception.</summary>
    /// <param name="topic">The topic.</param>
    /// <param name="partition">The partition.</param>
    /// <param name="offset">The message.</param>
    /// <param name="valueType">What its body should have been.</param>
    /// <param name="contentType">What the message says its body is; null when it says nothing.</param>
    /// <param name="innerException">What is wrong with it.</param>
    public UndecodableMessageException(
        string topic,
        int partition,
        long offset,
        Type valueType,
        string? contentType,
        Exception innerException
    )
        : base(Describe(topic, partition, offset, valueType, contentType, innerException), innerException)
    {
        Topic = topic;
        Partition = partition;
        Offset = offset;
        ContentType = contentType;
    }

    /// <summary>The topic's name.</summary>
    public string Topic { get; }

    /// <summary>The partition.</summary>
    public int Partition { get; }

    /// <summary>The message.</summary>
    public long Offset { get; }

    /// <summary>What the message's header content-type says; null when there is none.</summary>
    public string? ContentType { get; }

    private static string Describe(
        string topic,
        int partition,
        long offset,
        Type valueType,
        string? contentType,
        Exception cause
    ) =>
        $"Message {offset} of {topic}, partition {partition}, is no {valueType.Name} "
        + $"({contentType ?? "without a content type"}): {cause.Message}";
}
