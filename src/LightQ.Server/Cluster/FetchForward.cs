using Google.Protobuf.WellKnownTypes;
using Grpc.Core;
using LightQ.Protocol.Control;
using LightQ.Server.Control;
using LightQ.Server.Messages;
using Topic = LightQ.Broker.Topics.Topic;

namespace LightQ.Server.Cluster;

/// <summary>Fetches from the nodes that lead the partitions.</summary>
/// <remarks>
/// From several nodes it is fetched one partition after the other, without waiting there, until there is a message or
/// the time is over: so no two nodes lock messages for an answer that takes only those of one.
/// </remarks>
internal sealed class FetchForward(NodeCalls calls, TimeProvider time) : Forward<FetchRequest, FetchResponse>
{
    private static readonly TimeSpan Longest = TimeSpan.FromSeconds(90),
        FirstPause = TimeSpan.FromMilliseconds(25),
        LongestPause = TimeSpan.FromMilliseconds(250);

    private static readonly Method<FetchRequest, FetchResponse> Method = NodeMethod.Of<FetchRequest, FetchResponse>(
        MethodType.Unary,
        "/lightq.control.v1.Messages/Fetch"
    );

    public override async Task<FetchResponse> ServeAsync(
        FetchRequest request,
        ServerCallContext context,
        UnaryServerMethod<FetchRequest, FetchResponse> local
    )
    {
        if (!calls.Broker.TryGetTopic(request.Topic, out Topic? topic))
            return await local(request, context).ConfigureAwait(false);
        if (ForwardedCall.Of(context) is { } forwarded)
        {
            foreach (uint partition in forwarded.Partitions)
                HeldPartitions.Demand(topic, partition);
            return await local(request, context).ConfigureAwait(false);
        }
        if (request.HasPartition && request.Partition >= topic.Partitions.Length)
            return await local(request, context).ConfigureAwait(false);
        TimeSpan wait = Fetchers.Check(request);
        uint[] partitions = request.HasPartition ? [request.Partition] : [.. topic.Partitions.Select(p => p.Index)];
        Dictionary<string, List<uint>> homes = await calls
            .Leaders.OfAsync(topic, partitions, context.CancellationToken)
            .ConfigureAwait(false);
        return homes.Count == 1
            ? await AskAsync(homes.Keys.First(), partitions, request, context, local).ConfigureAwait(false)
            : await PollAsync(topic, request, wait, context, local).ConfigureAwait(false);
    }

    private async Task<FetchResponse> PollAsync(
        Topic topic,
        FetchRequest request,
        TimeSpan wait,
        ServerCallContext context,
        UnaryServerMethod<FetchRequest, FetchResponse> local
    )
    {
        long began = time.GetTimestamp();
        TimeSpan pause = FirstPause;
        uint most = Math.Max(1, request.MaxMessages);
        while (true)
        {
            FetchResponse answer = await OnceAsync(topic, request, most, context, local).ConfigureAwait(false);
            TimeSpan left = wait - time.GetElapsedTime(began);
            if (answer.Messages.Count != 0 || answer.Gaps.Count != 0 || left <= TimeSpan.Zero)
                return answer;
            await Task.Delay(pause < left ? pause : left, time, context.CancellationToken).ConfigureAwait(false);
            pause = 2 * pause < LongestPause ? 2 * pause : LongestPause;
        }
    }

    private async Task<FetchResponse> OnceAsync(
        Topic topic,
        FetchRequest request,
        uint most,
        ServerCallContext context,
        UnaryServerMethod<FetchRequest, FetchResponse> local
    )
    {
        var answer = new FetchResponse();
        int count = topic.Partitions.Length,
            first = Random.Shared.Next(count);
        for (int i = 0; i < count && answer.Messages.Count < most; i++)
        {
            uint partition = (uint)((first + i) % count);
            FetchRequest part = request.Clone();
            part.Partition = partition;
            part.MaxMessages = most - (uint)answer.Messages.Count;
            part.Wait = new Duration();
            FetchResponse got;
            try
            {
                string node = await calls
                    .Leaders.OfAsync(topic, partition, context.CancellationToken)
                    .ConfigureAwait(false);
                got = await AskAsync(node, [partition], part, context, local).ConfigureAwait(false);
            }
            catch (Exception e) when (answer.Messages.Count != 0 && ControlErrors.CodeOf(e) is not null)
            {
                return answer; // What was fetched is locked: it is for this answer.
            }
            answer.Messages.AddRange(got.Messages);
            answer.Gaps.AddRange(got.Gaps);
        }
        return answer;
    }

    private Task<FetchResponse> AskAsync(
        string node,
        IReadOnlyList<uint> partitions,
        FetchRequest request,
        ServerCallContext context,
        UnaryServerMethod<FetchRequest, FetchResponse> local
    ) =>
        node == calls.Leaders.Node
            ? local(request, context)
            : calls.CallAsync(node, Method, request, partitions, Longest, context);
}
