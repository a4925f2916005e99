using LightQ.Broker;
using LightQ.Broker.Producers;
using LightQ.Broker.Streams;
using LightQ.Broker.Subscriptions;
using LightQ.Broker.Topics;
using LightQ.Broker.Users;
using LightQ.Protocol;

namespace LightQ.Server.Security;

/// <summary>
/// Decides which principal may do what, the same on every port, and makes a change apply at once to what is open
/// already. Thread-safe.
/// </summary>
/// <remarks>
/// Asked when something is opened or called, never per message. Decisions depend only on a topic's name, and on which
/// topics have it keep their letters, before it is looked up, so that a rejection is the same whether it exists or not.
/// When anything changes, each reviewer walks what
/// it has open, on the thread that made the change: when that call returns, nothing goes on that would be rejected now.
/// </remarks>
internal sealed class AccessControl : IDisposable
{
    private readonly LightQBroker _broker;
    private readonly Authenticator _authenticator;
    private readonly CatalogAge? _age;
    private readonly ITimer _expiry;
    private readonly Lock _reviewing = new();
    private readonly List<Action> _reviewers = [];
    private TaskCompletionSource _changed = New();

    /// <param name="broker">Knows users and rights.</param>
    /// <param name="authenticator">Knows logins.</param>
    /// <param name="age">Whether both are too old to be believed; null where they cannot be.</param>
    /// <param name="time">The clock.</param>
    public AccessControl(LightQBroker broker, Authenticator authenticator, CatalogAge? age, TimeProvider time)
    {
        _broker = broker;
        _authenticator = authenticator;
        _age = age;
        if (age is not null)
            age.Changed += Review;
        _expiry = time.CreateTimer(
            static self => ((AccessControl)self!).Review(),
            this,
            Timeout.InfiniteTimeSpan,
            Timeout.InfiniteTimeSpan
        );
        broker.Users.Changed += Review;
        AwaitExpiry();
    }

    /// <summary>Whether only admin may log in.</summary>
    public bool IsLimitedToAdmin => _authenticator.Options.IsLimitedToAdmin;

    /// <summary>Completes when rights have changed.</summary>
    public Task Changed => Volatile.Read(ref _changed).Task;

    /// <summary>Whether this node's copy of users and rights may be older than what counts in its cluster.</summary>
    public bool MayBeOld => _broker.HasReplication;

    /// <summary>
    /// Does something that decides by rights, topics or users: what is final for the caller is not said from a copy
    /// that may be old (docs/design/cluster.md, Refusals).
    /// </summary>
    public ValueTask<T> DecideAsync<T>(
        Func<ValueTask<T>> attempt,
        CancellationToken cancellationToken,
        Func<Exception, ErrorCode>? codeOf = null
    ) => _broker.Decisions.DecideAsync(attempt, cancellationToken, codeOf);

    /// <summary>Adds a callback for every change, which ends what is no longer allowed.</summary>
    public void AddReviewer(Action reviewer)
    {
        lock (_reviewing)
            _reviewers.Add(reviewer);
    }

    /// <summary>Looks at everything that is open.</summary>
    public void Review()
    {
        Interlocked.Exchange(ref _changed, New()).TrySetResult();
        lock (_reviewing)
        {
            foreach (Action reviewer in _reviewers)
                reviewer();
        }
        AwaitExpiry();
    }

    /// <summary>Whether a principal may do something on a topic, which need not exist.</summary>
    public bool Allows(Principal principal, Right right, string topic) =>
        IsInForce(principal)
        && principal.Kind switch
        {
            PrincipalKind.Admin => true,
            PrincipalKind.Anonymous => right == Right.Admin || !HasCredentials(topic),
            PrincipalKind.TopicUser => right is Right.Publish or Right.Consume && topic == principal.TopicName,
            PrincipalKind.User => UserOf(principal) is { } user && user.May(right, topic, OwnersOf(topic)),
            _ => false,
        };

    /// <summary>Whether a principal may know that a topic exists: it has some right there.</summary>
    public bool Sees(Principal principal, string topic) =>
        IsInForce(principal)
        && principal.Kind switch
        {
            PrincipalKind.Admin => true,
            PrincipalKind.Anonymous => !HasCredentials(topic),
            PrincipalKind.TopicUser => topic == principal.TopicName,
            PrincipalKind.User => UserOf(principal) is { } user && user.Sees(topic, OwnersOf(topic)),
            _ => false,
        };

    /// <summary>Why a principal may not go on; null when it may.</summary>
    public BrokerException? Refusal(Principal principal, Right right, string topic) =>
        Allows(principal, right, topic) ? null : Refuse(principal, right.ToString().ToLowerInvariant(), topic);

    /// <summary>Demands a right on a topic, which need not exist.</summary>
    /// <exception cref="BrokerException">
    /// It is missing: <see cref="ErrorCode.PermissionDenied"/>; or there is no login:
    /// <see cref="ErrorCode.Unauthenticated"/>.
    /// </exception>
    public void Demand(Principal principal, Right right, string topic)
    {
        if (Refusal(principal, right, topic) is { } refusal)
            throw refusal;
    }

    /// <summary>Demands any right on a topic, which need not exist.</summary>
    /// <exception cref="BrokerException">As <see cref="Demand"/>.</exception>
    public void DemandSight(Principal principal, string topic)
    {
        if (!Sees(principal, topic))
            throw Refuse(principal, "publish, consume or manage", topic);
    }

    /// <summary>Hears of what other nodes have changed if a topic is unknown here.</summary>
    public async ValueTask LookForAsync(string topic, CancellationToken cancellationToken)
    {
        if (!_broker.TryGetTopic(topic, out _))
            await _broker.Decisions.ReadOnAsync(_broker.Decisions.Sequence, cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Demands the right Admin.</summary>
    /// <exception cref="BrokerException">As <see cref="Demand"/>.</exception>
    public void DemandAdmin(Principal principal)
    {
        DemandCurrent(principal);
        if (!IsAdmin(principal))
            throw new BrokerException(ErrorCode.PermissionDenied, $"{principal.Name} does not have the right admin.");
    }

    /// <summary>Demands only that the principal's login is still valid.</summary>
    /// <exception cref="BrokerException">It is not: <see cref="ErrorCode.Unauthenticated"/>.</exception>
    public void DemandCurrent(Principal principal)
    {
        if (EndOf(principal) is { } end)
            throw end;
    }

    /// <summary>Why a principal's login is no longer valid, or does not count now; null while it does.</summary>
    public BrokerException? EndOf(Principal principal) =>
        _authenticator.IsCurrent(principal)
            ? TooOldFor(principal)
            : new BrokerException(
                ErrorCode.Unauthenticated,
                principal.Kind == PrincipalKind.Anonymous
                    ? "This broker now requires a login."
                    : $"The login of {principal.Name} is no longer valid: it was logged out, or the user, password or "
                        + "token has changed. Log in again."
            );

    /// <summary>Whether a principal may do everything.</summary>
    public bool IsAdmin(Principal principal) =>
        principal.Kind switch
        {
            PrincipalKind.Admin or PrincipalKind.Anonymous => true,
            PrincipalKind.User => UserOf(principal) is { IsAdmin: true },
            _ => false,
        };

    /// <summary>Ends a stream that its owner may not have any more.</summary>
    public void Review(Principal principal, Right right, string topic, OutputStream stream)
    {
        if ((EndOf(principal) ?? Refusal(principal, right, topic)) is { } refusal)
            stream.RequestClose(new StreamClose(refusal.Code, refusal.Message));
    }

    /// <summary>Ends a stream of a connection whose principal may not have it any more.</summary>
    public void Review(Principal principal, OutputStream stream)
    {
        if (stream is ProducerStream producer)
            Review(principal, Right.Publish, producer.Partition.Topic.Name, producer);
        else if (stream is Subscription subscription)
            Review(principal, Right.Consume, subscription.Partition.Topic.Name, subscription);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _broker.Users.Changed -= Review;
        _expiry.Dispose();
    }

    private bool IsInForce(Principal principal) => _authenticator.IsCurrent(principal) && TooOldFor(principal) is null;

    /// <summary>Admin can log in to find out what is wrong; who has not logged in has nothing to lose.</summary>
    private BrokerException? TooOldFor(Principal principal) =>
        principal.Kind is PrincipalKind.User or PrincipalKind.TopicUser ? _age?.Refusal : null;

    private static TaskCompletionSource New() => new(TaskCreationOptions.RunContinuationsAsynchronously);

    private User? UserOf(Principal principal) =>
        _broker.Users.Table.Users.TryGetValue(principal.Name, out User? user) && user.Id == principal.Id ? user : null;

    /// <summary>Whether a topic, or the one whose dead letters it gets, has a user of its own.</summary>
    private bool HasCredentials(string topic) =>
        HasOwnUser(topic)
        || OwnersOf(topic).Any(HasOwnUser)
        || (TopicName.OwnerOf(topic) is var owner && owner.Length != topic.Length && HasOwnUser(owner.ToString()));

    private IReadOnlySet<string> OwnersOf(string topic) => _broker.LetterOwnersOf(topic);

    private bool HasOwnUser(string topic) =>
        _broker.TryGetTopic(topic, out Topic? found) && found.Credentials is not null;

    private BrokerException Refuse(Principal principal, string right, string topic)
    {
        if (EndOf(principal) is { } end)
            return end;
        return principal.Kind == PrincipalKind.Anonymous
            ? new BrokerException(
                ErrorCode.Unauthenticated,
                $"The topic '{TopicName.Printable(topic)}' has a user of its own and is closed to clients that have "
                    + $"not logged in."
            )
            : new BrokerException(
                ErrorCode.PermissionDenied,
                $"{principal.Name} does not have the right to {right} on '{TopicName.Printable(topic)}'."
            );
    }

    /// <summary>A token's end comes without a call.</summary>
    private void AwaitExpiry()
    {
        TimeSpan? next = _broker
            .Users.Table.Tokens.Values.Select(_broker.Users.LeftOf)
            .Where(t => t > TimeSpan.Zero)
            .Min();
        // A timer takes 49 days at most.
        TimeSpan due = next is { } left && left < TimeSpan.FromDays(1) ? left : TimeSpan.FromDays(1);
        _expiry.Change(next is null ? Timeout.InfiniteTimeSpan : due, Timeout.InfiniteTimeSpan);
    }
}
