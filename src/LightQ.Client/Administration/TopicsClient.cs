using System.Runtime.CompilerServices;
using LightQ.Protocol.Control;

namespace LightQ.Client.Administration;

/// <summary>Creates, describes, lists and deletes topics. Reached by <see cref="LightQClient.Topics"/>.</summary>
/// <remarks>
/// Thread-safe. Uses the control plane (gRPC), which has its own connection, independent of publishing and consuming.
/// </remarks>
/// <example>
/// <code>
/// await client.Topics.EnsureAsync(new TopicSpec("orders") { Kind = TopicKind.Durable, RetentionAge = TimeSpan.FromDays(7) });
/// await foreach (TopicInfo topic in client.Topics.ListAsync())
///     Console.WriteLine($"{topic.Name}: {topic.EndOffsets[0]} messages so far");
/// </code>
/// </example>
public sealed class TopicsClient
{
    private readonly Protocol.Control.Topics.TopicsClient _calls;
    private readonly Lazy<Protocol.Control.Topics.TopicsClient> _secretCalls;

    internal TopicsClient(ControlChannel channel)
    {
        _calls = new Protocol.Control.Topics.TopicsClient(channel.Calls);
        _secretCalls = new Lazy<Protocol.Control.Topics.TopicsClient>(() =>
            new Protocol.Control.Topics.TopicsClient(channel.SecretCalls)
        );
    }

    /// <summary>Creates a topic.</summary>
    /// <param name="topic">Its name and settings.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>The topic as it was created.</returns>
    /// <exception cref="LightQException">
    /// <see cref="ErrorCode.TopicExists"/>, <see cref="ErrorCode.InvalidArgument"/>, or the broker cannot be reached.
    /// </exception>
    public async Task<TopicInfo> CreateAsync(TopicSpec topic, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(topic);
        var request = new CreateTopicRequest { Name = topic.Name, Settings = TopicMapping.ToSettings(topic) };
        return TopicMapping.ToInfo(
            (await _calls.CreateTopicAsync(request, cancellationToken: cancellationToken).ConfigureAwait(false)).Topic
        );
    }

    /// <summary>
    /// Creates the topic if it is missing; otherwise changes the settings that differ. Settings that are left at their
    /// defaults are not compared.
    /// </summary>
    /// <param name="topic">The topic's name and the wanted settings.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>The topic, whether it is new, and what was changed.</returns>
    /// <exception cref="LightQException">
    /// A setting that cannot be changed differs (the message names it), or the broker cannot be reached.
    /// </exception>
    public Task<EnsureTopicResult> EnsureAsync(TopicSpec topic, CancellationToken cancellationToken = default) =>
        EnsureAsync(topic, EnsureMode.Change, cancellationToken);

    /// <summary>The same, with a say in what may be done about a topic that is missing or has other settings.</summary>
    /// <param name="topic">The topic's name and the wanted settings.</param>
    /// <param name="mode">What may be done.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>
    /// The topic, whether it is new, and what was changed; with <see cref="EnsureMode.Create"/> what differs and was
    /// left as it is.
    /// </returns>
    /// <exception cref="LightQException">
    /// A setting that cannot be changed differs, or with <see cref="EnsureMode.Check"/> any (the message names it); the
    /// topic is missing and is not to be created; or the broker cannot be reached.
    /// </exception>
    public async Task<EnsureTopicResult> EnsureAsync(
        TopicSpec topic,
        EnsureMode mode,
        CancellationToken cancellationToken = default
    )
    {
        ArgumentNullException.ThrowIfNull(topic);
        var request = new EnsureTopicRequest
        {
            Name = topic.Name,
            Settings = TopicMapping.ToSettings(topic),
            Mode = (Protocol.Control.EnsureMode)mode,
        };
        EnsureTopicResponse response = await _calls
            .EnsureTopicAsync(request, cancellationToken: cancellationToken)
            .ConfigureAwait(false);
        if (mode == EnsureMode.Check && response.Changes.Count != 0)
        {
            string differences = string.Join(
                "; ",
                response.Changes.Select(c => $"{c.Setting} is {c.From}, not {c.To}")
            );
            throw new LightQException(
                ErrorCode.TopicExists,
                $"The topic '{topic.Name}' has other settings, and is not to be changed: {differences}."
            );
        }

        return new EnsureTopicResult(
            TopicMapping.ToInfo(response.Topic),
            response.Created,
            [.. response.Changes.Select(c => new TopicChange(c.Setting, c.From, c.To))]
        );
    }

    /// <summary>Describes a topic.</summary>
    /// <param name="name">Its name.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="LightQException">
    /// <see cref="ErrorCode.UnknownTopic"/>, or the broker cannot be reached.
    /// </exception>
    public async Task<TopicInfo> GetAsync(string name, CancellationToken cancellationToken = default) =>
        TopicMapping.ToInfo(
            (
                await _calls
                    .GetTopicAsync(new GetTopicRequest { Name = name }, cancellationToken: cancellationToken)
                    .ConfigureAwait(false)
            ).Topic
        );

    /// <summary>All topics in the order of their names, fetched a page at a time while you enumerate.</summary>
    /// <param name="cancellationToken">Ends the enumeration.</param>
    /// <exception cref="LightQException">
    /// From the enumeration: a right is missing, or the broker cannot be reached.
    /// </exception>
    public async IAsyncEnumerable<TopicInfo> ListAsync(
        [EnumeratorCancellation] CancellationToken cancellationToken = default
    )
    {
        string pageToken = "";
        do
        {
            var request = new ListTopicsRequest { PageToken = pageToken };
            ListTopicsResponse page = await _calls
                .ListTopicsAsync(request, cancellationToken: cancellationToken)
                .ConfigureAwait(false);
            foreach (Topic topic in page.Topics)
                yield return TopicMapping.ToInfo(topic);
            pageToken = page.NextPageToken;
        } while (pageToken.Length > 0);
    }

    /// <summary>
    /// Deletes a topic with everything in it; its producers and subscriptions end with
    /// <see cref="ErrorCode.TopicDeleted"/>.
    /// </summary>
    /// <param name="name">Its name.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="LightQException">
    /// <see cref="ErrorCode.UnknownTopic"/>, or the broker cannot be reached.
    /// </exception>
    public Task DeleteAsync(string name, CancellationToken cancellationToken = default) =>
        _calls
            .DeleteTopicAsync(new DeleteTopicRequest { Name = name }, cancellationToken: cancellationToken)
            .ResponseAsync;

    /// <summary>Removes a topic's oldest messages. Consumers that were behind get a gap.</summary>
    /// <param name="name">Its name.</param>
    /// <param name="beforeOffset">
    /// Messages below this offset are removed; null removes all that are readable now.
    /// </param>
    /// <param name="partition">The partition.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>The first offset that the partition now holds.</returns>
    /// <exception cref="LightQException">
    /// <see cref="ErrorCode.UnknownTopic"/>, or the broker cannot be reached.
    /// </exception>
    public async Task<long> TruncateAsync(
        string name,
        long? beforeOffset = null,
        int partition = 0,
        CancellationToken cancellationToken = default
    )
    {
        ArgumentOutOfRangeException.ThrowIfNegative(partition);
        var request = new TruncateTopicRequest
        {
            Name = name,
            BeforeOffset = beforeOffset ?? -1,
            Partition = (uint)partition,
        };
        return (
            await _calls.TruncateTopicAsync(request, cancellationToken: cancellationToken).ConfigureAwait(false)
        ).StartOffset;
    }

    /// <summary>
    /// Begins to give a durable topic of a cluster replicas, or says how far that has come. The topic keeps its
    /// messages at their offsets, its groups and named producers.
    /// </summary>
    /// <param name="name">Its name.</param>
    /// <param name="replicas">How many: 3 or 5.</param>
    /// <param name="cancellationToken">Ends the wait; it goes on in the broker.</param>
    /// <returns>How far it has come: call it again until it is done.</returns>
    /// <exception cref="LightQException">
    /// <see cref="ErrorCode.UnknownTopic"/>, the topic cannot have replicas, what was begun has failed and the topic is
    /// as before, or the broker cannot be reached.
    /// </exception>
    public async Task<TopicReplication> ReplicateAsync(
        string name,
        int replicas,
        CancellationToken cancellationToken = default
    )
    {
        ArgumentOutOfRangeException.ThrowIfNegative(replicas);
        var request = new ReplicateTopicRequest { Name = name, Replicas = (uint)replicas };
        ReplicateTopicResponse response = await _calls
            .ReplicateTopicAsync(request, cancellationToken: cancellationToken)
            .ConfigureAwait(false);
        return new TopicReplication(
            response.Done,
            (long)Math.Min(response.CopiedBytes, long.MaxValue),
            (long)Math.Min(response.TotalBytes, long.MaxValue)
        );
    }

    /// <summary>
    /// Gives a topic a user of its own, or a new password for that user. From then on, clients that have not logged in
    /// may not use the topic. The user logs in as <c>TOPIC/USER</c>.
    /// </summary>
    /// <param name="name">The topic's name.</param>
    /// <param name="user">The user's name in this topic; null removes the topic's user.</param>
    /// <param name="password">Its password.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="LightQException">
    /// <see cref="ErrorCode.UnknownTopic"/>, the right to manage the topic is missing, or the broker cannot be
    /// reached.
    /// </exception>
    public Task SetCredentialsAsync(
        string name,
        string? user,
        string? password,
        CancellationToken cancellationToken = default
    ) =>
        (password is null ? _calls : _secretCalls.Value)
            .SetTopicCredentialsAsync(
                new SetTopicCredentialsRequest
                {
                    Topic = name,
                    User = user ?? "",
                    Password = password ?? "",
                },
                cancellationToken: cancellationToken
            )
            .ResponseAsync;
}
