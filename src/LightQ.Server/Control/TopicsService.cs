using Grpc.Core;
using LightQ.Broker;
using LightQ.Protocol;
using LightQ.Protocol.Control;
using LightQ.Server.Security;
using ReplicationProgress = LightQ.Broker.Topics.ReplicationProgress;
using Right = LightQ.Broker.Users.Right;
using SettingChange = LightQ.Protocol.Control.SettingChange;
using Topic = LightQ.Broker.Topics.Topic;
using TopicCredentials = LightQ.Broker.Topics.TopicCredentials;
using TopicSettings = LightQ.Broker.Topics.TopicSettings;

namespace LightQ.Server.Control;

/// <summary>Serves <c>lightq.control.v1.Topics</c>.</summary>
internal sealed class TopicsService(
    LightQBroker broker,
    Authenticator authenticator,
    AccessControl access,
    ISecurityEvents events
) : Protocol.Control.Topics.TopicsBase
{
    /// <summary>One EnsureTopic at a time: it reads, compares and writes.</summary>
    private readonly Lock _ensuring = new();

    public override async Task<CreateTopicResponse> CreateTopic(CreateTopicRequest request, ServerCallContext context)
    {
        DemandDeadLetters(request.Settings, null, context);
        Topic topic = await broker
            .Decisions.ChangeAsync(() => Create(request.Name, request.Settings, context), context.CancellationToken)
            .ConfigureAwait(false);
        await RaiseAsync(SecurityAction.TopicCreated, context, topic.Name).ConfigureAwait(false);
        return new CreateTopicResponse { Topic = TopicMapping.ToProto(topic) };
    }

    public override async Task<EnsureTopicResponse> EnsureTopic(EnsureTopicRequest request, ServerCallContext context)
    {
        (EnsureTopicResponse response, Task idsRead) = await broker
            .Decisions.ChangeAsync(
                () => (Ensure(request, context, out Task reading), reading),
                context.CancellationToken
            )
            .ConfigureAwait(false);
        if (response.Created)
        {
            await RaiseAsync(SecurityAction.TopicCreated, context, request.Name).ConfigureAwait(false);
        }
        else if (response.Changes.Count != 0 && request.Mode == EnsureMode.Unspecified)
        {
            await RaiseAsync(
                    SecurityAction.TopicChanged,
                    context,
                    request.Name,
                    string.Join(", ", response.Changes.Select(c => $"{c.Setting} {c.From} to {c.To}"))
                )
                .ConfigureAwait(false);
        }

        await idsRead.ConfigureAwait(false);
        return response;
    }

    /// <param name="request">The request.</param>
    /// <param name="context">Its call.</param>
    /// <param name="idsRead">To be waited for, when nothing is locked, before the call is answered.</param>
    private EnsureTopicResponse Ensure(EnsureTopicRequest request, ServerCallContext context, out Task idsRead)
    {
        idsRead = Task.CompletedTask;
        lock (_ensuring)
        {
            broker.TryGetTopic(request.Name, out Topic? topic);
            if (topic is null && request.Mode == EnsureMode.Check)
                topic = broker.GetTopic(request.Name); // Says what is missing.
            DemandDeadLetters(request.Settings, topic, context);
            if (topic is null)
            {
                try
                {
                    topic = Create(request.Name, request.Settings, context);
                    return new EnsureTopicResponse { Topic = TopicMapping.ToProto(topic), Created = true };
                }
                catch (BrokerException e) when (e.Code == ErrorCode.TopicExists)
                {
                    topic = broker.GetTopic(request.Name); // A CreateTopic was faster.
                }
            }
            SettingChange[] changes =
                request.Mode == EnsureMode.Unspecified
                    ? Change(topic, request.Settings, out idsRead)
                    : ToProto(Differences(topic.Settings, request.Settings, out _));
            return new EnsureTopicResponse { Topic = TopicMapping.ToProto(topic), Changes = { changes } };
        }
    }

    private SettingChange[] Change(Topic topic, LightQ.Protocol.Control.TopicSettings? requested, out Task idsRead)
    {
        (TopicSettingField Field, Broker.Topics.SettingChange Change)[] differences = Differences(
            topic.Settings,
            requested,
            out TopicSettings after
        );
        string[] fixedOnes =
        [
            .. differences
                .Where(d => d.Field.IsImmutable)
                .Select(d => $"{d.Change.Setting} is {d.Change.From}, not {d.Change.To}"),
        ];
        if (fixedOnes.Length != 0)
        {
            throw ControlErrors.Make(
                StatusCode.FailedPrecondition,
                ErrorCode.TopicExists,
                $"The topic '{topic.Name}' exists with settings that cannot be changed: {string.Join("; ", fixedOnes)}."
                    + (after.Replicas > topic.Settings.Replicas ? " 'lightq topic replicate' gives it replicas." : "")
            );
        }
        idsRead = differences.Length != 0 ? broker.ChangeSettingsAsync(topic, after) : topic.IdsRead;
        return ToProto(differences);
    }

    private static (TopicSettingField Field, Broker.Topics.SettingChange Change)[] Differences(
        TopicSettings before,
        LightQ.Protocol.Control.TopicSettings? requested,
        out TopicSettings after
    )
    {
        after = TopicMapping.Apply(requested, before);
        // Of another kind, or with other replicas, it would be refused for what follows from these.
        if (after.Kind == before.Kind && after.Replicas == before.Replicas)
            after = after.Complete();
        return [.. TopicMapping.Compare(before, after)];
    }

    private static SettingChange[] ToProto(
        (TopicSettingField Field, Broker.Topics.SettingChange Change)[] differences
    ) =>
        [
            .. differences.Select(static d => new SettingChange
            {
                Setting = d.Change.Setting,
                From = d.Change.From,
                To = d.Change.To,
            }),
        ];

    public override Task<GetTopicResponse> GetTopic(GetTopicRequest request, ServerCallContext context) =>
        Task.FromResult(new GetTopicResponse { Topic = TopicMapping.ToProto(broker.GetTopic(request.Name)) });

    public override Task<ListTopicsResponse> ListTopics(ListTopicsRequest request, ServerCallContext context)
    {
        Principal principal = CallPrincipal.Of(context);
        (Topic[] page, string next) = TopicPage.Take(
            broker.Topics.Where(t => access.Sees(principal, t.Name)),
            request.PageSize,
            request.PageToken
        );
        return Task.FromResult(
            new ListTopicsResponse { Topics = { page.Select(TopicMapping.ToProto) }, NextPageToken = next }
        );
    }

    public override async Task<DeleteTopicResponse> DeleteTopic(DeleteTopicRequest request, ServerCallContext context)
    {
        await RaiseForAsync(
                SecurityAction.TopicDeleted,
                context,
                request.Name,
                "",
                () => broker.DeleteTopicAsync(request.Name, context.CancellationToken)
            )
            .ConfigureAwait(false);
        return new DeleteTopicResponse();
    }

    public override async Task<TruncateTopicResponse> TruncateTopic(
        TruncateTopicRequest request,
        ServerCallContext context
    )
    {
        long start = broker.TruncateTopic(request.Name, request.Partition, request.BeforeOffset);
        await RaiseAsync(
                SecurityAction.TopicTruncated,
                context,
                request.Name,
                $"partition {request.Partition} begins at {start}"
            )
            .ConfigureAwait(false);
        return new TruncateTopicResponse { StartOffset = start };
    }

    public override async Task<ReplicateTopicResponse> ReplicateTopic(
        ReplicateTopicRequest request,
        ServerCallContext context
    )
    {
        ReplicationProgress progress = await broker
            .Decisions.ChangeAsync(() => broker.ReplicateTopic(request.Name, request.Replicas))
            .ConfigureAwait(false);
        if (progress.HasBegun)
        {
            await RaiseAsync(
                    SecurityAction.TopicChanged,
                    context,
                    request.Name,
                    $"replicas: 1 -> {request.Replicas}, begun"
                )
                .ConfigureAwait(false);
        }
        return new ReplicateTopicResponse
        {
            Done = progress.IsDone,
            CopiedBytes = (ulong)progress.CopiedBytes,
            TotalBytes = (ulong)progress.TotalBytes,
        };
    }

    public override async Task<SetTopicCredentialsResponse> SetTopicCredentials(
        SetTopicCredentialsRequest request,
        ServerCallContext context
    )
    {
        TopicCredentials? credentials = null;
        if (request.User.Length != 0)
        {
            CheckLength(request.User, "user");
            CheckLength(request.Password, "password");
            credentials = new TopicCredentials(
                request.User,
                await authenticator
                    .Passwords.CreateAsync(request.Password, context.CancellationToken)
                    .ConfigureAwait(false)
            );
        }
        string what = credentials is null ? "none" : $"user {TopicName.Printable(credentials.User)}";
        await RaiseForAsync(
                SecurityAction.TopicCredentialsChanged,
                context,
                request.Topic,
                what,
                () =>
                    broker
                        .Decisions.ChangeAsync(
                            () => broker.SetCredentials(request.Topic, credentials),
                            context.CancellationToken
                        )
                        .AsTask()
            )
            .ConfigureAwait(false);
        return new SetTopicCredentialsResponse();
    }

    private Task RaiseAsync(SecurityAction action, ServerCallContext context, string topic, string detail = "") =>
        events.RaiseAsync(Event(action, context, topic, detail));

    private Task<bool> RaiseForAsync(
        SecurityAction action,
        ServerCallContext context,
        string topic,
        string detail,
        Func<Task> change
    ) =>
        events.RaiseForAsync(
            () => Event(action, context, topic, detail),
            async () =>
            {
                await change().ConfigureAwait(false);
                return true;
            }
        );

    private static SecurityEvent Event(SecurityAction action, ServerCallContext context, string topic, string detail) =>
        new(action, CallPrincipal.Of(context).ToString(), Origin.Control(context), topic, detail);

    /// <summary>
    /// The broker publishes dead letters with rights of its own: a caller that sets the dead-letter topic must
    /// have the right there.
    /// </summary>
    private void DemandDeadLetters(
        LightQ.Protocol.Control.TopicSettings? requested,
        Topic? topic,
        ServerCallContext context
    )
    {
        if (
            requested is { DeadLetterTopic: { Length: > 0 } target }
            && target != topic?.Settings.Delivery.DeadLetterTopic
        )
        {
            access.Demand(CallPrincipal.Of(context), Right.Publish, target);
            // Rights on it follow this topic from now on, which whoever may only publish there has no say in. It may be
            // missing as yet.
            access.Demand(CallPrincipal.Of(context), Right.Manage, target);
        }
    }

    private Topic Create(string name, LightQ.Protocol.Control.TopicSettings? settings, ServerCallContext context) =>
        broker.CreateTopic(name, TopicMapping.OfNewTopic(settings), maker: CallPrincipal.Of(context).Number);

    private static void CheckLength(string value, string field)
    {
        if (
            value.Length is 0 or > Broker.Users.UserStore.MaxPasswordLength
            || value.Contains('\0', StringComparison.Ordinal)
        )
        {
            throw new BrokerException(
                ErrorCode.InvalidArgument,
                $"{field} has {value.Length} characters; allowed: 1 to {Broker.Users.UserStore.MaxPasswordLength}, "
                    + $"and no NUL."
            );
        }
    }
}
