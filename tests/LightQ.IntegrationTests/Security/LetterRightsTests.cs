using Grpc.Core;
using LightQ.Broker;
using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.IntegrationTests.Control;
using LightQ.IntegrationTests.Messages;
using LightQ.Protocol.Control;
using Xunit;
using Right = LightQ.Broker.Users.Right;
using TopicKind = LightQ.Broker.Topics.TopicKind;
using TopicSettings = LightQ.Broker.Topics.TopicSettings;

namespace LightQ.IntegrationTests.Security;

/// <summary>A topic's dead letters are as closed as the topic.</summary>
public sealed class LetterRightsTests
{
    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Rights_on_names_that_begin_alike_do_not_reach_the_letters_of_a_topic_that_they_do_not_cover()
    {
        await using TestServer server = await TestServer.StartAsync(o => o with { RequireAuth = true });
        await server.CreateTopicAsync("orders", TopicKind.Durable);
        await server.CreateTopicAsync("orders.dead", TopicKind.Durable);
        await server.CreateTopicAsync("orders.eu.dead", TopicKind.Durable);
        Caller caller = Caller.Create(
            server,
            "alice",
            [(Right.Publish, "orders.*"), (Right.Consume, "orders.*"), (Right.Manage, "orders.*")]
        );
        await using var client = new LightQClient(
            LightQClientOptions.Parse(server.ConnectionString) with
            {
                Token = caller.Token,
            }
        );
        await client.PublishAsync("orders.eu.dead", "x"u8.ToArray(), cancellationToken: Cancelled);
        await RefusedAsync(() =>
            client.PublishAsync("orders.dead", "x"u8.ToArray(), cancellationToken: Cancelled).AsTask()
        );
        await RefusedAsync(async () =>
        {
            await foreach (Message message in client.ConsumeAsync("orders.dead", cancellationToken: Cancelled))
                Assert.Fail($"message {message.Offset} was given away");
        });
        await RefusedAsync(() => client.Topics.DeleteAsync("orders.dead", Cancelled));
        Assert.Equal(
            ["orders.eu.dead"],
            (
                await server.Control.CallAsync<ListTopicsRequest, ListTopicsResponse>("ListTopics", new(), caller.Token)
            ).Topics.Select(t => t.Name)
        );
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Rights_on_names_that_begin_alike_reach_letters_under_another_name_only_with_their_topic(
        bool isThereFirst
    )
    {
        await using TestServer server = await TestServer.StartAsync(o => o with { RequireAuth = true });
        if (isThereFirst)
            await server.CreateTopicAsync("letters", TopicKind.Durable);
        Caller[] callers =
        [
            Caller.Create(server, "alike", [(Right.Consume, "l*"), (Right.Publish, "l*"), (Right.Manage, "l*")]),
            Caller.Create(server, "named", [(Right.Consume, "letters")]),
            Caller.Create(server, "all", [(Right.Consume, "*")]),
        ];
        Task<BrowseResponse> BrowseAsync(Caller caller) =>
            server.Control.CallAsync<BrowseRequest, BrowseResponse>(
                "Browse",
                new BrowseRequest { Topic = "letters" },
                caller.Token
            );
        ConsumeStream? open = isThereFirst
            ? await ConsumeStream.OpenAsync(server, new Subscribe { Topic = "letters" }, token: callers[0].Token)
            : null;

        var durable = new TopicSettings { Kind = TopicKind.Durable };
        server.Broker.CreateTopic(
            "orders",
            durable with
            {
                Delivery = durable.Delivery with { DeadLetterTopic = "letters" },
            }
        );
        if (!isThereFirst)
            await server.CreateTopicAsync("letters", TopicKind.Durable);
        if (open is not null)
        {
            RpcException ended = await Assert.ThrowsAsync<RpcException>(() => open.ReadAsync());
            Assert.Equal(StatusCode.PermissionDenied, ended.StatusCode);
            open.Dispose();
        }
        await RefusedCallAsync(() => BrowseAsync(callers[0]));
        await BrowseAsync(callers[1]);
        await BrowseAsync(callers[2]);
        // Nor may she have it made before it is first needed, or have it belong to a topic of hers.
        await server.Broker.DeleteTopicAsync("letters", Cancelled);
        await RefusedCallAsync(() => CreateAsync("letters", ""));
        await server.CreateTopicAsync("shared", TopicKind.Durable);
        server.Broker.Users.Grant("alike", LightQ.Broker.Users.Grant.Create(Right.Publish, "shared"));
        await RefusedCallAsync(() => CreateAsync("lamp", "shared"));
        server.Broker.Users.Grant("alike", LightQ.Broker.Users.Grant.Create(Right.Publish, "unmade"));
        await RefusedCallAsync(() => CreateAsync("lamp", "unmade"));

        await server.Broker.DeleteTopicAsync("orders", Cancelled);
        await CreateAsync("letters", "");
        await BrowseAsync(callers[0]);
        // It is so behind a restart too.
        await server.Broker.DeleteTopicAsync("letters", Cancelled);
        server.Broker.CreateTopic(
            "orders",
            durable with
            {
                Delivery = durable.Delivery with { DeadLetterTopic = "letters" },
            }
        );
        await server.RestartAsync();
        await RefusedCallAsync(() => BrowseAsync(callers[0]));

        Task CreateAsync(string name, string dead) =>
            server.Control.CallAsync<CreateTopicRequest, CreateTopicResponse>(
                "CreateTopic",
                new CreateTopicRequest
                {
                    Name = name,
                    Settings = new() { Kind = Protocol.Control.TopicKind.Durable, DeadLetterTopic = dead },
                },
                callers[0].Token
            );
    }

    [Fact]
    public async Task The_letters_of_a_topic_with_a_user_of_its_own_are_closed_to_who_has_not_logged_in()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders", TopicKind.Durable);
        await server.CreateTopicAsync("orders.dead", TopicKind.Durable);
        var request = new PublishRequest { Topic = "orders.dead", Messages = { PublishStream.Text("x") } };
        Task<PublishResponse> PublishAsync() =>
            server.Control.CallAsync<PublishRequest, PublishResponse>("Publish", request);
        await PublishAsync();
        server.Broker.SetCredentials("orders", new TopicCredentials("shop", "$hash"));
        await ControlCalls.FailsAsync(PublishAsync, StatusCode.Unauthenticated, "Unauthenticated");
    }

    [Theory]
    [InlineData("")]
    [InlineData("letters")]
    public async Task Letters_never_get_to_a_transient_topic(string named)
    {
        await using TestServer server = await TestServer.StartAsync();
        LightQBroker broker = server.Broker;
        var durable = new TopicSettings { Kind = TopicKind.Durable };
        TopicSettings settings = durable with { Delivery = durable.Delivery with { DeadLetterTopic = named } };
        var transient = new TopicSettings { Kind = TopicKind.Transient };
        string dead = named.Length == 0 ? "orders.dead" : named;

        broker.CreateTopic(dead, transient);
        Fails(() => broker.CreateTopic("orders", settings));
        await broker.DeleteTopicAsync(dead, TestContext.Current.CancellationToken);
        broker.CreateTopic("orders", settings);
        Fails(() => broker.CreateTopic(dead, transient));
        broker.CreateTopic("other", transient);
        LightQ.Broker.Topics.Topic orders = broker.GetTopic("orders");
        Fails(() =>
        {
            _ = broker.ChangeSettingsAsync(
                orders,
                orders.Settings with
                {
                    Delivery = orders.Settings.Delivery with { DeadLetterTopic = "other" },
                }
            );
        });

        void Fails(Action change)
        {
            BrokerException error = Assert.Throws<BrokerException>(change);
            Assert.Equal(ErrorCode.InvalidArgument, error.Code);
            Assert.Contains("orders", error.Message, StringComparison.Ordinal);
            Assert.Contains("durable topic", error.Message, StringComparison.Ordinal);
        }
    }

    private static async Task RefusedCallAsync(Func<Task> call) =>
        await ControlCalls.FailsAsync(call, StatusCode.PermissionDenied, "PermissionDenied");

    private static async Task RefusedAsync(Func<Task> call) =>
        Assert.Equal(ErrorCode.PermissionDenied, (await Assert.ThrowsAsync<LightQException>(call)).Code);
}
