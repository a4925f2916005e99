namespace LightQ.Cli.Messages;

/// <summary>What <c>pub</c> published.</summary>
internal sealed record PublishView(string Topic, long Messages, long Bytes, double Seconds)
{
    /// <summary>Where one message is stored, or of a duplicate the first; absent for several.</summary>
    public int? Partition { get; init; }

    /// <summary>Its offset; absent for several, and where that of the first is not known any more.</summary>
    public long? Offset { get; init; }

    /// <summary>The id of one message; absent without one.</summary>
    public string? MessageId { get; init; }

    /// <summary>True when the message was not stored, because one with its id is; absent otherwise.</summary>
    public bool? Duplicate { get; init; }
}
