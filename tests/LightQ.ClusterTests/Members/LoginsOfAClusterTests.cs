using System.Buffers.Text;
using Grpc.Core;
using Grpc.Net.Client;
using LightQ.Broker.Topics;
using LightQ.Broker.Users;
using LightQ.IntegrationTests;
using LightQ.IntegrationTests.Control;
using LightQ.Protocol.Control;
using LightQ.Server;
using LightQ.Tests.Shared;
using Xunit;
using Right = LightQ.Broker.Users.Right;
using TopicSettings = LightQ.Broker.Topics.TopicSettings;
using User = LightQ.Broker.Users.User;

namespace LightQ.ClusterTests.Members;

/// <summary>A login at one node is one at every node, and ends at every node.</summary>
public sealed class LoginsOfAClusterTests : IAsyncLifetime
{
    private const string Password = "correct horse",
        Another = "battery staple";

    private readonly Clock _clockOfB = new();
    private ForwardingCluster _cluster = null!;

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync() =>
        _cluster = await ForwardingCluster.StartAsync(o =>
            o with
            {
                RequireAuth = true,
                MaxLoginsPerUser = 2,
                Cluster = new ClusterOptions { TrustCatalogFor = TimeSpan.FromSeconds(1) },
                TimeProvider = Path.GetFileName(o.DataDirectory) == "b" ? _clockOfB : TimeProvider.System,
            }
        );

    public ValueTask DisposeAsync() => _cluster.DisposeAsync();

    [Fact]
    public async Task A_login_counts_at_every_node_until_it_ends()
    {
        await MakeUserAsync("alice");
        string token = await LogInAsync(_cluster.AtA, "alice", Password);
        Assert.Equal("user alice", await UserOfAsync(_cluster.AtA, token));
        Assert.Equal("user alice", await UserOfAsync(_cluster.AtB, token));
        Assert.Null(await UserOfAsync(_cluster.AtB, Changed(token)));
        Assert.Null(await UserOfAsync(_cluster.AtB, token[..40]));
        // A node that starts later knows it, too.
        await _cluster.RestartBAsync();
        Assert.Equal("user alice", await UserOfAsync(_cluster.AtB, token));
        _clockOfB.Ahead = TimeSpan.FromMinutes(16);
        Assert.Null(await UserOfAsync(_cluster.AtB, token));
    }

    [Fact]
    public async Task A_logout_at_one_node_ends_what_the_login_has_opened_at_another()
    {
        await MakeUserAsync("alice");
        await _cluster.SpreadAsync("orders");
        string token = await LogInAsync(_cluster.AtA, "alice", Password),
            other = await LogInAsync(_cluster.AtA, "alice", Password);
        using AsyncDuplexStreamingCall<ConsumeRequest, ConsumeResponse> here = await SubscribeAsync(0, token),
            passedOn = await SubscribeAsync(1, token),
            kept = await SubscribeAsync(0, other);
        await _cluster.AtB.CallAsync<LogoutRequest, LogoutResponse>("Logout", new(), token);
        foreach (AsyncDuplexStreamingCall<ConsumeRequest, ConsumeResponse> call in new[] { here, passedOn })
            await ControlCalls.FailsAsync(() => call.ReadAsync(), StatusCode.Unauthenticated, "Unauthenticated");
        Assert.Null(await UserOfAsync(_cluster.AtA, token));
        Assert.Null(await UserOfAsync(_cluster.AtB, token));
        await _cluster.RestartBAsync();
        Assert.Null(await UserOfAsync(_cluster.AtB, token));
        Assert.Equal("user alice", await UserOfAsync(_cluster.AtB, other));
        // It makes room at the node that has given it out.
        await LogInAsync(_cluster.AtA, "alice", Password);
        await ControlCalls.FailsAsync(
            () => LogInAsync(_cluster.AtA, "alice", Password),
            StatusCode.ResourceExhausted,
            "ResourceExhausted"
        );
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_node_that_cannot_read_the_catalog_believes_logins_for_a_while_alone()
    {
        FaultRun.RequireTier("A catalog is taken for unread after five seconds.");
        await MakeUserAsync("alice");
        await _cluster.CreateAsync("orders", new TopicSettings()); // At a alone.
        string token = await LogInAsync(_cluster.AtA, "alice", Password),
            admin = await LogInAsync(_cluster.AtA, "admin", await AdminPasswordAsync("a"));
        using AsyncDuplexStreamingCall<ConsumeRequest, ConsumeResponse> open = await SubscribeAsync(0, token);
        _cluster.EngineOf("a").CutStream("LQ_shop_catalog");
        await ControlCalls.FailsAsync(() => open.ReadAsync(), StatusCode.Unavailable, "Unavailable");
        RpcException refused = await ControlCalls.FailsAsync(
            () =>
                _cluster.AtA.CallAsync<GetTopicRequest, GetTopicResponse>("GetTopic", new() { Name = "orders" }, token),
            StatusCode.Unavailable,
            "Unavailable"
        );
        Assert.Contains("catalog", refused.Status.Detail, StringComparison.Ordinal);
        await _cluster.AtA.CallAsync<GetTopicRequest, GetTopicResponse>("GetTopic", new() { Name = "orders" }, admin);
        _cluster.EngineOf("a").Heal();
        await Eventually.TrueAsync(
            async () =>
            {
                using AsyncDuplexStreamingCall<ConsumeRequest, ConsumeResponse> again = _cluster.AtA.Duplex<
                    ConsumeRequest,
                    ConsumeResponse
                >("Consume", token);
                try
                {
                    await again.RequestStream.WriteAsync(
                        new()
                        {
                            Subscribe = new Subscribe { Topic = "orders", Partition = 0 },
                        },
                        Cancelled
                    );
                    return (await again.ReadAsync())?.Subscribed is not null;
                }
                catch (RpcException e) when (e.StatusCode == StatusCode.Unavailable)
                {
                    return false;
                }
            },
            ForwardingCluster.Patience,
            () => "alice stays out."
        );
    }

    [Fact]
    public async Task Another_password_a_users_end_and_a_topics_new_user_end_logins_everywhere()
    {
        await MakeUserAsync("alice");
        await _cluster.CreateAsync("till", new TopicSettings());
        string own = await SetOwnUserAsync(Password);
        string alice = await LogInAsync(_cluster.AtA, "alice", Password);
        await Eventually.TrueAsync(
            async () => await UserOfAsync(_cluster.AtB, own) == "user till/clerk",
            ForwardingCluster.Patience,
            () => "b does not know the topic's user"
        );
        Assert.Equal("user alice", await UserOfAsync(_cluster.AtB, alice));

        string admin = await LogInAsync(_cluster.AtB, "admin", await AdminPasswordAsync("a"));
        await SetPasswordAsync("alice", admin);
        await EndedAsync(alice);
        alice = await LogInAsync(_cluster.AtB, "alice", Another);
        _cluster.A.Broker.Users.Delete("alice");
        await EndedAsync(alice);

        await SetOwnUserAsync(Another);
        await EndedAsync(own);
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task All_nodes_have_one_password_of_admin()
    {
        FaultRun.RequireTier("A node starts again three times.");
        string first = await AdminPasswordAsync("a");
        Assert.False(File.Exists(_cluster.FileOf("b", "admin-password")));
        string login = await LogInAsync(_cluster.AtB, "admin", first);
        Assert.Equal("admin admin", await UserOfAsync(_cluster.AtA, login));

        // Changed by a call: at every node, and logins with the one before end.
        await SetPasswordAsync("admin", login);
        await EndedAsync(login);
        foreach (GrpcChannel channel in new[] { _cluster.AtA, _cluster.AtB })
        {
            await LogInAsync(channel, "admin", Another);
            await RefusedAsync(channel, first);
        }

        // What is in a node's file sets it when somebody has changed the file, and only then.
        await File.WriteAllTextAsync(_cluster.FileOf("b", "admin-password"), "third password\n", Cancelled);
        await _cluster.RestartBAsync();
        await EventuallyInAsync(_cluster.AtA, "third password");
        await RefusedAsync(_cluster.AtA, Another);
        await SetPasswordAsync("admin", await LogInAsync(_cluster.AtA, "admin", "third password"));
        await _cluster.RestartBAsync();
        await LogInAsync(_cluster.AtB, "admin", Another);
        await RefusedAsync(_cluster.AtB, "third password");
        File.Delete(_cluster.FileOf("b", "admin-password"));
        await _cluster.RestartBAsync();
        await LogInAsync(_cluster.AtB, "admin", Another);
    }

    private static string Changed(string token)
    {
        byte[] bytes = Base64Url.DecodeFromChars(token);
        bytes[^1] ^= 1;
        return Base64Url.EncodeToString(bytes);
    }

    private static async Task<string> LogInAsync(GrpcChannel channel, string user, string password) =>
        (
            await channel.CallAsync<LoginRequest, LoginResponse>("Login", new() { User = user, Password = password })
        ).Token;

    private static async Task RefusedAsync(GrpcChannel channel, string password) =>
        await ControlCalls.FailsAsync(
            () => LogInAsync(channel, "admin", password),
            StatusCode.Unauthenticated,
            "Unauthenticated"
        );

    private static Task EventuallyInAsync(GrpcChannel channel, string password) =>
        Eventually.TrueAsync(
            async () =>
            {
                try
                {
                    return (await LogInAsync(channel, "admin", password)).Length != 0;
                }
                catch (RpcException e) when (e.StatusCode == StatusCode.Unauthenticated)
                {
                    return false;
                }
            },
            ForwardingCluster.Patience,
            () => "admin does not get in"
        );

    /// <summary>Who a token stands for; null when it is refused.</summary>
    private static async Task<string?> UserOfAsync(GrpcChannel channel, string token)
    {
        try
        {
            WhoAmIResponse who = await channel.CallAsync<WhoAmIRequest, WhoAmIResponse>("WhoAmI", new(), token);
            return $"{(who.IsAdmin ? "admin" : "user")} {who.User}";
        }
        catch (RpcException e) when (e.StatusCode == StatusCode.Unauthenticated)
        {
            return null;
        }
    }

    private async Task EndedAsync(string token)
    {
        foreach (GrpcChannel channel in new[] { _cluster.AtA, _cluster.AtB })
        {
            await Eventually.TrueAsync(
                async () => await UserOfAsync(channel, token) is null,
                ForwardingCluster.Patience,
                () => "The login goes on."
            );
        }
    }

    private Task<string> AdminPasswordAsync(string node) =>
        File.ReadAllTextAsync(_cluster.FileOf(node, "admin-password"), Cancelled);

    /// <summary>Gives somebody the other password, at b.</summary>
    private async Task SetPasswordAsync(string user, string admin) =>
        await _cluster.AtB.CallAsync<SetPasswordRequest, SetPasswordResponse>(
            "SetPassword",
            new() { Name = user, Password = Another },
            admin
        );

    private async Task MakeUserAsync(string name)
    {
        UserStore users = _cluster.A.Broker.Users;
        users.Create(name, PasswordHash.Create(Password));
        users.Grant(name, Grant.Create(Right.Consume, "orders"));
        await Eventually.TrueAsync(
            () => _cluster.B.Broker.Users.Table.Users.TryGetValue(name, out User? user) && user.Grants.Count == 1,
            ForwardingCluster.Patience,
            () => "b does not know the user"
        );
    }

    /// <summary>Gives the topic "till" a user of its own, and logs it in at a.</summary>
    private async Task<string> SetOwnUserAsync(string password)
    {
        LightQ.Broker.LightQBroker a = _cluster.A.Broker;
        await Task.Run(
            () => a.SetCredentials("till", new TopicCredentials("clerk", PasswordHash.Create(password))),
            Cancelled
        );
        return await LogInAsync(_cluster.AtA, "till/clerk", password);
    }

    private async Task<AsyncDuplexStreamingCall<ConsumeRequest, ConsumeResponse>> SubscribeAsync(
        uint partition,
        string token
    )
    {
        AsyncDuplexStreamingCall<ConsumeRequest, ConsumeResponse> call = _cluster.AtA.Duplex<
            ConsumeRequest,
            ConsumeResponse
        >("Consume", token);
        await call.RequestStream.WriteAsync(
            new()
            {
                Subscribe = new Subscribe { Topic = "orders", Partition = partition },
            },
            Cancelled
        );
        Assert.NotNull((await call.ReadAsync())!.Subscribed);
        return call;
    }

    private sealed class Clock : TimeProvider
    {
        public TimeSpan Ahead { get; set; }

        public override DateTimeOffset GetUtcNow() => System.GetUtcNow() + Ahead;

        public override long GetTimestamp() =>
            System.GetTimestamp() + (long)(Ahead.TotalSeconds * System.TimestampFrequency);
    }
}
