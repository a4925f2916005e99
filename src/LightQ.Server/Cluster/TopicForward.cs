using Grpc.Core;
using LightQ.Broker.Topics;
using LightQ.Server.Control;

namespace LightQ.Server.Cluster;

/// <summary>Has each node that leads partitions of a topic answer for these, and makes one answer of it.</summary>
internal sealed class TopicForward<TRequest, TResponse>(NodeCalls calls, TopicRoute<TRequest, TResponse> route)
    : Forward<TRequest, TResponse>
    where TRequest : class
    where TResponse : class
{
    public override async Task<TResponse> ServeAsync(
        TRequest request,
        ServerCallContext context,
        UnaryServerMethod<TRequest, TResponse> local
    )
    {
        Topic? topic = null;
        if (route.TopicOf(request) is { Length: not 0 } name && !calls.Broker.TryGetTopic(name, out topic))
            return await local(request, context).ConfigureAwait(false); // It says that there is none.
        if (ForwardedCall.Of(context) is { } forwarded)
            return await HeldPartitions.RunAsync(topic, forwarded.Partitions, Local).ConfigureAwait(false);
        Dictionary<string, List<uint>>? homes = await HomesAsync(topic, request, context).ConfigureAwait(false);
        if (homes is null || (homes.Count == 1 && homes.ContainsKey(calls.Leaders.Node)))
        {
            IReadOnlyList<uint> led = homes?[calls.Leaders.Node] ?? [];
            return await HeldPartitions.RunAsync(topic, led, Local).ConfigureAwait(false);
        }
        var parts = new List<NodePart<TResponse>>();
        Exception? missing = null;
        foreach (Task<(NodePart<TResponse>? Part, Exception? Failure)> asked in AskAll().ToArray())
        {
            (NodePart<TResponse>? part, Exception? failure) = await asked.ConfigureAwait(false);
            if (part is not null)
                parts.Add(part);
            missing ??= failure;
        }
        if (parts.Count == 0)
            throw Errors.Again(missing!);
        return homes.Count == 1 ? parts[0].Response : route.Merge(request, parts);

        Task<TResponse> Local() => local(request, context);

        IEnumerable<Task<(NodePart<TResponse>?, Exception?)>> AskAll() =>
            homes.Select(home => AskAsync(home.Key, home.Value, topic, request, context, Local));
    }

    /// <summary>The nodes to ask; null when the request is for this one to refuse.</summary>
    private async Task<Dictionary<string, List<uint>>?> HomesAsync(
        Topic? topic,
        TRequest request,
        ServerCallContext context
    )
    {
        if (topic is null)
            return calls.Leaders.Live.ToDictionary(node => node, _ => new List<uint>(), StringComparer.Ordinal);
        uint? one = route.PartitionOf(request);
        if (one >= topic.Partitions.Length)
            return null;
        IEnumerable<uint> partitions = one is { } index ? [index] : topic.Partitions.Select(p => p.Index);
        Dictionary<string, List<uint>> homes;
        if (route.MayLack)
        {
            // What nobody leads is told as this node knows it.
            partitions = partitions.Where(p => calls.Leaders.Find(topic, p).Length != 0);
            homes = await calls.Leaders.OfAsync(topic, partitions, context.CancellationToken).ConfigureAwait(false);
            homes.TryAdd(calls.Leaders.Node, []);
            return homes;
        }
        homes = await calls.Leaders.OfAsync(topic, partitions, context.CancellationToken).ConfigureAwait(false);
        if (one is null && route.BesideOf(topic) is { } beside)
        {
            Dictionary<string, List<uint>> others = await calls
                .Leaders.OfAsync(beside, beside.Partitions.Select(p => p.Index), context.CancellationToken)
                .ConfigureAwait(false);
            foreach (string node in others.Keys)
                homes.TryAdd(node, []);
        }
        return homes;
    }

    private async Task<(NodePart<TResponse>?, Exception?)> AskAsync(
        string node,
        List<uint> partitions,
        Topic? topic,
        TRequest request,
        ServerCallContext context,
        Func<Task<TResponse>> local
    )
    {
        try
        {
            TResponse response =
                node == calls.Leaders.Node
                    ? await HeldPartitions.RunAsync(topic, partitions, local).ConfigureAwait(false)
                    : await calls
                        .CallAsync(node, route.Method, request, partitions, route.Longest, context)
                        .ConfigureAwait(false);
            return (new NodePart<TResponse>(node, partitions, response), null);
        }
        catch (Exception e) when (MayMiss(e))
        {
            return (null, e);
        }
    }

    private bool MayMiss(Exception thrown) =>
        ControlErrors.CodeOf(thrown) switch
        {
            ErrorCode.UnknownGroup or ErrorCode.UnknownPartition => route.IsOfGroup,
            ErrorCode.Unavailable or ErrorCode.ShuttingDown or ErrorCode.NotLeader => route.MayLack,
            _ => false,
        };
}
