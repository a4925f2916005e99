using System.Buffers.Binary;
using System.Net.Http.Headers;
using System.Text;
using Google.Protobuf;
using LightQ.Client;
using LightQ.IntegrationTests.Control;
using LightQ.IntegrationTests.Json;
using LightQ.IntegrationTests.Messages;
using LightQ.Protocol.Control;
using LightQ.Server.Json;
using Xunit;
using PublishAck = LightQ.Client.PublishAck;
using Right = LightQ.Broker.Users.Right;
using TopicKind = LightQ.Broker.Topics.TopicKind;
using TopicSettings = LightQ.Broker.Topics.TopicSettings;

namespace LightQ.IntegrationTests.Security;

/// <summary>
/// The names that a publisher claims: whichever way one user claims producer names and ids of messages, what another
/// publishes under them is stored, once, and its producer goes on.
/// </summary>
public sealed class ClaimedNamesTests
{
    private const string Topic = "orders",
        Id = "payment-4711",
        Name = "billing";

    /// <summary>The ways to publish a message with an id.</summary>
    public static TheoryData<string, bool> Ways
    {
        get
        {
            var ways = new TheoryData<string, bool>();
            foreach (
                string way in new[]
                {
                    "data plane",
                    "named producer",
                    "gRPC",
                    "gRPC stream",
                    "named gRPC stream",
                    "gRPC-Web",
                    "JSON",
                    "for later",
                    "republished",
                }
            )
            {
                ways.Add(way, true);
                if (way is not "for later")
                    ways.Add(way, false);
            }
            return ways;
        }
    }

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Theory]
    [MemberData(nameof(Ways))]
    public async Task An_id_claimed_in_any_way_leaves_another_users_message_alone(string way, bool isDurable)
    {
        await using TestServer server = await StartAsync(isDurable);
        string alice = Make(server, "alice"),
            mallory = Make(server, "mallory");
        await ClaimAsync(server, way, mallory);

        await using LightQClient client = ClientOf(server, alice);
        await using Producer producer = await client.CreateProducerAsync(Topic, cancellationToken: Cancelled);
        var options = new PublishOptions { MessageId = Id };
        PublishAck first = await producer.PublishAsync("real"u8.ToArray(), options, cancellationToken: Cancelled);
        Assert.False(first.IsDuplicate);
        PublishAck second = await producer.PublishAsync("real"u8.ToArray(), options, cancellationToken: Cancelled);
        Assert.Equal((true, first.Offset), (second.IsDuplicate, second.Offset));
    }

    [Theory]
    [InlineData("named producer")]
    [InlineData("named gRPC stream")]
    public async Task A_producers_name_claimed_in_any_way_leaves_another_users_producer_alone(string way)
    {
        await using TestServer server = await StartAsync(isDurable: true);
        string alice = Make(server, "alice"),
            mallory = Make(server, "mallory");
        await using LightQClient client = ClientOf(server, alice);
        await using Producer producer = await client.CreateProducerAsync(
            Topic,
            new ProducerOptions { Name = Name },
            Cancelled
        );
        await producer.PublishAsync("one"u8.ToArray(), cancellationToken: Cancelled);
        await ClaimAsync(server, way, mallory);
        await producer.PublishAsync("two"u8.ToArray(), cancellationToken: Cancelled);
        await ClaimAsync(server, way, alice); // Her own other producer takes it over, as ever.
        LightQException ended = await Assert.ThrowsAsync<LightQException>(async () =>
        {
            for (int i = 0; i < 100; i++)
                await producer.PublishAsync("three"u8.ToArray(), cancellationToken: Cancelled);
        });
        Assert.Equal(ErrorCode.Fenced, ended.Code);
    }

    [Fact]
    public async Task The_users_that_are_told_apart_are_those_that_log_in_however_they_do()
    {
        await using TestServer server = await StartAsync(isDurable: true);
        string alice = Make(server, "alice"),
            another = Caller.TokenOf(server, "alice"),
            admin = Caller.TokenOf(server, "admin");
        Assert.False(await PublishAsync(server, alice));
        Assert.True(await PublishAsync(server, another));
        Assert.False(await PublishAsync(server, admin));
        Assert.True(await PublishAsync(server, admin));
        server.Broker.SetCredentials(Topic, LightQ.Broker.Topics.TopicCredentials.Create("shop", "s3cret"));
        string own = (
            await server.Control.CallAsync<LoginRequest, LoginResponse>(
                "Login",
                new() { User = $"{Topic}/shop", Password = "s3cret" }
            )
        ).Token;
        Assert.False(await PublishAsync(server, own));
        Assert.True(await PublishAsync(server, own));
        server.Broker.Users.Delete("alice");
        Assert.False(await PublishAsync(server, Make(server, "alice"))); // One made again is another.
    }

    [Fact]
    public async Task With_shared_names_users_publish_as_one()
    {
        await using TestServer server = await StartAsync(isDurable: true);
        string alice = Make(server, "alice", Right.Manage),
            mallory = Make(server, "mallory");
        Assert.False(await PublishAsync(server, mallory));
        await using LightQClient client = ClientOf(server, alice);
        await client.Topics.EnsureAsync(new TopicSpec(Topic) { SharedNames = true }, Cancelled);
        Assert.True((await client.Topics.GetAsync(Topic, Cancelled)).Spec.SharedNames);
        Assert.True(await PublishAsync(server, alice));
        await client.Topics.EnsureAsync(new TopicSpec(Topic) { SharedNames = false }, Cancelled);
        Assert.False(await PublishAsync(server, alice));
    }

    private static async Task<TestServer> StartAsync(bool isDurable)
    {
        TestServer server = await TestServer.StartAsync(o => o with { RequireAuth = true });
        await Task.Run(
            () =>
                server.Broker.CreateTopic(
                    Topic,
                    new TopicSettings
                    {
                        Kind = isDurable ? TopicKind.Durable : TopicKind.Transient,
                        DedupWindow = TimeSpan.FromHours(1),
                    }
                ),
            Cancelled
        );
        return server;
    }

    private static string Make(TestServer server, string name, params Right[] more) =>
        Caller
            .Create(
                server,
                name,
                [(Right.Publish, Topic), (Right.Consume, Topic), .. more.Select(right => (right, Topic))]
            )
            .Token!;

    private static LightQClient ClientOf(TestServer server, string token) =>
        new(LightQClientOptions.Parse(server.ConnectionString) with { Token = token });

    private static PublishRequest Request(string id = Id) =>
        new()
        {
            Topic = Topic,
            Messages =
            {
                new PublishedMessage { Body = ByteString.CopyFromUtf8("claim"), MessageId = id },
            },
        };

    /// <summary>Publishes the id once more.</summary>
    /// <returns>Whether it is a duplicate.</returns>
    private static async Task<bool> PublishAsync(TestServer server, string token)
    {
        PublishResponse done = await server.Control.CallAsync<PublishRequest, PublishResponse>(
            "Publish",
            Request(),
            token
        );
        return done.Positions[0].Duplicate;
    }

    /// <summary>Claims the name and the id in one of the ways.</summary>
    private static async Task ClaimAsync(TestServer server, string way, string token)
    {
        PublishRequest request = Request();
        switch (way)
        {
            case "data plane":
            case "named producer":
            case "for later":
                await using (LightQClient client = ClientOf(server, token))
                {
                    var named = new ProducerOptions { Name = way == "named producer" ? Name : null };
                    await using Producer producer = await client.CreateProducerAsync(Topic, named, Cancelled);
                    TimeSpan? delay = way == "for later" ? TimeSpan.FromHours(1) : null;
                    await producer.PublishAsync(
                        "claim"u8.ToArray(),
                        new PublishOptions { MessageId = Id, Delay = delay ?? default },
                        cancellationToken: Cancelled
                    );
                }
                break;
            case "gRPC":
                await server.Control.CallAsync<PublishRequest, PublishResponse>("Publish", request, token);
                break;
            case "gRPC stream":
            case "named gRPC stream":
                using (var stream = new PublishStream(server, token))
                {
                    var open = new OpenProducer { Topic = Topic };
                    if (way == "named gRPC stream")
                        (open.ProducerName, open.Partition) = (Name, 0);
                    await stream.WriteAsync(new PublishStreamRequest { Open = open, Messages = { request.Messages } });
                    Assert.NotNull(await stream.ReadAsync());
                    Assert.Single(await stream.ReadOffsetsAsync());
                }
                break;
            case "gRPC-Web":
                await CallWebAsync(server, request, token);
                break;
            case "JSON":
                JsonRoute route = JsonRoutes.All.Single(r => r.Method.Name == "Publish");
                Assert.Equal(ErrorCode.None, (await server.SendAsync(request, route, token)).Code);
                break;
            case "republished":
                PublishResponse done = await server.Control.CallAsync<PublishRequest, PublishResponse>(
                    "Publish",
                    Request("another"),
                    token
                );
                await server.Control.CallAsync<RepublishRequest, RepublishResponse>(
                    "Republish",
                    new()
                    {
                        Topic = Topic,
                        Offset = done.Positions[0].Offset,
                        Edit = new MessageEdit { MessageId = Id },
                    },
                    token
                );
                break;
            default:
                throw new ArgumentOutOfRangeException(nameof(way), way, "a way to publish");
        }
    }

    private static async Task CallWebAsync(TestServer server, PublishRequest request, string token)
    {
        byte[] message = request.ToByteArray(),
            framed = new byte[5 + message.Length];
        BinaryPrimitives.WriteInt32BigEndian(framed.AsSpan(1), message.Length);
        message.CopyTo(framed, 5);
        using var call = new HttpRequestMessage(HttpMethod.Post, "/lightq.control.v1.Messages/Publish")
        {
            Content = new ByteArrayContent(framed) { Headers = { ContentType = new("application/grpc-web+proto") } },
        };
        call.Headers.Authorization = new AuthenticationHeaderValue("Bearer", token);
        using HttpResponseMessage response = await server.Web.SendAsync(call, Cancelled);
        string text = Encoding.ASCII.GetString(await response.Content.ReadAsByteArrayAsync(Cancelled));
        Assert.Contains("grpc-status: 0", text, StringComparison.Ordinal);
    }
}
