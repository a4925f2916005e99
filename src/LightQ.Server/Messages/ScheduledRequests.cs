using LightQ.Broker;
using LightQ.Protocol.Control;
using Topic = LightQ.Broker.Topics.Topic;

namespace LightQ.Server.Messages;

/// <summary>What the requests about delayed messages ask for, and how a list of several partitions is made.</summary>
internal static class ScheduledRequests
{
    private const int MostOffsets = 1_000;

    /// <summary>Checks a request.</summary>
    /// <exception cref="BrokerException">A value is outside its range, or there is no such partition.</exception>
    public static void Check(ListScheduledRequest request, Topic topic)
    {
        if (request.HasPartition)
            BrowseRequests.CheckPartition(topic, request.Partition);
        BrowseRequests.CheckPage(
            request.MaxMessages,
            "max_messages",
            request.HasMaxBodyBytes ? request.MaxBodyBytes : 0
        );
        if (request.Next is not { } next)
            return;
        BrowseRequests.CheckPartition(topic, next.Partition);
        if (next.DeliverTime is null || (request.HasPartition && request.Partition != next.Partition))
            throw Refuse("next is none of a page of this request; allowed: next of the page before");
        RequestTimes.Read(next.DeliverTime, "next.deliver_time");
    }

    /// <summary>Checks a request.</summary>
    /// <exception cref="BrokerException">A value is outside its range.</exception>
    public static void Check(CancelScheduledRequest request)
    {
        if (request.Offsets.Count is 0 or > MostOffsets)
            throw Refuse($"there are {request.Offsets.Count} offsets; allowed: 1 to {MostOffsets}");
        if (request.Offsets.Min() is < 0 and var offset)
            throw Refuse($"an offset is {offset}; allowed: 0 or more, as the ack of the publish says");
    }

    /// <summary>Makes a page: one partition after the other, until it is full.</summary>
    /// <param name="request">What is asked for; it was checked.</param>
    /// <param name="topic">The topic.</param>
    /// <param name="readAsync">Reads a page of the one partition that a request names.</param>
    public static async Task<ListScheduledResponse> WalkAsync(
        ListScheduledRequest request,
        Topic topic,
        Func<ListScheduledRequest, Task<ListScheduledResponse>> readAsync
    )
    {
        var page = new ListScheduledResponse();
        int left = BrowseRequests.CountOf(request.MaxMessages),
            bytes = 0;
        uint first = request.Next?.Partition ?? (request.HasPartition ? request.Partition : 0),
            last = request.HasPartition ? request.Partition : (uint)topic.Partitions.Length - 1;
        for (uint partition = first; partition <= last; partition++)
        {
            ListScheduledRequest one = request.Clone();
            (one.Partition, one.MaxMessages) = (partition, (uint)left);
            if (request.Next?.Partition != partition)
                one.Next = null;
            ListScheduledResponse part = await readAsync(one).ConfigureAwait(false);
            page.Messages.AddRange(part.Messages);
            left -= part.Messages.Count;
            bytes += part.CalculateSize();
            page.Next = part.Next;
            if (part.Next is not null || partition == last)
                return page;
            if (left == 0 || bytes >= BrowseRequests.PageBytes)
            {
                page.Next = BeginningOf(partition + 1);
                return page;
            }
        }
        return page;
    }

    private static ScheduledPosition BeginningOf(uint partition) =>
        new()
        {
            Partition = partition,
            DeliverTime = MessageTimes.ToProto(0),
            Offset = -1,
        };

    private static BrokerException Refuse(string problem) => new(ErrorCode.InvalidArgument, $"{problem}.");
}
