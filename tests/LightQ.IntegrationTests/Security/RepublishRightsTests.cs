using Grpc.Core;
using LightQ.IntegrationTests.Control;
using LightQ.IntegrationTests.Messages;
using LightQ.Protocol.Control;
using Xunit;
using Right = LightQ.Broker.Users.Right;
using TopicKind = LightQ.Broker.Topics.TopicKind;

namespace LightQ.IntegrationTests.Security;

/// <summary>To publish again what is stored needs the rights to read it and to publish it.</summary>
public sealed class RepublishRightsTests
{
    [Theory]
    [InlineData(true, true, true)]
    [InlineData(true, false, false)]
    [InlineData(false, true, false)]
    public async Task A_message_is_republished_by_who_may_consume_and_publish(
        bool consume,
        bool publish,
        bool isAllowed
    )
    {
        await using TestServer server = await StartAsync();
        List<(Right, string)> rights = [(Right.Publish, "orders")];
        if (consume)
            rights.Add((Right.Consume, "orders"));
        if (publish)
            rights.Add((Right.Publish, "other"));
        Caller caller = Caller.Create(server, "alice", [.. rights]);
        await server.Control.CallAsync<PublishRequest, PublishResponse>(
            "Publish",
            new() { Topic = "orders", Messages = { PublishStream.Text("x") } },
            caller.Token
        );
        var request = new RepublishRequest { Topic = "orders", TargetTopic = "other" };
        Task<RepublishResponse> TryAsync() =>
            server.Control.CallAsync<RepublishRequest, RepublishResponse>("Republish", request, caller.Token);
        if (isAllowed)
            Assert.Equal(("other", 0L), ((await TryAsync()).Topic, (await TryAsync()).Position.Offset - 1));
        else
            await ControlCalls.FailsAsync(TryAsync, StatusCode.PermissionDenied, "PermissionDenied");
        Assert.Equal(isAllowed ? 2 : 0, server.Broker.GetTopic("other").Partitions[0].Log.EndOffset);
    }

    [Theory]
    [InlineData("UnknownGroup", Right.Manage, Right.Consume, Right.Publish)]
    [InlineData("PermissionDenied", Right.Manage, Right.Consume)]
    [InlineData("PermissionDenied", Right.Manage, Right.Publish)]
    [InlineData("PermissionDenied", Right.Consume, Right.Publish)]
    public async Task A_letter_is_republished_by_who_may_also_manage(string code, params Right[] rights)
    {
        await using TestServer server = await StartAsync();
        Caller caller = Caller.Create(server, "alice", [.. rights.Select(right => (right, "orders"))]);
        await ControlCalls.FailsAsync(
            () =>
                server.Control.CallAsync<RepublishLetterRequest, RepublishLetterResponse>(
                    "RepublishLetter",
                    new() { Topic = "orders", Group = "billing" },
                    caller.Token
                ),
            code == "UnknownGroup" ? StatusCode.NotFound : StatusCode.PermissionDenied,
            code
        );
    }

    private static async Task<TestServer> StartAsync()
    {
        TestServer server = await TestServer.StartAsync(o => o with { RequireAuth = true });
        await server.CreateTopicAsync("orders", TopicKind.Durable);
        await server.CreateTopicAsync("other", TopicKind.Durable);
        return server;
    }
}
