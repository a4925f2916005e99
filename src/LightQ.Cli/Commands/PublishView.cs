namespace LightQ.Cli.Commands;

/// <summary>What <c>pub</c> published.</summary>
internal sealed record PublishView(string Topic, long Messages, long Bytes, double Seconds)
{
    /// <summary>True when the message was not stored, because one with its id is; absent otherwise.</summary>
    public bool? Duplicate { get; init; }

    /// <summary>The partition of the message that is stored; absent without a duplicate.</summary>
    public int? Partition { get; init; }

    /// <summary>Where that is; absent without a duplicate.</summary>
    public long? Offset { get; init; }
}
