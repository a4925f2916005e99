using LightQ.Broker;
using LightQ.Broker.Topics;
using LightQ.Broker.Users;
using LightQ.Protocol;
using LightQ.Server.Security;
using LightQ.Server.Telemetry;

namespace LightQ.Server.Web;

/// <summary>
/// The commands of the JSON protocol. Each checks user and password, also where anonymous clients may do everything.
/// </summary>
internal sealed class AdminCommands(LightQBroker broker, ServerSecurity security)
{
    private const string CreateTopic = "create_topic",
        Join = "join",
        Stats = "stats";
    private const int LongestSecret = 500;

    /// <summary>Does what a request says.</summary>
    /// <param name="request">The request.</param>
    /// <param name="bindUri">The connection string for a client that reaches the broker as this one did.</param>
    /// <param name="origin">The caller, for the log.</param>
    /// <param name="cancellationToken">Ends the wait for the hashing of a password.</param>
    /// <exception cref="BrokerException">The request is rejected.</exception>
    public Task<AdminResponse> ExecuteAsync(
        AdminRequest request,
        string bindUri,
        Origin origin,
        CancellationToken cancellationToken
    ) =>
        broker
            .Decisions.DecideAsync(
                () =>
                    new ValueTask<AdminResponse>(
                        request.Cmd switch
                        {
                            CreateTopic => CreateAsync(request, origin, cancellationToken),
                            Join => JoinAsync(request, bindUri, origin, cancellationToken),
                            Stats => StatsAsync(request, origin, cancellationToken),
                            _ => throw Refuse("cmd", request.Cmd, CreateTopic, Join, Stats),
                        }
                    ),
                cancellationToken
            )
            .AsTask();

    private async Task<AdminResponse> CreateAsync(
        AdminRequest request,
        Origin origin,
        CancellationToken cancellationToken
    )
    {
        string admin = Need(request.AdminUserId, "admin_user_id"),
            adminPassword = Need(request.AdminPassword, "admin_password");
        Principal principal = await LogInAsync(
                admin,
                adminPassword,
                origin,
                "admin_user_id or admin_password is wrong.",
                cancellationToken
            )
            .ConfigureAwait(false);
        string topic = Need(request.Topic, "topic"),
            user = Need(request.UserId, "user_id"),
            password = Need(request.Password, "password");
        security.Access.Demand(principal, Right.Manage, topic);
        TopicKind kind = request.BrokerType switch
        {
            "queue" => TopicKind.Transient,
            "file" => TopicKind.Durable,
            _ => throw Refuse("broker_type", request.BrokerType, "queue", "file"),
        };
        var credentials = new TopicCredentials(
            user,
            await security.Authenticator.Passwords.CreateAsync(password, cancellationToken).ConfigureAwait(false)
        );
        Topic created = await broker
            .Decisions.ChangeAsync(
                () => broker.CreateTopic(topic, new TopicSettings { Kind = kind }, credentials, principal.Number),
                cancellationToken
            )
            .ConfigureAwait(false);
        await security
            .Events.RaiseAsync(
                new SecurityEvent(SecurityAction.TopicCreated, principal.ToString(), origin, created.Name)
            )
            .ConfigureAwait(false);
        await security
            .Events.RaiseAsync(
                new SecurityEvent(
                    SecurityAction.TopicCredentialsChanged,
                    principal.ToString(),
                    origin,
                    created.Name,
                    $"user {TopicName.Printable(user)}"
                )
            )
            .ConfigureAwait(false);
        return new AdminResponse
        {
            Cmd = CreateTopic,
            Status = AdminResponse.Ok,
            Description = "topic created successfully",
        };
    }

    private async Task<AdminResponse> JoinAsync(
        AdminRequest request,
        string bindUri,
        Origin origin,
        CancellationToken cancellationToken
    )
    {
        if (request.ConnectionType is not ("zmq" or "socket"))
            throw Refuse("connection_type", request.ConnectionType, "zmq", "socket");
        if (request.Type is not ("pub" or "pull" or "sub"))
            throw Refuse("type", request.Type, "pub", "pull", "sub");
        (Principal principal, string topic) = await IdentifyAsync(request, origin, cancellationToken)
            .ConfigureAwait(false);
        security.Access.Demand(principal, request.Type == "pub" ? Right.Publish : Right.Consume, topic);
        // The admin's token would open every other topic, too.
        string uri =
            principal.Kind == PrincipalKind.Admin
                ? bindUri
                : $"{bindUri}&token={security.Authenticator.IssueToken(principal).Token}";
        return new AdminResponse
        {
            Cmd = Join,
            Status = AdminResponse.Ok,
            Topic = broker.GetTopic(topic).Name,
            BindUri = uri,
        };
    }

    private async Task<AdminResponse> StatsAsync(
        AdminRequest request,
        Origin origin,
        CancellationToken cancellationToken
    )
    {
        (Principal principal, string topic) = await IdentifyAsync(request, origin, cancellationToken)
            .ConfigureAwait(false);
        security.Access.DemandSight(principal, topic);
        var figures = TopicFigures.Of(broker.GetTopic(topic));
        return new AdminResponse
        {
            Cmd = Stats,
            Status = AdminResponse.Ok,
            MessagesReceived = figures.MessagesReceived,
            MessagesSent = figures.MessagesSent,
            PublishersCount = figures.Publishers,
            SubscribersCount = figures.Subscribers,
            QueueSize = figures.QueueSize,
            TotalBytesRead = figures.BytesRead,
            TotalBytesWritten = figures.BytesWritten,
        };
    }

    /// <summary>
    /// The topic's own user, else a user of the broker. Who is neither does not learn whether the topic exists.
    /// </summary>
    private async Task<(Principal Principal, string Topic)> IdentifyAsync(
        AdminRequest request,
        Origin origin,
        CancellationToken cancellationToken
    )
    {
        string topic = Need(request.Topic, "topic"),
            user = Need(request.UserId, "user_id"),
            password = Need(request.Password, "password");
        bool isBrokers =
            user == Authenticator.Admin || (broker.Users.Table.Users.ContainsKey(user) && !IsOwnUser(topic, user));
        const string Refusal = "There is no such topic, or user_id or password is wrong.";
        return (
            await LogInAsync(
                    isBrokers ? user : $"{topic}{Authenticator.TopicSeparator}{user}",
                    password,
                    origin,
                    Refusal,
                    cancellationToken
                )
                .ConfigureAwait(false),
            topic
        );
    }

    private bool IsOwnUser(string topic, string user) =>
        broker.TryGetTopic(topic, out Topic? found) && found.Credentials?.User == user;

    private async Task<Principal> LogInAsync(
        string user,
        string password,
        Origin origin,
        string refusal,
        CancellationToken cancellationToken
    )
    {
        try
        {
            return await security
                .Authenticator.LogInAsync(user, password, origin, cancellationToken)
                .ConfigureAwait(false);
        }
        catch (BrokerException e) when (e.Code == ErrorCode.Unauthenticated)
        {
            throw new BrokerException(e.Code, refusal);
        }
    }

    private static string Need(string? value, string field) =>
        value switch
        {
            null or "" => throw new BrokerException(ErrorCode.InvalidArgument, $"{field} is missing."),
            { Length: > LongestSecret } => throw new BrokerException(
                ErrorCode.InvalidArgument,
                $"{field} has {value.Length} characters; allowed: {LongestSecret}."
            ),
            _ => value,
        };

    private static BrokerException Refuse(string field, string? value, params string[] allowed) =>
        new(
            ErrorCode.InvalidArgument,
            $"{field} is {(value is null ? "missing" : value.Length > LongestSecret ? "too long" : $"'{value}'")}; "
                + $"allowed: {string.Join(", ", allowed)}."
        );
}
