using System.Runtime.CompilerServices;
using LightQ.Protocol;
using LightQ.Protocol.Control;
using WireLetter = LightQ.Protocol.Control.DeadLetter;
using WireResult = LightQ.Protocol.Control.LetterResult;

namespace LightQ.Client.Administration;

/// <summary>
/// Lists, redrives, deletes and republishes single dead letters of a group. Reached by
/// <see cref="LightQClient.DeadLetters"/>.
/// </summary>
/// <remarks>
/// <para>
/// Thread-safe. Uses the control plane (gRPC). A letter is a message in the dead-letter topic, named by its offset
/// there, and waits until it is settled: redriven, by <see cref="GroupsClient.RedriveAsync"/> or here, or deleted.
/// What is settled stays in the dead-letter topic until retention removes it there.
/// </para>
/// <para>
/// Every method fails with a <see cref="LightQException"/>: <see cref="ErrorCode.UnknownTopic"/>,
/// <see cref="ErrorCode.UnknownGroup"/>, a right is missing, or the broker cannot be reached. Listing needs the right
/// to consume the topic, everything else the right to manage it.
/// </para>
/// </remarks>
/// <example>
/// <code>
/// await foreach (DeadLetterInfo letter in client.DeadLetters.ListAsync("orders", "billing"))
///     Console.WriteLine($"{letter.Offset}: {letter.Reason}");
/// await client.DeadLetters.RedriveAsync("orders", "billing", [17, 19]);
/// </code>
/// </example>
public sealed class DeadLettersClient
{
    private readonly DeadLetters.DeadLettersClient _calls;

    internal DeadLettersClient(ControlChannel channel) => _calls = new DeadLetters.DeadLettersClient(channel.Calls);

    /// <summary>
    /// The letters that wait, in the order of their offsets, fetched a page at a time while you enumerate.
    /// </summary>
    /// <param name="topic">The topic that the messages were dead-lettered from.</param>
    /// <param name="group">The group that dead-lettered them.</param>
    /// <param name="options">Which letters, and how much of them; null for the defaults.</param>
    /// <param name="cancellationToken">Ends the enumeration.</param>
    public async IAsyncEnumerable<DeadLetterInfo> ListAsync(
        string topic,
        string group,
        LetterListOptions? options = null,
        [EnumeratorCancellation] CancellationToken cancellationToken = default
    )
    {
        options ??= new LetterListOptions();
        LetterPage page;
        do
        {
            page = await ListPageAsync(topic, group, options, cancellationToken).ConfigureAwait(false);
            foreach (DeadLetterInfo letter in page.Letters)
                yield return letter;
            options = options with { StartOffset = page.NextOffset };
        } while (!page.IsLast);
    }

    /// <summary>One page of the letters that wait.</summary>
    /// <param name="topic">The topic that the messages were dead-lettered from.</param>
    /// <param name="group">The group that dead-lettered them.</param>
    /// <param name="options">Which letters, and how much of them; null for the defaults.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    public async Task<LetterPage> ListPageAsync(
        string topic,
        string group,
        LetterListOptions? options = null,
        CancellationToken cancellationToken = default
    )
    {
        options ??= new LetterListOptions();
        var request = new ListLettersRequest
        {
            Topic = topic,
            Group = group,
            StartOffset = options.StartOffset,
            IncludeSettled = options.IncludeSettled,
            MaxLetters = (uint)options.PageSize,
            MaxBodyBytes = (uint)options.MaxBodyBytes,
            BodyOffset = (ulong)options.BodyOffset,
        };
        if (options.Partition is { } partition)
            request.Partition = (uint)partition;
        ListLettersResponse response = await _calls
            .ListLettersAsync(request, cancellationToken: cancellationToken)
            .ConfigureAwait(false);
        return new LetterPage(
            [.. response.Letters.Select(ToInfo)],
            response.NextOffset,
            response.AtEnd,
            response.DeadLetterTopic
        );
    }

    /// <summary>
    /// Makes the originals of certain letters available to the group again, at their offsets, and settles the letters.
    /// </summary>
    /// <param name="topic">The topic.</param>
    /// <param name="group">The group.</param>
    /// <param name="offsets">The letters' offsets, 1 to 1,000.</param>
    /// <param name="cancellationToken">Ends the wait; the letters may be redriven nevertheless.</param>
    /// <returns>What became of them, one for each, in their order.</returns>
    public async Task<IReadOnlyList<LetterResult>> RedriveAsync(
        string topic,
        string group,
        IReadOnlyCollection<long> offsets,
        CancellationToken cancellationToken = default
    )
    {
        ArgumentNullException.ThrowIfNull(offsets);
        var request = new RedriveLettersRequest
        {
            Topic = topic,
            Group = group,
            Offsets = { offsets },
        };
        return ToResults(
            (
                await _calls.RedriveLettersAsync(request, cancellationToken: cancellationToken).ConfigureAwait(false)
            ).Results
        );
    }

    /// <summary>
    /// Settles letters without anything else: no consumer gets their messages again, and no redrive comes to them.
    /// Their bytes stay in the dead-letter topic, and the originals in theirs, until retention removes them.
    /// </summary>
    /// <param name="topic">The topic.</param>
    /// <param name="group">The group.</param>
    /// <param name="offsets">The letters' offsets, 1 to 1,000.</param>
    /// <param name="cancellationToken">Ends the wait; the letters may be deleted nevertheless.</param>
    /// <returns>What became of them, one for each, in their order.</returns>
    public async Task<IReadOnlyList<LetterResult>> DeleteAsync(
        string topic,
        string group,
        IReadOnlyCollection<long> offsets,
        CancellationToken cancellationToken = default
    )
    {
        ArgumentNullException.ThrowIfNull(offsets);
        var request = new DeleteLettersRequest
        {
            Topic = topic,
            Group = group,
            Offsets = { offsets },
        };
        return ToResults(
            (
                await _calls.DeleteLettersAsync(request, cancellationToken: cancellationToken).ConfigureAwait(false)
            ).Results
        );
    }

    /// <summary>
    /// Publishes a letter's message, edited or as it was, as a new message with a new offset, which all groups of that
    /// topic get. The letter is settled once the message is stored. Also needs the rights to consume the topic and to
    /// publish.
    /// </summary>
    /// <param name="topic">The topic.</param>
    /// <param name="group">The group.</param>
    /// <param name="offset">The letter's offset.</param>
    /// <param name="edit">What is to be different; null for nothing.</param>
    /// <param name="settle">
    /// Whether the letter is settled. Then nothing is published of one that was settled before.
    /// </param>
    /// <param name="target">
    /// The topic to publish to, <c>orders/3</c> for one of its partitions; null for the one that the message was
    /// dead-lettered from.
    /// </param>
    /// <param name="cancellationToken">Ends the wait; the message may be published nevertheless.</param>
    /// <exception cref="LightQException">
    /// Also: there is no such letter, or its message cannot be read or published. Then nothing has changed.
    /// </exception>
    public async Task<RepublishedLetter> RepublishAsync(
        string topic,
        string group,
        long offset,
        MessageEdit? edit = null,
        bool settle = true,
        string? target = null,
        CancellationToken cancellationToken = default
    )
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        TopicAddress? other = target is null ? null : AddressArgument.Parse(target);
        var request = new RepublishLetterRequest
        {
            Topic = topic,
            Group = group,
            Offset = offset,
            Edit = StoredMapping.ToProto(edit),
            TargetTopic = other?.Topic ?? "",
            Settle = settle,
        };
        if (other?.Partition is { } partition)
            request.TargetPartition = (uint)partition;
        RepublishLetterResponse response = await _calls
            .RepublishLetterAsync(request, cancellationToken: cancellationToken)
            .ConfigureAwait(false);
        return new RepublishedLetter(
            response.Position is { } position
                ? StoredMapping.ToResult(response.Topic, position, response.Durability)
                : null,
            (LetterOutcome)response.Outcome,
            response.Problem.Length == 0 ? null : response.Problem
        );
    }

    private static IReadOnlyList<LetterResult> ToResults(IEnumerable<WireResult> results) =>
        [.. results.Select(result => new LetterResult(result.Offset, (LetterOutcome)result.Outcome))];

    private static DeadLetterInfo ToInfo(WireLetter letter) =>
        new(letter.Offset, (int)letter.Partition, letter.OriginalOffset, letter.Reason, (int)letter.Deliveries)
        {
            Time = letter.DeadLetterTime?.ToDateTimeOffset(),
            IsSettled = letter.Settled,
            HasOriginal = letter.OriginalHeld,
            Key = letter.HasKey ? letter.Key.Memory : (ReadOnlyMemory<byte>?)null,
            Headers = StoredMapping.HeadersOf(letter.Headers),
            Body = letter.Body.Memory,
            BodySize = (long)letter.BodySize,
            IsTombstone = letter.Tombstone,
            Content = (LetterContent)letter.Content,
        };
}
