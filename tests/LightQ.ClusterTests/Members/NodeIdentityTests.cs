using System.Buffers.Text;
using System.Security.Cryptography;
using Google.Protobuf;
using Grpc.Core;
using Grpc.Net.Client;
using LightQ.Broker;
using LightQ.Broker.Cluster;
using LightQ.Broker.Users;
using LightQ.IntegrationTests;
using LightQ.IntegrationTests.Control;
using LightQ.Protocol.Control;
using LightQ.Server.Cluster;
using LightQ.Server.Control;
using LightQ.Server.Security;
using Xunit;
using Right = LightQ.Broker.Users.Right;
using User = LightQ.Broker.Users.User;

namespace LightQ.ClusterTests.Members;

/// <summary>A forwarded call has its caller's rights, and only a node can make one.</summary>
public sealed class NodeIdentityTests : IAsyncLifetime
{
    private const string Stats = "/lightq.control.v1.Stats/GetTopicStats";
    private ForwardingCluster _cluster = null!;

    public async ValueTask InitializeAsync() =>
        _cluster = await ForwardingCluster.StartAsync(o => o with { RequireAuth = true });

    public ValueTask DisposeAsync() => _cluster.DisposeAsync();

    [Fact]
    public async Task A_forwarded_call_may_do_what_its_caller_may()
    {
        await _cluster.SpreadAsync("orders");
        string reader = await UserAsync("reader", Right.Consume),
            writer = await UserAsync("writer", Right.Publish);
        foreach (uint partition in new[] { 0u, 1u })
        {
            await PublishAsync(_cluster.AtB, partition, writer);
            await ControlCalls.FailsAsync(
                () => PublishAsync(_cluster.AtB, partition, reader),
                StatusCode.PermissionDenied,
                "PermissionDenied"
            );
            using AsyncDuplexStreamingCall<ConsumeRequest, ConsumeResponse> denied = _cluster.AtB.Duplex<
                ConsumeRequest,
                ConsumeResponse
            >("Consume", writer);
            await denied.RequestStream.WriteAsync(
                new()
                {
                    Subscribe = new Subscribe { Topic = "orders", Partition = partition },
                },
                TestContext.Current.CancellationToken
            );
            await ControlCalls.FailsAsync(() => denied.ReadAsync(), StatusCode.PermissionDenied, "PermissionDenied");
            using AsyncDuplexStreamingCall<ConsumeRequest, ConsumeResponse> open = _cluster.AtB.Duplex<
                ConsumeRequest,
                ConsumeResponse
            >("Consume", reader);
            await open.RequestStream.WriteAsync(
                new()
                {
                    Subscribe = new Subscribe
                    {
                        Topic = "orders",
                        Partition = partition,
                        Earliest = true,
                        Credit = 1,
                    },
                },
                TestContext.Current.CancellationToken
            );
            Assert.NotNull((await open.ReadAsync())!.Subscribed);
            Assert.NotNull((await open.ReadAsync())!.Delivery);
        }

        // What is open already ends when the right does, on whichever node it is.
        using AsyncDuplexStreamingCall<ConsumeRequest, ConsumeResponse> reading = _cluster.AtB.Duplex<
            ConsumeRequest,
            ConsumeResponse
        >("Consume", reader);
        await reading.RequestStream.WriteAsync(
            new()
            {
                Subscribe = new Subscribe { Topic = "orders", Partition = 0 },
            },
            TestContext.Current.CancellationToken
        );
        Assert.NotNull((await reading.ReadAsync())!.Subscribed);
        _cluster.B.Broker.Users.Revoke("reader", Grant.Create(Right.Consume, "orders"));
        await ControlCalls.FailsAsync(() => reading.ReadAsync(), StatusCode.PermissionDenied, "PermissionDenied");
    }

    [Fact]
    public async Task Only_a_node_speaks_for_others_and_only_as_it_was_told()
    {
        await _cluster.SpreadAsync("orders");
        LightQBroker b = _cluster.B.Broker;
        byte[] secret = b.GetNodeSecret();
        Assert.Equal(32, secret.Length);
        Assert.Equal(secret, _cluster.A.Broker.GetNodeSecret());
        NodeTokens own = Tokens(secret),
            strangers = Tokens(RandomNumberGenerator.GetBytes(32));
        var admin = Principal.Admin();
        string good = own.Issue("b", Stats, admin);
        Assert.Equal(StatusCode.OK, await CallAsync(good, "1"));
        Assert.Equal(StatusCode.FailedPrecondition, await CallAsync(good, "0")); // It is not passed on again.
        Assert.Equal(StatusCode.InvalidArgument, await CallAsync(good, "one"));

        string[] forged =
        [
            "",
            "no token",
            Base64Url.EncodeToString(new byte[32]),
            strangers.Issue("b", Stats, admin),
            own.Issue("a", Stats, admin),
            own.Issue("b", "/lightq.control.v1.Stats/ListTopicStats", admin),
            Tokens(secret, TimeSpan.FromMinutes(-2)).Issue("b", Stats, admin),
            Tokens(secret, TimeSpan.FromMinutes(2)).Issue("b", Stats, admin),
            Changed(good),
        ];
        foreach (string token in forged)
            Assert.Equal(StatusCode.Unauthenticated, await CallAsync(token, "1"));
        Assert.Equal(StatusCode.Unauthenticated, await CallAsync(good, "1", bearer: "x"));

        // A login that has ended here has ended for calls that were passed on.
        string user = await UserAsync("alice", Right.Manage);
        User alice = b.Users.Get("alice");
        string hash = Authenticator.HashOf(user);
        Assert.Equal(StatusCode.OK, await CallAsync(own.Issue("b", Stats, Principal.OfToken(alice, hash)), "1"));
        b.Users.RevokeToken(b.Users.Table.Tokens[hash].Id);
        Assert.NotEqual(StatusCode.OK, await CallAsync(own.Issue("b", Stats, Principal.OfToken(alice, hash)), "1"));
        Assert.NotEqual(StatusCode.OK, await CallAsync(own.Issue("b", Stats, Principal.Anonymous(true)), "1"));

        NodeTokens Tokens(byte[] by, TimeSpan ahead = default)
        {
            var clock = new Ahead(ahead);
            return new(by, "b", b, clock, _ => clock.GetUtcNow());
        }
    }

    [Theory]
    [InlineData(-3_600)]
    [InlineData(3_600)]
    public void The_one_that_calls_says_by_the_others_clock_when_its_token_ends(int seconds)
    {
        TimeSpan ahead = TimeSpan.FromSeconds(seconds);
        LightQBroker b = _cluster.B.Broker;
        byte[] secret = b.GetNodeSecret();
        var events = new RecordedEvents();
        var conditions = new ClusterConditions { Events = events };
        var clocks = new MemberClocks(TimeProvider.System, conditions);
        var caller = new NodeTokens(secret, "a", _cluster.A.Broker, TimeProvider.System, clocks.TimeAt);
        var other = new NodeTokens(secret, "b", b, new Ahead(ahead), _ => default);
        Assert.Throws<BrokerException>(() => other.Verify(caller.Issue("b", Stats, Principal.Admin()), Stats));
        for (int i = 0; i < 3; i++)
            clocks.Note("b", TimeProvider.System.GetUtcNow() + ahead);
        Assert.True(other.Verify(caller.Issue("b", Stats, Principal.Admin()), Stats).Kind == PrincipalKind.Admin);
        // Once, however often it is heard.
        Assert.Equal(["condition clock-differs b"], events.Lines);
        Assert.Contains(seconds < 0 ? "3600 s behind" : "3600 s ahead", Assert.Single(conditions.Told).Detail);
        clocks.Note("b", TimeProvider.System.GetUtcNow());
        Assert.Empty(conditions.Told);
        clocks.Note("b", TimeProvider.System.GetUtcNow() + ahead);
        clocks.Forget("b");
        Assert.Equal(["condition clock-differs b", "over clock-differs b"], events.Lines.TakeLast(2));
    }

    [Fact]
    public void The_secret_is_not_printed()
    {
        byte[] secret = CatalogSecret();
        var entry = new LightQ.Broker.Catalog.CatalogRecord.ClusterEntry(
            Guid.NewGuid(),
            DateTimeOffset.UnixEpoch,
            secret
        );
        string text = new LightQ.Broker.Catalog.CatalogRecord { Cluster = entry }.ToString();
        Assert.DoesNotContain(nameof(entry.Secret), text, StringComparison.Ordinal);
        Assert.DoesNotContain(Convert.ToBase64String(secret), text, StringComparison.Ordinal);
    }

    private static byte[] CatalogSecret() => LightQ.Broker.Catalog.CatalogRecord.ClusterEntry.NewSecret();

    private static string Changed(string token)
    {
        byte[] bytes = Base64Url.DecodeFromChars(token);
        bytes[^1] ^= 1;
        return Base64Url.EncodeToString(bytes);
    }

    private async Task<StatusCode> CallAsync(string token, string partitions, string? bearer = null)
    {
        var headers = new Metadata { { NodeTokens.MetadataName, token }, { ForwardedCall.MetadataName, partitions } };
        if (bearer is not null)
            headers.Add("authorization", "Bearer " + bearer);
        try
        {
            await new LightQ.Protocol.Control.Stats.StatsClient(_cluster.AtB).GetTopicStatsAsync(
                new() { Topic = "orders" },
                headers
            );
            return StatusCode.OK;
        }
        catch (RpcException e)
        {
            return e.StatusCode;
        }
    }

    private async Task<string> UserAsync(string name, Right right)
    {
        string token = Authenticator.NewToken();
        UserStore users = _cluster.A.Broker.Users;
        users.Create(name, "");
        users.Grant(name, Grant.Create(right, "orders"));
        users.AddToken(name, Authenticator.HashOf(token), expires: null, "");
        await Eventually.TrueAsync(
            () => _cluster.B.Broker.Users.Table.Tokens.ContainsKey(Authenticator.HashOf(token)),
            ForwardingCluster.Patience,
            () => "b does not know the token"
        );
        return token;
    }

    private static Task<PublishResponse> PublishAsync(GrpcChannel channel, uint partition, string token) =>
        channel.CallAsync<PublishRequest, PublishResponse>(
            "Publish",
            new()
            {
                Topic = "orders",
                Partition = partition,
                Messages = { new PublishedMessage { Body = ByteString.CopyFromUtf8("x") } },
            },
            token
        );

    private sealed class Ahead(TimeSpan by) : TimeProvider
    {
        public override DateTimeOffset GetUtcNow() => System.GetUtcNow() + by;
    }
}
