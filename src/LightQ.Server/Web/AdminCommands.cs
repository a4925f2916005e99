using LightQ.Broker;
using LightQ.Broker.Topics;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using LightQ.Server.Control;
using LightQ.Server.Security;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Web;

/// <summary>The commands of the JSON protocol. Each checks user and password, also where anonymous clients may do everything.</summary>
internal sealed class AdminCommands(LightQBroker broker, Authenticator authenticator, ILogger logger)
{
    private const string CreateTopic = "create_topic", Join = "join", Stats = "stats";
    private const int LongestSecret = 500;

    /// <summary>Stands for the credentials of a topic that is not there, which must not answer sooner than one that is.</summary>
    private static readonly Lazy<TopicCredentials> Nobody = new(() => TopicCredentials.Create("", Guid.NewGuid().ToString()));

    /// <summary>One password is hashed at a time: however many are tried, a core is left for the messages.</summary>
    private readonly TaskFactory _hashing = new(new ConcurrentExclusiveSchedulerPair().ExclusiveScheduler);

    /// <summary>Does what a request says.</summary>
    /// <param name="request">The request.</param>
    /// <param name="bindUri">What a client connects with that reached the broker as this one did.</param>
    /// <param name="peer">Who asks, for the log.</param>
    /// <param name="cancellationToken">Ends the wait for the hashing of a password.</param>
    /// <exception cref="BrokerException">It is refused.</exception>
    public Task<AdminResponse> ExecuteAsync(AdminRequest request, string bindUri, string peer, CancellationToken cancellationToken) => request.Cmd switch
    {
        CreateTopic => CreateAsync(request, peer, cancellationToken),
        Join => JoinAsync(request, bindUri, cancellationToken),
        Stats => StatsAsync(request, cancellationToken),
        _ => throw Refuse("cmd", request.Cmd, CreateTopic, Join, Stats),
    };

    private async Task<AdminResponse> CreateAsync(AdminRequest request, string peer, CancellationToken cancellationToken)
    {
        if (!await IsAdminAsync(Need(request.AdminUserId, "admin_user_id"), Need(request.AdminPassword, "admin_password")).ConfigureAwait(false))
            throw new BrokerException(ErrorCode.Unauthenticated, "admin_user_id or admin_password is wrong.");
        string topic = Need(request.Topic, "topic"), user = Need(request.UserId, "user_id"), password = Need(request.Password, "password");
        TopicKind kind = request.BrokerType switch
        {
            "queue" => TopicKind.Transient,
            "file" => TopicKind.Durable,
            _ => throw Refuse("broker_type", request.BrokerType, "queue", "file"),
        };
        TopicCredentials credentials = await _hashing.StartNew(() => TopicCredentials.Create(user, password), cancellationToken).ConfigureAwait(false);
        Topic created = broker.CreateTopic(topic, new TopicSettings { Kind = kind }, credentials);
        ServerLog.TopicChanged(logger, created.Name, "created", peer);
        return new AdminResponse { Cmd = CreateTopic, Status = AdminResponse.Ok, Description = "topic created successfully" };
    }

    private async Task<AdminResponse> JoinAsync(AdminRequest request, string bindUri, CancellationToken cancellationToken)
    {
        if (request.ConnectionType is not ("zmq" or "socket"))
            throw Refuse("connection_type", request.ConnectionType, "zmq", "socket");
        if (request.Type is not ("pub" or "pull" or "sub"))
            throw Refuse("type", request.Type, "pub", "pull", "sub");
        Topic topic = await AuthorizeAsync(request, cancellationToken).ConfigureAwait(false);
        return new AdminResponse { Cmd = Join, Status = AdminResponse.Ok, Topic = topic.Name, BindUri = bindUri };
    }

    private async Task<AdminResponse> StatsAsync(AdminRequest request, CancellationToken cancellationToken)
    {
        var figures = TopicFigures.Of(await AuthorizeAsync(request, cancellationToken).ConfigureAwait(false));
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

    /// <summary>The topic, for its own user or the admin. Who is neither does not learn whether it exists.</summary>
    private async Task<Topic> AuthorizeAsync(AdminRequest request, CancellationToken cancellationToken)
    {
        string name = Need(request.Topic, "topic"), user = Need(request.UserId, "user_id"), password = Need(request.Password, "password");
        if (await IsAdminAsync(user, password).ConfigureAwait(false))
            return broker.GetTopic(name);
        TopicCredentials? credentials = broker.TryGetTopic(name, out Topic? topic) ? topic.Credentials : null;
        bool match = await _hashing.StartNew(() => (credentials ?? Nobody.Value).Match(user, password), cancellationToken).ConfigureAwait(false);
        return match && topic is not null && credentials is not null
            ? topic
            : throw new BrokerException(ErrorCode.Unauthenticated, "There is no such topic, or user_id or password is wrong.");
    }

    private ValueTask<bool> IsAdminAsync(string user, string password) => authenticator.AuthenticateAsync(HelloFrame.Plain, $"{user}\0{password}");

    private static string Need(string? value, string field) => value switch
    {
        null or "" => throw new BrokerException(ErrorCode.InvalidArgument, $"{field} is missing."),
        { Length: > LongestSecret } => throw new BrokerException(ErrorCode.InvalidArgument, $"{field} has {value.Length} characters; allowed: {LongestSecret}."),
        _ => value,
    };

    private static BrokerException Refuse(string field, string? value, params string[] allowed) => new(
        ErrorCode.InvalidArgument,
        $"{field} is {(value is null ? "missing" : value.Length > LongestSecret ? "too long" : $"'{value}'")}; allowed: {string.Join(", ", allowed)}.");
}
