using Grpc.Core;
using LightQ.Protocol.Control;
using LightQ.Protocol.Frames;
using LightQ.Server.Control;
using LightQ.Server.Messages;
using SettleOutcome = LightQ.Protocol.Control.SettleOutcome;
using Topic = LightQ.Broker.Topics.Topic;

namespace LightQ.Server.Cluster;

/// <summary>Has fetched messages settled by the nodes that lead their partitions.</summary>
/// <remarks>
/// A node that has lost the partition meanwhile would know no more of the locks than the next one does.
/// </remarks>
internal sealed class SettleForward(NodeCalls calls) : Forward<SettleRequest, SettleResponse>
{
    private static readonly TimeSpan Longest = TimeSpan.FromSeconds(30);

    private static readonly Method<SettleRequest, SettleResponse> Method = NodeMethod.Of<SettleRequest, SettleResponse>(
        MethodType.Unary,
        "/lightq.control.v1.Messages/Settle"
    );

    public override async Task<SettleResponse> ServeAsync(
        SettleRequest request,
        ServerCallContext context,
        UnaryServerMethod<SettleRequest, SettleResponse> local
    )
    {
        if (ForwardedCall.Of(context) is not null || !calls.Broker.TryGetTopic(request.Topic, out Topic? topic))
            return await local(request, context).ConfigureAwait(false);
        (SettleToken Token, SettleRange Range)[] entries = Fetchers.Check(request);
        var homes = new Dictionary<string, List<int>>(StringComparer.Ordinal);
        for (int i = 0; i < entries.Length; i++)
        {
            SettleToken token = entries[i].Token;
            string node =
                token.Partition < topic.Partitions.Length
                    ? await calls
                        .Leaders.OfAsync(topic, token.Partition, context.CancellationToken)
                        .ConfigureAwait(false)
                    : calls.Leaders.Node;
            if (!homes.TryGetValue(node, out List<int>? places))
                homes.Add(node, places = []);
            places.Add(i);
        }
        (List<int> Places, Task<SettleResponse> Asked)[] parts =
        [
            .. homes.Select(home => (home.Value, AskAsync(home.Key, home.Value))),
        ];
        await Task.WhenAll(parts.Select(p => p.Asked)).ConfigureAwait(false);
        var outcomes = new SettleOutcome[request.Settlements.Count];
        foreach ((List<int> places, Task<SettleResponse> asked) in parts)
        {
            SettleResponse part = await asked.ConfigureAwait(false);
            for (int i = 0; i < places.Count; i++)
                outcomes[places[i]] = part.Outcomes[i];
        }
        return new SettleResponse { Outcomes = { outcomes } };

        Task<SettleResponse> AskAsync(string node, List<int> places)
        {
            var part = new SettleRequest { Topic = request.Topic };
            part.Settlements.AddRange(places.Select(i => request.Settlements[i]));
            return node == calls.Leaders.Node
                ? local(part, context)
                : calls.CallAsync(node, Method, part, [], Longest, context);
        }
    }
}
