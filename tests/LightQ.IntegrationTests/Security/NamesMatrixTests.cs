using Google.Protobuf;
using Grpc.Core;
using LightQ.Client;
using LightQ.IntegrationTests.Control;
using LightQ.IntegrationTests.Json;
using LightQ.Protocol.Control;
using LightQ.Server.Json;
using Xunit;
using Right = LightQ.Broker.Users.Right;
using TopicKind = LightQ.Broker.Topics.TopicKind;

namespace LightQ.IntegrationTests.Security;

/// <summary>
/// Each kind of name, and each way in which a user without the right may try to touch it: one who may publish to a
/// topic and consume it is rejected, over gRPC and over HTTP, and what has the name is there afterwards.
/// <see cref="ClaimedNamesTests"/> has the names that publishers claim.
/// </summary>
public sealed class NamesMatrixTests
{
    private const string Topic = "orders",
        Dead = "orders.dead",
        Group = "workers",
        Alice = "alice",
        Password = "correct horse";

    /// <summary>The kind of name, what is tried, and what it is tried with.</summary>
    private static IReadOnlyList<(string Kind, string Rpc, Func<string, IMessage> Request)> Tries { get; } =
    [
        ("topic", "CreateTopic", _ => new CreateTopicRequest { Name = "another" }),
        (
            "topic",
            "EnsureTopic",
            _ => new EnsureTopicRequest
            {
                Name = Topic,
                Settings = new() { SharedNames = true },
            }
        ),
        ("topic", "DeleteTopic", _ => new DeleteTopicRequest { Name = Topic }),
        ("topic", "TruncateTopic", _ => new TruncateTopicRequest { Name = Topic, BeforeOffset = -1 }),
        ("topic", "ReplicateTopic", _ => new ReplicateTopicRequest { Name = Topic, Replicas = 3 }),
        (
            "topic",
            "SetTopicCredentials",
            _ => new SetTopicCredentialsRequest
            {
                Topic = Topic,
                User = "shop",
                Password = Password,
            }
        ),
        ("partition", "MovePartition", _ => new MovePartitionRequest { Topic = Topic, Node = "b" }),
        ("delayed queue", "TruncateTopic", _ => new TruncateTopicRequest { Name = Topic, BeforeOffset = 1 }),
        (
            "group",
            "ResetGroup",
            _ => new ResetGroupRequest
            {
                Topic = Topic,
                Group = Group,
                Latest = true,
            }
        ),
        ("group", "PauseGroup", _ => new PauseGroupRequest { Topic = Topic, Group = Group }),
        ("group", "ResumeGroup", _ => new ResumeGroupRequest { Topic = Topic, Group = Group }),
        ("group", "DeleteGroup", _ => new DeleteGroupRequest { Topic = Topic, Group = Group }),
        ("group", "RedriveGroup", _ => new RedriveGroupRequest { Topic = Topic, Group = Group }),
        ("dead letters", "RedriveLetters", _ => new RedriveLettersRequest { Topic = Topic, Group = Group }),
        ("dead letters", "DeleteLetters", _ => new DeleteLettersRequest { Topic = Topic, Group = Group }),
        ("dead letters", "RepublishLetter", _ => new RepublishLetterRequest { Topic = Topic, Group = Group }),
        (
            "dead-letter topic",
            "Publish",
            _ => new PublishRequest { Topic = Dead, Messages = { new PublishedMessage() } }
        ),
        ("dead-letter topic", "Browse", _ => new BrowseRequest { Topic = Dead }),
        ("dead-letter topic", "Fetch", _ => new FetchRequest { Topic = Dead, Group = Group }),
        ("dead-letter topic", "DeleteTopic", _ => new DeleteTopicRequest { Name = Dead }),
        ("dead-letter topic", "TruncateTopic", _ => new TruncateTopicRequest { Name = Dead, BeforeOffset = -1 }),
        ("user", "CreateUser", _ => new CreateUserRequest { Name = "another" }),
        ("user", "DeleteUser", _ => new DeleteUserRequest { Name = Alice }),
        (
            "user",
            "SetPassword",
            _ => new SetPasswordRequest
            {
                Name = Alice,
                Password = Password,
                CurrentPassword = Password,
            }
        ),
        ("user", "ListGrants", _ => new ListGrantsRequest { User = Alice }),
        (
            "user",
            "Grant",
            _ => new GrantRequest
            {
                Grant = new()
                {
                    User = Alice,
                    Right = Protocol.Control.Right.Publish,
                    Topic = "x",
                },
            }
        ),
        (
            "user",
            "Revoke",
            _ => new RevokeRequest
            {
                Grant = new()
                {
                    User = Alice,
                    Right = Protocol.Control.Right.Publish,
                    Topic = Topic,
                },
            }
        ),
        ("token", "CreateToken", _ => new CreateTokenRequest { User = Alice }),
        ("token", "ListTokens", _ => new ListTokensRequest { User = Alice }),
        ("token", "RevokeToken", id => new RevokeTokenRequest { Id = id }),
    ];

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Who_may_publish_and_consume_touches_no_name_that_is_not_its_own()
    {
        await using TestServer server = await TestServer.StartAsync(o => o with { RequireAuth = true });
        await server.CreateTopicAsync(Topic, TopicKind.Durable);
        await server.CreateTopicAsync(Dead, TopicKind.Durable);
        Caller alice = Caller.Create(
                server,
                Alice,
                (Right.Publish, Topic),
                (Right.Consume, Topic),
                (Right.Manage, Topic)
            ),
            mallory = Caller.Create(server, "mallory", (Right.Publish, Topic), (Right.Consume, Topic)),
            alike = Caller.Create(
                server,
                "alike",
                (Right.Publish, "orders.*"),
                (Right.Consume, "orders.*"),
                (Right.Manage, "orders.*")
            );
        await FetchAsync(server, alice);
        string token = server.Broker.Users.Table.Tokens.Values.Single(t => t.User == Alice).Id;
        string[] users = [.. server.Broker.Users.Table.Users.Keys.Order()];

        var passed = new List<string>();
        foreach ((string kind, string rpc, Func<string, IMessage> request) in Tries)
        {
            Caller caller = kind == "dead-letter topic" ? alike : mallory;
            foreach ((string plane, string code) in await TryAsync(server, rpc, request(token), caller.Token!))
            {
                if (code is not ("PermissionDenied" or "Unauthenticated"))
                    passed.Add($"{kind}: {rpc} over {plane} was answered {code}");
            }
        }
        Assert.Empty(passed);
        Assert.Equal(Alice, server.Broker.Users.Get(Alice).Name);
        Assert.Equal(users, server.Broker.Users.Table.Users.Keys.Order());
        Assert.Contains(server.Broker.Users.Table.Tokens.Values, t => t.Id == token);
        Assert.Equal([Group], server.Broker.Groups.NamesOf(server.Broker.GetTopic(Topic)));
    }

    [Fact]
    public async Task A_group_is_deleted_by_who_made_it_while_that_one_may_consume_the_topic()
    {
        await using TestServer server = await TestServer.StartAsync(o => o with { RequireAuth = true });
        await server.CreateTopicAsync(Topic, TopicKind.Durable);
        Caller maker = Caller.Create(server, "maker", (Right.Consume, Topic)),
            other = Caller.Create(server, "other", (Right.Consume, Topic), (Right.Publish, Topic)),
            manager = Caller.Create(server, "manager", (Right.Manage, Topic));
        await server.Control.CallAsync<PublishRequest, PublishResponse>(
            "Publish",
            new() { Topic = Topic, Messages = { new PublishedMessage() } },
            other.Token
        );
        await JoinAndLeaveAsync(isMember: () => DeniedAsync(other));
        await DeniedAsync(other);
        await DeleteAsync(maker);
        Assert.Empty(server.Broker.Groups.NamesOf(server.Broker.GetTopic(Topic)));

        await JoinAndLeaveAsync(isMember: () =>
            ControlCalls.FailsAsync(() => DeleteAsync(maker), StatusCode.FailedPrecondition, "GroupInUse")
        );
        server.Broker.Users.Revoke("maker", LightQ.Broker.Users.Grant.Create(Right.Consume, Topic));
        server.Broker.Users.Grant("maker", LightQ.Broker.Users.Grant.Create(Right.Publish, Topic));
        await DeniedAsync(maker);
        await DeleteAsync(manager);

        async Task JoinAndLeaveAsync(Func<Task> isMember)
        {
            await using var client = new LightQClient(
                LightQClientOptions.Parse(server.ConnectionString) with
                {
                    Token = maker.Token,
                }
            );
            var options = new ConsumeOptions { Group = Group, Start = StartPosition.Earliest };
            await foreach (Message unused in client.ConsumeAsync(Topic, options, Cancelled))
            {
                await isMember();
                break;
            }
            await Eventually.TrueAsync(
                () => server.Broker.GetTopic(Topic).Partitions[0].Subscriptions.IsEmpty,
                TimeSpan.FromSeconds(30),
                () => "The member does not leave."
            );
        }

        Task DeniedAsync(Caller caller) =>
            ControlCalls.FailsAsync(() => DeleteAsync(caller), StatusCode.PermissionDenied, "PermissionDenied");

        Task<DeleteGroupResponse> DeleteAsync(Caller caller) =>
            server.Control.CallAsync<DeleteGroupRequest, DeleteGroupResponse>(
                "DeleteGroup",
                new() { Topic = Topic, Group = Group },
                caller.Token
            );
    }

    /// <summary>Makes the group.</summary>
    private static Task<FetchResponse> FetchAsync(TestServer server, Caller caller) =>
        server.Control.CallAsync<FetchRequest, FetchResponse>(
            "Fetch",
            new() { Topic = Topic, Group = Group },
            caller.Token
        );

    /// <summary>Calls over gRPC, and over HTTP where there is a route.</summary>
    private static async Task<List<(string Plane, string Code)>> TryAsync(
        TestServer server,
        string rpc,
        IMessage request,
        string token
    )
    {
        JsonRoute? route = JsonRoutes.All.SingleOrDefault(r => r.Method.Name == rpc);
        var answers = new List<(string, string)> { ("gRPC", await CallAsync(server, rpc, request, token)) };
        if (route is not null)
            answers.Add(("HTTP", $"{(await server.SendAsync(request, route, token)).Code}"));
        return answers;
    }

    private static async Task<string> CallAsync(TestServer server, string rpc, IMessage request, string token)
    {
        string service = request.Descriptor.File.Services.Single(s => s.FindMethodByName(rpc) is not null).FullName;
        var method = new Method<byte[], byte[]>(
            MethodType.Unary,
            service,
            rpc,
            Marshallers.Create(static bytes => bytes, static bytes => bytes),
            Marshallers.Create(static bytes => bytes, static bytes => bytes)
        );
        try
        {
            using AsyncUnaryCall<byte[]> call = server
                .Control.CreateCallInvoker()
                .AsyncUnaryCall(
                    method,
                    null,
                    new CallOptions(
                        new Metadata { { "authorization", $"Bearer {token}" } },
                        cancellationToken: Cancelled
                    ),
                    request.ToByteArray()
                );
            await call;
            return "done";
        }
        catch (RpcException e)
        {
            return e.Trailers.GetValue(ControlCalls.CodeTrailer) ?? $"{e.StatusCode}";
        }
    }
}
