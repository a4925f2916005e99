namespace LightQ.Client;

/// <summary>The body of a message could not be read as a value. The consumer may go on with the next message.</summary>
public sealed class UndecodableMessageException : Exception
{
    /// <summary>Creates the exception.</summary>
    /// <param name="topic">The topic.</param>
    /// <param name="partition">The partition.</param>
    /// <param name="offset">The message's offset.</param>
    /// <param name="valueType">The type of value that was expected.</param>
    /// <param name="contentType">The message's content-type header; null when there is none.</param>
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

    /// <summary>The message's offset.</summary>
    public long Offset { get; }

    /// <summary>The message's content-type header; null when there is none.</summary>
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
