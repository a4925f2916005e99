using Google.Protobuf;
using Grpc.Core;
using LightQ.Broker;
using LightQ.Protocol.Control;
using LightQ.Server.Messages;
using LightQ.Server.Security;
using Right = LightQ.Broker.Users.Right;

namespace LightQ.Server.Control;

/// <summary>
/// Publishes stored messages again: reads them and publishes as the caller could, here or at the nodes that lead what
/// it is about.
/// </summary>
/// <param name="nodes">Has other nodes answer for what they lead; null where there is no cluster.</param>
/// <param name="access">Decides.</param>
/// <param name="browse">Reads messages that are here.</param>
/// <param name="publish">Publishes here.</param>
internal sealed class Republisher(
    INodes? nodes,
    AccessControl access,
    UnaryServerMethod<BrowseRequest, BrowseResponse> browse,
    UnaryServerMethod<PublishRequest, PublishResponse> publish
)
{
    private const string Service = "/lightq.control.v1.Messages/";

    /// <summary>Demands a right of the caller.</summary>
    /// <exception cref="BrokerException">It is missing.</exception>
    public void Demand(ServerCallContext context, Right right, string topic) =>
        access.Demand(CallPrincipal.Of(context), right, topic);

    /// <summary>Makes a call for the caller of another one, of which the rights were checked.</summary>
    public Task<TResponse> CallAsync<TRequest, TResponse>(
        string method,
        TRequest request,
        ServerCallContext context,
        UnaryServerMethod<TRequest, TResponse> local
    )
        where TRequest : class
        where TResponse : class =>
        nodes?.Find<TRequest, TResponse>(method) is { } forward
            ? forward.ServeAsync(request, context, local)
            : local(request, context);

    /// <summary>Reads a stored message.</summary>
    /// <exception cref="BrokerException">There is none at that offset.</exception>
    public async Task<PublishedMessage> ReadAsync(string topic, uint partition, long offset, ServerCallContext context)
    {
        BrowsedMessage found = await ReadPartAsync(0).ConfigureAwait(false);
        var message = new PublishedMessage
        {
            Tombstone = found.Tombstone,
            Headers = { found.Headers },
            Body = await JoinAsync(
                    found.Body,
                    found.BodySize,
                    async from => (await ReadPartAsync(from).ConfigureAwait(false)).Body
                )
                .ConfigureAwait(false),
        };
        if (found.HasKey)
            message.Key = found.Key;
        return message;

        async Task<BrowsedMessage> ReadPartAsync(ulong from)
        {
            var request = new BrowseRequest
            {
                Topic = topic,
                Partition = partition,
                Offset = offset,
                MaxMessages = 1,
                MaxBodyBytes = BrowseRequests.MostBodyBytes,
                BodyOffset = from,
            };
            BrowseResponse page = await CallAsync(Service + "Browse", request, context, browse).ConfigureAwait(false);
            if (page.Messages.Count == 1 && page.Messages[0].Offset == offset)
                return page.Messages[0];
            BrowsedPartition held = page.Partitions[0];
            throw new BrokerException(
                ErrorCode.InvalidArgument,
                $"Partition {partition} of the topic '{topic}' has no readable message with the offset {offset}; it "
                    + $"holds offsets from {held.StartOffset} up to {held.EndOffset}, that one not included."
            );
        }
    }

    /// <summary>A body that is read in parts.</summary>
    /// <param name="first">The first part.</param>
    /// <param name="size">The length of the whole.</param>
    /// <param name="readAsync">Reads the part that begins at a place.</param>
    public static async Task<ByteString> JoinAsync(
        ByteString first,
        ulong size,
        Func<ulong, Task<ByteString>> readAsync
    )
    {
        if ((ulong)first.Length == size)
            return first;
        byte[] body = new byte[size];
        int length = 0;
        for (ByteString part = first; ; part = await readAsync((ulong)length).ConfigureAwait(false))
        {
            part.Span.CopyTo(body.AsSpan(length));
            length += part.Length;
            if (length == body.Length || part.IsEmpty)
                return UnsafeByteOperations.UnsafeWrap(body.AsMemory(0, length));
        }
    }

    /// <summary>Publishes one message.</summary>
    /// <param name="topic">The topic.</param>
    /// <param name="partition">The partition; null for the one of its key, or any.</param>
    /// <param name="message">The message.</param>
    /// <param name="context">The call that it is published for; it has the right.</param>
    public Task<PublishResponse> PublishAsync(
        string topic,
        uint? partition,
        PublishedMessage message,
        ServerCallContext context
    )
    {
        var request = new PublishRequest { Topic = topic, Messages = { message } };
        if (partition is { } one)
            request.Partition = one;
        return CallAsync(Service + "Publish", request, context, publish);
    }
}
