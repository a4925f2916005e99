using System.Runtime.CompilerServices;
using Google.Protobuf.WellKnownTypes;
using LightQ.Protocol;
using LightQ.Protocol.Control;
using LightQ.Protocol.Frames;

namespace LightQ.Client.Administration;

/// <summary>
/// Shows what topics hold, publishes stored messages again, and cancels delayed ones. Reached by
/// <see cref="LightQClient.Messages"/>.
/// </summary>
/// <remarks>
/// Thread-safe. Uses the control plane (gRPC). Browsing changes nothing: no group, no position, no lock. It needs the
/// right to consume the topic. To consume messages, use <see cref="LightQClient"/> itself.
/// </remarks>
/// <example>
/// <code>
/// await foreach (StoredMessage message in client.Messages.BrowseAsync("orders", new BrowseOptions { Last = 20 }))
///     Console.WriteLine($"{message.Offset}: {message.BodySize} bytes");
/// </code>
/// </example>
public sealed class MessagesClient
{
    private const int CancelledAtOnce = 1_000;

    private readonly Protocol.Control.Messages.MessagesClient _calls;

    internal MessagesClient(ControlChannel channel) =>
        _calls = new Protocol.Control.Messages.MessagesClient(channel.Calls);

    /// <summary>
    /// The messages that a topic holds, fetched a page at a time while you enumerate, up to its present end. Offsets
    /// that cannot be shown are passed over; <see cref="BrowsePageAsync"/> reports them.
    /// </summary>
    /// <param name="topic">The topic's name; <c>orders/3</c> names one of its partitions.</param>
    /// <param name="options">Which messages, and how much of them; null for the defaults.</param>
    /// <param name="cancellationToken">Ends the enumeration.</param>
    /// <exception cref="LightQException">
    /// From the enumeration: <see cref="ErrorCode.UnknownTopic"/>, <see cref="ErrorCode.UnknownPartition"/>, a right is
    /// missing, or the broker cannot be reached.
    /// </exception>
    public async IAsyncEnumerable<StoredMessage> BrowseAsync(
        string topic,
        BrowseOptions? options = null,
        [EnumeratorCancellation] CancellationToken cancellationToken = default
    )
    {
        BrowsePage? page = null;
        do
        {
            page = await BrowsePageAsync(topic, options, page?.Next, cancellationToken).ConfigureAwait(false);
            foreach (StoredMessage message in page.Messages)
                yield return message;
        } while (!page.IsLast);
    }

    /// <summary>One page of the messages that a topic holds.</summary>
    /// <param name="topic">The topic's name; <c>orders/3</c> names one of its partitions.</param>
    /// <param name="options">Which messages, and how much of them; null for the defaults.</param>
    /// <param name="next">
    /// <see cref="BrowsePage.Next"/> of the page before, of the same topic and options; null for the first page.
    /// </param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="LightQException">As for <see cref="BrowseAsync"/>.</exception>
    public async Task<BrowsePage> BrowsePageAsync(
        string topic,
        BrowseOptions? options = null,
        BrowsePosition? next = null,
        CancellationToken cancellationToken = default
    )
    {
        options ??= new BrowseOptions();
        TopicAddress address = AddressArgument.Parse(topic, options.Partition);
        BrowseResponse response = await _calls
            .BrowseAsync(ToRequest(address, options, next), cancellationToken: cancellationToken)
            .ConfigureAwait(false);
        return new BrowsePage(
            [.. response.Messages.Select(StoredMapping.ToMessage)],
            [
                .. response.Gaps.Select(gap => new MessageGap(
                    address.Topic,
                    gap.FirstOffset,
                    gap.LastOffset,
                    (GapReason)gap.Reason,
                    (int)gap.Partition
                )),
            ],
            new BrowsePosition((int)response.Next.Partition, response.Next.Offset),
            response.AtEnd,
            [.. response.Partitions.Select(p => new BrowsedPartition((int)p.Partition, p.StartOffset, p.EndOffset))],
            (long)response.Scanned
        );
    }

    /// <summary>
    /// Publishes a stored message again, edited or as it is: as a new message with a new offset. The stored one stays.
    /// Needs the right to consume the topic and to publish to the other one.
    /// </summary>
    /// <param name="topic">The topic that holds the message.</param>
    /// <param name="partition">Its partition.</param>
    /// <param name="offset">Its offset.</param>
    /// <param name="edit">What is to be different; null for nothing.</param>
    /// <param name="target">
    /// The topic to publish to, <c>orders/3</c> for one of its partitions; null for the same topic.
    /// </param>
    /// <param name="cancellationToken">Ends the wait; the message may be published nevertheless.</param>
    /// <exception cref="LightQException">
    /// There is no such message, it may not be published, a right is missing, or the broker cannot be reached.
    /// </exception>
    public async Task<RepublishResult> RepublishAsync(
        string topic,
        int partition,
        long offset,
        MessageEdit? edit = null,
        string? target = null,
        CancellationToken cancellationToken = default
    )
    {
        ArgumentOutOfRangeException.ThrowIfNegative(partition);
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        TopicAddress? other = target is null ? null : AddressArgument.Parse(target);
        var request = new RepublishRequest
        {
            Topic = topic,
            Partition = (uint)partition,
            Offset = offset,
            Edit = StoredMapping.ToProto(edit),
            TargetTopic = other?.Topic ?? "",
        };
        if (other?.Partition is { } one)
            request.TargetPartition = (uint)one;
        RepublishResponse response = await _calls
            .RepublishAsync(request, cancellationToken: cancellationToken)
            .ConfigureAwait(false);
        return StoredMapping.ToResult(response.Topic, response.Position, response.Durability);
    }

    /// <summary>
    /// The delayed messages that wait to be due, fetched a page at a time while you enumerate. Within each partition
    /// what is due first comes first. Needs the right to consume.
    /// </summary>
    /// <param name="topic">The topic's name; <c>orders/3</c> names one of its partitions.</param>
    /// <param name="maxBodyBytes">How much of each body, 0 to 1,048,576.</param>
    /// <param name="cancellationToken">Ends the enumeration.</param>
    /// <exception cref="LightQException">
    /// From the enumeration: <see cref="ErrorCode.UnknownTopic"/>, <see cref="ErrorCode.UnknownPartition"/>, a right is
    /// missing, or the broker cannot be reached.
    /// </exception>
    public async IAsyncEnumerable<StoredMessage> ListScheduledAsync(
        string topic,
        int maxBodyBytes = 65_536,
        [EnumeratorCancellation] CancellationToken cancellationToken = default
    )
    {
        ArgumentOutOfRangeException.ThrowIfNegative(maxBodyBytes);
        TopicAddress address = AddressArgument.Parse(topic);
        var request = new ListScheduledRequest { Topic = address.Topic, MaxBodyBytes = (uint)maxBodyBytes };
        if (address.Partition is { } partition)
            request.Partition = (uint)partition;
        do
        {
            ListScheduledResponse page = await _calls
                .ListScheduledAsync(request, cancellationToken: cancellationToken)
                .ConfigureAwait(false);
            foreach (BrowsedMessage message in page.Messages)
                yield return StoredMapping.ToMessage(message);
            request.Next = page.Next;
        } while (request.Next is not null);
    }

    /// <summary>
    /// Cancels a delayed message: it is never delivered. Returns when that is as safe as the topic can make it. Needs
    /// the right to publish.
    /// </summary>
    /// <param name="topic">The topic's name.</param>
    /// <param name="position">
    /// Where the message was published: <see cref="PublishAck.Position"/>, or <see cref="StoredMessage.Position"/> of
    /// what <see cref="ListScheduledAsync"/> lists.
    /// </param>
    /// <param name="cancellationToken">Ends the wait; the message may be cancelled nevertheless.</param>
    /// <returns>
    /// Whether this call has cancelled it. False when no such message waits: it is delivered, also at this very moment,
    /// or it was cancelled before, perhaps by a call of which no answer came.
    /// </returns>
    /// <exception cref="LightQException">
    /// There is no such topic or partition, the topic is transient, a right is missing, or the broker cannot be
    /// reached.
    /// </exception>
    public async Task<bool> CancelScheduledAsync(
        string topic,
        MessagePosition position,
        CancellationToken cancellationToken = default
    ) => (await CancelScheduledAsync(topic, [position], cancellationToken).ConfigureAwait(false))[0];

    /// <summary>Cancels several delayed messages; see the overload for one.</summary>
    /// <param name="topic">The topic's name.</param>
    /// <param name="positions">Where the messages were published.</param>
    /// <param name="cancellationToken">Ends the wait; messages may be cancelled nevertheless.</param>
    /// <returns>Of each, in order, whether this call has cancelled it.</returns>
    /// <exception cref="LightQException">As for one; some may be cancelled.</exception>
    public async Task<IReadOnlyList<bool>> CancelScheduledAsync(
        string topic,
        IEnumerable<MessagePosition> positions,
        CancellationToken cancellationToken = default
    )
    {
        ArgumentNullException.ThrowIfNull(positions);
        MessagePosition[] all = [.. positions];
        foreach (MessagePosition position in all)
        {
            ArgumentOutOfRangeException.ThrowIfNegative(position.Partition, nameof(positions));
            ArgumentOutOfRangeException.ThrowIfNegative(position.Offset, nameof(positions));
        }
        bool[] cancelled = new bool[all.Length];
        IEnumerable<int[]> calls = Enumerable
            .Range(0, all.Length)
            .GroupBy(i => all[i].Partition)
            .SelectMany(static partition => partition.Chunk(CancelledAtOnce));
        foreach (int[] part in calls)
        {
            var request = new CancelScheduledRequest { Topic = topic, Partition = (uint)all[part[0]].Partition };
            request.Offsets.AddRange(part.Select(i => all[i].Offset));
            CancelScheduledResponse response = await _calls
                .CancelScheduledAsync(request, cancellationToken: cancellationToken)
                .ConfigureAwait(false);
            for (int i = 0; i < part.Length; i++)
                cancelled[part[i]] = response.Outcomes[i] == CancelOutcome.Cancelled;
        }
        return cancelled;
    }

    private static BrowseRequest ToRequest(TopicAddress address, BrowseOptions options, BrowsePosition? next)
    {
        var request = new BrowseRequest
        {
            Topic = address.Topic,
            MaxMessages = (uint)options.PageSize,
            MaxBodyBytes = (uint)options.MaxBodyBytes,
            BodyOffset = (ulong)options.BodyOffset,
        };
        if (address.Partition is { } partition)
            request.Partition = (uint)partition;
        if (options.Last is { } last)
            request.Last = (ulong)last;
        else if (options.Start.Kind == StartKind.Offset)
            request.Offset = options.Start.Value;
        else if (options.Start.Kind == StartKind.Timestamp)
            request.Time = DateTimeOffset.UnixEpoch.AddMicroseconds(options.Start.Value).ToTimestamp();
        if (options.Key.HasValue)
            request.Key = StoredMapping.BytesOf(options.Key);
        if (next is { } position)
        {
            request.Next = new Protocol.Control.BrowsePosition
            {
                Partition = (uint)position.Partition,
                Offset = position.Offset,
            };
        }
        return request;
    }
}
