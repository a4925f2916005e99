using Grpc.Core;
using Grpc.Net.Client;
using LightQ.Broker.Users;
using LightQ.Client;
using LightQ.IntegrationTests.Control;
using LightQ.Protocol.Control;
using LightQ.Server.Security;
using Xunit;
using Right = LightQ.Broker.Users.Right;
using TopicKind = LightQ.Broker.Topics.TopicKind;
using TopicSettings = LightQ.Broker.Topics.TopicSettings;

namespace LightQ.ClusterTests.Members;

/// <summary>
/// A node that hears late of what others change says nothing final by what it knew: of logins, rights, topics
/// and users.
/// </summary>
public sealed class OldCopyOfANodeTests : IAsyncLifetime
{
    private const string Password = "correct horse";

    /// <summary>So late does b hear of the catalog's end.</summary>
    private static readonly TimeSpan Late = TimeSpan.FromMilliseconds(400);

    private ForwardingCluster _cluster = null!;

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync() =>
        _cluster = await ForwardingCluster.StartAsync(o => o with { RequireAuth = true });

    public ValueTask DisposeAsync() => _cluster.DisposeAsync();

    [Fact]
    public async Task Logins_and_rights_that_another_node_has_just_given_count()
    {
        Delay();
        _cluster.A.Broker.Users.Create("alice", PasswordHash.Create(Password));
        string token = await LogInAsync(_cluster.AtB, "alice");
        await Task.Run(
            () => _cluster.A.Broker.CreateTopic("orders", new TopicSettings { Kind = TopicKind.Durable, Replicas = 3 }),
            Cancelled
        );
        _cluster.A.Broker.Users.Grant("alice", Grant.Create(Right.Manage, "orders"));
        GetTopicResponse got = await _cluster.AtB.CallAsync<GetTopicRequest, GetTopicResponse>(
            "GetTopic",
            new() { Name = "orders" },
            token
        );
        Assert.Equal("orders", got.Topic.Name);

        string lasting = Authenticator.NewToken();
        _cluster.A.Broker.Users.AddToken("alice", Authenticator.HashOf(lasting), null, "");
        WhoAmIResponse who = await _cluster.AtB.CallAsync<WhoAmIRequest, WhoAmIResponse>("WhoAmI", new(), lasting);
        Assert.Equal("alice", who.User);
        _cluster.A.Broker.Users.SetPassword("alice", PasswordHash.Create(Password));
        await LogInAsync(_cluster.AtB, "alice");
    }

    [Fact]
    public async Task Clients_open_what_another_node_has_just_made_and_allowed()
    {
        await _cluster.CreateAsync("first", new TopicSettings { Kind = TopicKind.Durable, Replicas = 3 });
        await _cluster.LeadAsync("first", 0, "b");
        Delay();
        _cluster.A.Broker.Users.Create("alice", PasswordHash.Create(Password));
        await using LightQClient client = new(
            new LightQClientOptions
            {
                DataPort = _cluster.B.DataPort,
                ControlPort = _cluster.B.ControlPort,
                User = "alice",
                Password = Password,
                ConnectTimeout = ForwardingCluster.Patience, // To hash a password takes its time.
            }
        );
        _cluster.A.Broker.Users.Grant("alice", Grant.Create(Right.Publish, "*"));
        await using (Producer producer = await client.CreateProducerAsync("first", cancellationToken: Cancelled))
            await producer.PublishAsync("a"u8.ToArray(), cancellationToken: Cancelled);
        _cluster.A.Broker.Users.Grant("alice", Grant.Create(Right.Consume, "*"));
        var earliest = new ConsumeOptions { Start = StartPosition.Earliest };
        await foreach (Message message in client.ConsumeAsync("first", earliest, Cancelled))
        {
            Assert.Equal("a"u8.ToArray(), message.Body.ToArray());
            break;
        }
    }

    [Fact]
    public async Task Users_and_topics_that_another_node_has_just_made_or_removed_are_there_or_gone()
    {
        string admin = await LogInAsync(
            _cluster.AtB,
            "admin",
            (await File.ReadAllTextAsync(_cluster.FileOf("a", "admin-password"), Cancelled)).Trim()
        );
        Delay();
        LightQ.Broker.Users.UserStore users = _cluster.A.Broker.Users;
        users.Create("alice", "");
        Assert.Empty(
            (
                await _cluster.AtB.CallAsync<ListGrantsRequest, ListGrantsResponse>(
                    "ListGrants",
                    new() { User = "alice" },
                    admin
                )
            ).Grants
        );
        AccessToken token = users.AddToken("alice", "hash", null, "");
        await _cluster.AtB.CallAsync<RevokeTokenRequest, RevokeTokenResponse>(
            "RevokeToken",
            new() { Id = token.Id },
            admin
        );
        users.Delete("alice");
        await _cluster.AtB.CallAsync<CreateUserRequest, CreateUserResponse>(
            "CreateUser",
            new() { Name = "alice" },
            admin
        );
        await ControlCalls.FailsAsync(
            () =>
                _cluster.AtB.CallAsync<DeleteUserRequest, DeleteUserResponse>(
                    "DeleteUser",
                    new() { Name = "bob" },
                    admin
                ),
            StatusCode.NotFound,
            "UnknownUser"
        );
        await Task.Run(() => _cluster.A.Broker.CreateTopic("till", new TopicSettings()), Cancelled);
        await _cluster.AtB.CallAsync<DeleteTopicRequest, DeleteTopicResponse>(
            "DeleteTopic",
            new() { Name = "till" },
            admin
        );
        await Task.Run(() => _cluster.A.Broker.CreateTopic("till", new TopicSettings()), Cancelled);
        await ControlCalls.FailsAsync(() => CreateAsync(admin), StatusCode.AlreadyExists, "TopicExists");
        await _cluster.A.Broker.DeleteTopicAsync("till", Cancelled);
        await CreateAsync(admin);
    }

    private Task<CreateTopicResponse> CreateAsync(string token) =>
        _cluster.AtB.CallAsync<CreateTopicRequest, CreateTopicResponse>("CreateTopic", new() { Name = "till" }, token);

    private void Delay() => _cluster.EngineOf("b").DelayReads("LQ_shop_catalog", Late);

    private static async Task<string> LogInAsync(GrpcChannel channel, string user, string password = Password) =>
        (
            await channel.CallAsync<LoginRequest, LoginResponse>("Login", new() { User = user, Password = password })
        ).Token;
}
