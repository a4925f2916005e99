using LightQ.Broker;
using LightQ.Protocol;
using LightQ.Protocol.Control;
using Topic = LightQ.Broker.Topics.Topic;

namespace LightQ.Server.Messages;

/// <summary>What a Browse request asks for.</summary>
internal static class BrowseRequests
{
    /// <summary>The largest part of a body that one message of a page has.</summary>
    public const int MostBodyBytes = 1024 * 1024;

    /// <summary>Most messages of a page.</summary>
    public const int MostMessages = 1_000;

    /// <summary>A page ends when its messages have so many bytes.</summary>
    public const int PageBytes = 1024 * 1024;

    private const int DefaultMessages = 100,
        DefaultBodyBytes = 64 * 1024;

    /// <summary>Checks a request.</summary>
    /// <exception cref="BrokerException">A value is outside its range, or there is no such partition.</exception>
    public static void Check(BrowseRequest request, Topic topic)
    {
        if (request.HasPartition)
            CheckPartition(topic, request.Partition);
        CheckPage(request.MaxMessages, "max_messages", request.HasMaxBodyBytes ? request.MaxBodyBytes : 0);
        switch (request.StartCase)
        {
            case BrowseRequest.StartOneofCase.Offset when request.Offset < 0:
                throw Refuse($"offset is {request.Offset}; allowed: 0 or more");
            case BrowseRequest.StartOneofCase.Offset when PartitionsOf(request, topic).Length > 1:
                throw Refuse(
                    $"offset is set and the topic '{topic.Name}' has {topic.Partitions.Length} partitions, each with "
                        + $"offsets of its own; set partition"
                );
            case BrowseRequest.StartOneofCase.Last when request.Last == 0:
                throw Refuse("last is 0; allowed: 1 or more");
            case BrowseRequest.StartOneofCase.Time:
                RequestTimes.Read(request.Time, "time");
                break;
            default:
                break;
        }
        if (request.Next is not { } next)
            return;
        if (next.Offset < 0)
            throw Refuse($"next.offset is {next.Offset}; allowed: 0 or more");
        CheckPartition(topic, next.Partition);
        if (!PartitionsOf(request, topic).Contains(next.Partition))
        {
            throw Refuse(
                $"next.partition is {next.Partition}, which the request leaves out; allowed: next of its page"
            );
        }
    }

    /// <summary>Checks how much a page may have.</summary>
    /// <exception cref="BrokerException">It is too much.</exception>
    public static void CheckPage(uint most, string name, uint bodyBytes)
    {
        if (most > MostMessages)
            throw Refuse($"{name} is {most}; allowed: 1 to {MostMessages}, or 0 for {DefaultMessages}");
        if (bodyBytes > MostBodyBytes)
            throw Refuse($"max_body_bytes is {bodyBytes}; allowed: 0 to {MostBodyBytes}");
    }

    /// <summary>How many messages a page has at most.</summary>
    public static int CountOf(uint most) => most == 0 ? DefaultMessages : (int)most;

    /// <summary>Which part of each body a page has.</summary>
    /// <param name="body">The body.</param>
    /// <param name="offset">Where the part begins.</param>
    /// <param name="most">Its longest length; null for the usual one.</param>
    public static ReadOnlySpan<byte> PartOf(ReadOnlySpan<byte> body, ulong offset, uint? most)
    {
        ReadOnlySpan<byte> rest = body[(int)Math.Min(offset, (ulong)body.Length)..];
        return rest[..(int)Math.Min(most ?? DefaultBodyBytes, (uint)rest.Length)];
    }

    /// <summary>The partitions that are browsed, in their order.</summary>
    public static uint[] PartitionsOf(BrowseRequest request, Topic topic) =>
        request.HasPartition ? [request.Partition]
        : request.HasKey ? [(uint)KeyRouting.PartitionOf(request.Key.Span, topic.Partitions.Length)]
        : [.. topic.Partitions.Select(p => p.Index)];

    /// <summary>Checks that there is such a partition.</summary>
    /// <exception cref="BrokerException">There is none.</exception>
    public static void CheckPartition(Topic topic, uint partition)
    {
        if (partition >= topic.Partitions.Length)
            topic.GetPartition(partition); // It says which there are.
    }

    private static BrokerException Refuse(string problem) => new(ErrorCode.InvalidArgument, $"{problem}.");
}
