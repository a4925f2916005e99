using Grpc.Core;
using LightQ.Broker.Topics;

namespace LightQ.Server.Cluster;

/// <summary>A method whose requests are about partitions of a topic.</summary>
/// <param name="Method">The method.</param>
/// <param name="TopicOf">The topic of a request; empty for all topics.</param>
internal sealed record TopicRoute<TRequest, TResponse>(
    Method<TRequest, TResponse> Method,
    Func<TRequest, string> TopicOf
)
    where TRequest : class
    where TResponse : class
{
    /// <summary>The partition of a request; null for all.</summary>
    public Func<TRequest, uint?> PartitionOf { get; init; } = static _ => null;

    /// <summary>Makes one answer of those of several nodes, in no order.</summary>
    public required Func<TRequest, IReadOnlyList<NodePart<TResponse>>, TResponse> Merge { get; init; }

    /// <summary>Another topic whose partitions count; null for none.</summary>
    public Func<Topic, Topic?> BesideOf { get; init; } = static _ => null;

    /// <summary>Whether it is about a group, which may have been used on some of the partitions only.</summary>
    public bool IsOfGroup { get; init; }

    /// <summary>Whether the answer says itself what is missing of it, so that a node may be silent.</summary>
    public bool MayLack { get; init; }

    /// <summary>How long a node may take.</summary>
    public TimeSpan Longest { get; init; } = TimeSpan.FromSeconds(30);
}
