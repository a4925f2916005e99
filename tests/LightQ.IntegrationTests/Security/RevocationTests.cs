using Grpc.Core;
using Grpc.Net.Client;
using LightQ.Broker.Users;
using LightQ.Client;
using LightQ.IntegrationTests.Control;
using LightQ.IntegrationTests.DataPlane;
using LightQ.IntegrationTests.Messages;
using LightQ.Protocol.Control;
using LightQ.Protocol.Frames;
using Xunit;
using Right = LightQ.Broker.Users.Right;

namespace LightQ.IntegrationTests.Security;

/// <summary>What is taken away is gone when the call that took it returns, also from what is open.</summary>
[Trait("Fault", "S2")]
public sealed class RevocationTests
{
    private static readonly TimeSpan Target = TimeSpan.FromSeconds(1),
        Limit = 10 * Target;

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_right_that_is_taken_ends_the_streams_that_rest_on_it_and_no_others()
    {
        await using TestServer server = await StartAsync();
        Caller caller = Caller.Create(server, "alice", (Right.Publish, "orders.*"), (Right.Consume, "orders.*"));
        await using RawClient client = await LogInAsync(server, caller.Token!);
        await client.OpenProducerAsync("orders.eu", 1);
        await client.SubscribeAsync("orders.eu", 2, credit: 1024);
        using var consume = new ConsumeStream(server, caller.Token);
        await consume.WriteAsync(new ConsumeRequest { Subscribe = new Subscribe { Topic = "orders.eu" } });
        await consume.ReadAsync();
        using AsyncDuplexStreamingCall<PublishStreamRequest, PublishStreamResponse> publish = server.Control.Duplex<
            PublishStreamRequest,
            PublishStreamResponse
        >("PublishStream", caller.Token);
        await publish.RequestStream.WriteAsync(
            new PublishStreamRequest { Open = new OpenProducer { Topic = "orders.eu" } },
            Cancel
        );
        await publish.ReadAsync();

        server.Broker.Users.Revoke("alice", Grant.Create(Right.Consume, "orders.*"));

        ClosedFrame closed = await ClosedAsync(client, 2);
        Assert.Equal(
            (ErrorCode.PermissionDenied, "alice does not have the right to consume on 'orders.eu'."),
            (closed.Code, closed.Message)
        );
        await ControlCalls.FailsAsync(consume.ReadAsync, StatusCode.PermissionDenied, "PermissionDenied");
        await client.SendAsync(RawClient.PublishFrame(1, RawClient.Batch(0, 10)));
        await client.ReadAsync(FrameType.PublishAck);
        await publish.RequestStream.WriteAsync(
            new PublishStreamRequest { Messages = { PublishStream.Text("still") } },
            Cancel
        );
        Assert.NotNull((await publish.ReadAsync())!.Ack);

        server.Broker.Users.Revoke("alice", Grant.Create(Right.Publish, "orders.*"));

        Assert.Equal(ErrorCode.PermissionDenied, (await ClosedAsync(client, 1)).Code);
        await ControlCalls.FailsAsync(
            async () => await publish.ReadAsync(),
            StatusCode.PermissionDenied,
            "PermissionDenied"
        );
        await client.SendAsync(new PingFrame(7));
        await client.ReadAsync(FrameType.Pong);
    }

    [Theory]
    [InlineData("user deleted")]
    [InlineData("user deleted and made again")]
    [InlineData("token revoked")]
    [InlineData("user's last right taken")]
    public async Task Who_counts_no_more_loses_connection_and_calls(string how)
    {
        await using TestServer server = await StartAsync();
        Caller caller = Caller.Create(server, "alice", (Right.Admin, "*"));
        await using RawClient client = await LogInAsync(server, caller.Token!);
        await client.SubscribeAsync("orders.eu", 1, credit: 1024);
        using var consume = new ConsumeStream(server, caller.Token);
        await consume.WriteAsync(new ConsumeRequest { Subscribe = new Subscribe { Topic = "orders.eu" } });
        await consume.ReadAsync();
        IAsyncEnumerator<WatchTopicStatsResponse> watch = server
            .Control.StreamAsync<WatchTopicStatsRequest, WatchTopicStatsResponse>(
                "WatchTopicStats",
                new()
                {
                    Topic = "orders.eu",
                    Interval = Google.Protobuf.WellKnownTypes.Duration.FromTimeSpan(TimeSpan.FromHours(1)),
                },
                caller.Token,
                Cancel
            )
            .GetAsyncEnumerator(Cancel);
        Assert.True(await watch.MoveNextAsync());

        switch (how)
        {
            case "user deleted":
                server.Broker.Users.Delete("alice");
                break;
            case "user deleted and made again":
                server.Broker.Users.Delete("alice");
                Caller.Create(server, "alice", (Right.Admin, "*"));
                break;
            case "token revoked":
                server.Broker.Users.RevokeToken(server.Broker.Users.Table.Tokens.Values.Single().Id);
                break;
            default:
                server.Broker.Users.Revoke("alice", Grant.Create(Right.Admin, ""));
                break;
        }

        bool isStillKnown = how == "user's last right taken";
        string code = isStillKnown ? "PermissionDenied" : "Unauthenticated";
        StatusCode status = isStillKnown ? StatusCode.PermissionDenied : StatusCode.Unauthenticated;
        if (isStillKnown)
            Assert.Equal(ErrorCode.PermissionDenied, (await ClosedAsync(client, 1)).Code);
        else
            Assert.Equal(ErrorCode.Unauthenticated, await ErrorAsync(client));
        await ControlCalls.FailsAsync(consume.ReadAsync, status, code);
        await ControlCalls.FailsAsync(
            async () => await watch.MoveNextAsync().AsTask().WaitAsync(Limit, Cancel),
            status,
            code
        );
        await ControlCalls.FailsAsync(
            () =>
                server.Control.CallAsync<GetTopicRequest, GetTopicResponse>(
                    "GetTopic",
                    new() { Name = "orders.eu" },
                    caller.Token
                ),
            status,
            code
        );
    }

    [Fact]
    public async Task The_first_user_closes_the_broker_to_who_has_not_logged_in()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders");
        await using RawClient client = await RawClient.ConnectAsync(server.DataPort);
        await client.OpenProducerAsync("orders", 1);
        using ConsumeStream consume = await ConsumeStream.OpenAsync(server, new Subscribe { Topic = "orders" });

        await server.Control.CallAsync<CreateUserRequest, CreateUserResponse>("CreateUser", new() { Name = "alice" });

        Assert.Equal(ErrorCode.Unauthenticated, await ErrorAsync(client));
        await ControlCalls.FailsAsync(consume.ReadAsync, StatusCode.Unauthenticated, "Unauthenticated");
        await ControlCalls.FailsAsync(
            () => server.Control.CallAsync<ListTopicsRequest, ListTopicsResponse>("ListTopics", new()),
            StatusCode.Unauthenticated,
            "Unauthenticated"
        );
        (RawClient refused, FrameHeader header, byte[] body) = await RawClient.LogInAsync(
            server.DataPort,
            HelloFrame.Anonymous,
            ""
        );
        await using RawClient owned = refused;
        Assert.Equal(
            (FrameType.Error, ErrorCode.Unauthenticated),
            (header.Type, FrameCodec.Read<ErrorFrame>(body).Code)
        );
    }

    [Fact]
    public async Task A_topic_that_gets_a_user_of_its_own_is_closed_to_who_has_not_logged_in()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders");
        await server.CreateTopicAsync("open");
        await using RawClient client = await RawClient.ConnectAsync(server.DataPort);
        await client.OpenProducerAsync("orders", 1);
        await client.OpenProducerAsync("open", 2);

        await server.Control.CallAsync<SetTopicCredentialsRequest, SetTopicCredentialsResponse>(
            "SetTopicCredentials",
            new()
            {
                Topic = "orders",
                User = "own",
                Password = "x",
            }
        );

        Assert.Equal(ErrorCode.Unauthenticated, (await ClosedAsync(client, 1)).Code);
        await client.SendAsync(RawClient.PublishFrame(2, RawClient.Batch(0, 10)));
        await client.ReadAsync(FrameType.PublishAck);
        await using var own = new LightQClient(
            new LightQClientOptions
            {
                DataPort = server.DataPort,
                ControlPort = server.ControlPort,
                User = "orders/own",
                Password = "x",
            }
        );
        await using Producer producer = await own.CreateProducerAsync("orders", cancellationToken: Cancel);
        await producer.PublishAsync("mine"u8, cancellationToken: Cancel);
        Assert.Equal(
            ErrorCode.PermissionDenied,
            (
                await Assert.ThrowsAsync<LightQException>(() =>
                    own.CreateProducerAsync("open", cancellationToken: Cancel)
                )
            ).Code
        );

        using GrpcChannel asAdmin = GrpcChannel.ForAddress($"http://127.0.0.1:{server.ControlPort}");
        string token = (
            await asAdmin.CallAsync<LoginRequest, LoginResponse>(
                "Login",
                new() { User = "admin", Password = server.AdminPassword }
            )
        ).Token;
        await asAdmin.CallAsync<SetTopicCredentialsRequest, SetTopicCredentialsResponse>(
            "SetTopicCredentials",
            new()
            {
                Topic = "orders",
                User = "own",
                Password = "y",
            },
            token
        );
        Assert.Equal(ErrorCode.Unauthenticated, await PublishUntilRefusedAsync(producer));
    }

    [Fact]
    public async Task A_password_that_is_changed_ends_what_it_opened_and_a_logout_what_the_login_did()
    {
        await using TestServer server = await StartAsync();
        string admin = (
            await server.Control.CallAsync<LoginRequest, LoginResponse>(
                "Login",
                new() { User = "admin", Password = server.AdminPassword }
            )
        ).Token;
        await server.Control.CallAsync<CreateUserRequest, CreateUserResponse>(
            "CreateUser",
            new() { Name = "alice", Password = "first password" },
            admin
        );
        (RawClient client, FrameHeader header, _) = await RawClient.LogInAsync(
            server.DataPort,
            HelloFrame.Plain,
            "alice\0first password"
        );
        await using RawClient owned = client;
        Assert.Equal(FrameType.Welcome, header.Type);
        string login = (
            await server.Control.CallAsync<LoginRequest, LoginResponse>(
                "Login",
                new() { User = "alice", Password = "first password" }
            )
        ).Token;
        await using RawClient second = await LogInAsync(server, login);

        await server.Control.CallAsync<LogoutRequest, LogoutResponse>("Logout", new(), login);
        Assert.Equal(ErrorCode.Unauthenticated, await ErrorAsync(second));
        await client.SendAsync(new PingFrame(1));
        await client.ReadAsync(FrameType.Pong);

        await ControlCalls.FailsAsync(
            () =>
                server.Control.CallAsync<SetPasswordRequest, SetPasswordResponse>(
                    "SetPassword",
                    new() { Name = "admin", Password = "another password" },
                    admin
                ),
            StatusCode.InvalidArgument,
            "NotSupported"
        );
        await server.Control.CallAsync<SetPasswordRequest, SetPasswordResponse>(
            "SetPassword",
            new() { Name = "alice", Password = "second password" },
            admin
        );
        Assert.Equal(ErrorCode.Unauthenticated, await ErrorAsync(client));
        await ControlCalls.FailsAsync(
            () =>
                server.Control.CallAsync<LoginRequest, LoginResponse>(
                    "Login",
                    new() { User = "alice", Password = "first password" }
                ),
            StatusCode.Unauthenticated,
            "Unauthenticated"
        );
    }

    [Fact]
    public async Task An_SDK_consumer_whose_right_is_taken_ends_with_the_reason()
    {
        await using TestServer server = await StartAsync();
        Caller caller = Caller.Create(server, "alice", (Right.Consume, "orders.eu"));
        await using var client = new LightQClient(
            new LightQClientOptions
            {
                DataPort = server.DataPort,
                ControlPort = server.ControlPort,
                Token = caller.Token,
            }
        );
        await using IAsyncEnumerator<Message> messages = client
            .ConsumeAsync("orders.eu", cancellationToken: Cancel)
            .GetAsyncEnumerator(Cancel);
        Task<bool> waiting = messages.MoveNextAsync().AsTask();
        await Eventually.TrueAsync(
            () => server.Broker.GetTopic("orders.eu").Partitions[0].Subscriptions.Length == 1,
            Limit,
            () => "not subscribed"
        );
        server.Broker.Users.Revoke("alice", Grant.Create(Right.Consume, "orders.eu"));
        Assert.Equal(
            ErrorCode.PermissionDenied,
            (await Assert.ThrowsAsync<LightQException>(() => waiting.WaitAsync(Limit, Cancel))).Code
        );
    }

    private static async Task<TestServer> StartAsync()
    {
        TestServer server = await TestServer.StartAsync(o => o with { RequireAuth = true });
        await server.CreateTopicAsync("orders.eu");
        return server;
    }

    private static async Task<RawClient> LogInAsync(TestServer server, string token)
    {
        (RawClient client, FrameHeader header, _) = await RawClient.LogInAsync(
            server.DataPort,
            HelloFrame.Token,
            token
        );
        Assert.Equal(FrameType.Welcome, header.Type);
        return client;
    }

    /// <summary>
    /// Publishes one by one until the topic refuses; the message under way when it was closed may have been stored or
    /// not.
    /// </summary>
    private static async Task<ErrorCode> PublishUntilRefusedAsync(Producer producer)
    {
        while (true)
        {
            try
            {
                await producer.PublishAsync("no more"u8, cancellationToken: Cancel).AsTask().WaitAsync(Limit, Cancel);
            }
            catch (LightQException error) when (error.Code != ErrorCode.OutcomeUnknown)
            {
                return error.Code;
            }
            catch (LightQException) { }
        }
    }

    private static async Task<ClosedFrame> ClosedAsync(RawClient client, uint stream)
    {
        while (true)
        {
            (FrameHeader header, byte[] body) = await client.ReadAsync().WaitAsync(Limit, Cancel);
            if (header.Type == FrameType.Closed && header.Stream == stream)
                return FrameCodec.Read<ClosedFrame>(body);
            Assert.False(header.Type is 0 or FrameType.Error, $"{header.Type} while waiting for Closed");
        }
    }

    private static async Task<ErrorCode> ErrorAsync(RawClient client)
    {
        while (true)
        {
            (FrameHeader header, byte[] body) = await client.ReadAsync().WaitAsync(Limit, Cancel);
            if (header.Type == FrameType.Error)
                return FrameCodec.Read<ErrorFrame>(body).Code;
            Assert.NotEqual(default, header.Type);
        }
    }
}
