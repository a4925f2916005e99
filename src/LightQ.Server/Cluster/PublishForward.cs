using Grpc.Core;
using LightQ.Protocol.Control;
using LightQ.Server.Control;
using Partition = LightQ.Broker.Topics.Partition;
using Topic = LightQ.Broker.Topics.Topic;

namespace LightQ.Server.Cluster;

/// <summary>Has messages published by the nodes that lead the partitions that they are routed to.</summary>
internal sealed class PublishForward(NodeCalls calls) : Forward<PublishRequest, PublishResponse>
{
    private static readonly TimeSpan Longest = TimeSpan.FromSeconds(30);

    private static readonly Method<PublishRequest, PublishResponse> Method = NodeMethod.Of<
        PublishRequest,
        PublishResponse
    >(MethodType.Unary, "/lightq.control.v1.Messages/Publish");

    public override async Task<PublishResponse> ServeAsync(
        PublishRequest request,
        ServerCallContext context,
        UnaryServerMethod<PublishRequest, PublishResponse> local
    )
    {
        if (
            ForwardedCall.Of(context) is not null
            || !calls.Broker.TryGetTopic(request.Topic, out Topic? topic)
            || request.Messages.Count == 0
            || (request.HasPartition && request.Partition >= topic.Partitions.Length)
        )
        {
            return await local(request, context).ConfigureAwait(false);
        }
        Dictionary<string, List<int>> homes = await HomesAsync(request, topic, context).ConfigureAwait(false);
        if (homes.Count == 1)
            return await AskAsync(homes.Keys.First(), request).ConfigureAwait(false);
        var response = new PublishResponse { Positions = { request.Messages.Select(_ => new MessagePosition()) } };
        (List<int> Places, Task<PublishResponse> Asked)[] parts =
        [
            .. homes.Select(home => (home.Value, AskAsync(home.Key, Part(request, home.Value)))),
        ];
        await Task.WhenAll(parts.Select(p => p.Asked)).ConfigureAwait(false);
        foreach ((List<int> places, Task<PublishResponse> asked) in parts)
        {
            PublishResponse part = await asked.ConfigureAwait(false);
            for (int i = 0; i < places.Count; i++)
                response.Positions[places[i]] = part.Positions[i];
            response.Durability = part.Durability;
        }
        return response;

        Task<PublishResponse> AskAsync(string node, PublishRequest part) =>
            node == calls.Leaders.Node
                ? local(part, context)
                : calls.CallAsync(node, Method, part, [], Longest, context);
    }

    private static PublishRequest Part(PublishRequest request, IEnumerable<int> places)
    {
        var part = new PublishRequest { Topic = request.Topic, AckLevel = request.AckLevel };
        part.Messages.AddRange(places.Select(i => request.Messages[i]));
        return part;
    }

    /// <summary>
    /// The messages by the nodes that they are for; those without a key go where the call is, if they can.
    /// </summary>
    private async Task<Dictionary<string, List<int>>> HomesAsync(
        PublishRequest request,
        Topic topic,
        ServerCallContext context
    )
    {
        var homes = new Dictionary<string, List<int>>(StringComparer.Ordinal);
        if (request.HasPartition)
        {
            string node = await NodeOfAsync(request.Partition).ConfigureAwait(false);
            return new() { [node] = [.. Enumerable.Range(0, request.Messages.Count)] };
        }
        Partition? own = topic.Partitions.FirstOrDefault(p => p.Refusal is null);
        uint any = own?.Index ?? (uint)Random.Shared.Next(topic.Partitions.Length);
        for (int i = 0; i < request.Messages.Count; i++)
        {
            string node = await NodeOfAsync(MessageRoute.Of(request.Messages[i], topic.Partitions.Length) ?? any)
                .ConfigureAwait(false);
            if (!homes.TryGetValue(node, out List<int>? places))
                homes.Add(node, places = []);
            places.Add(i);
        }
        return homes;

        async ValueTask<string> NodeOfAsync(uint partition) =>
            await calls.Leaders.OfAsync(topic, partition, context.CancellationToken).ConfigureAwait(false);
    }
}
