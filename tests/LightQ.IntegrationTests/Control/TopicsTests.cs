using Google.Protobuf.WellKnownTypes;
using Grpc.Core;
using LightQ.Protocol.Control;
using Xunit;

namespace LightQ.IntegrationTests.Control;

public sealed class TopicsTests
{
    [Fact]
    public async Task A_created_topic_has_every_default_filled_in()
    {
        await using TestServer server = await TestServer.StartAsync();
        Topic unsaid = await CreateAsync(server, "unsaid");
        Assert.Equal((TopicKind.Durable, DurabilityLevel.Fsync), (unsaid.Settings.Kind, unsaid.Settings.AckLevel));
        Topic topic = await CreateAsync(server, "orders", new TopicSettings { Kind = TopicKind.Transient });
        Assert.Equal("orders", topic.Name);
        Assert.Equal(32, topic.Id.Length);
        Assert.Equal(TopicKind.Transient, topic.Settings.Kind);
        Assert.Equal(DurabilityLevel.Memory, topic.Settings.AckLevel);
        Assert.Equal(8UL << 20, topic.Settings.RingBytes);
        Assert.Equal(1UL << 20, topic.Settings.MaxMessageBytes);
        Assert.Equal([0L], topic.EndOffsets);
        Assert.Empty(topic.Failure);
    }

    [Fact]
    public async Task A_topic_can_be_got_and_deleted_and_is_then_unknown()
    {
        await using TestServer server = await TestServer.StartAsync();
        Topic created = await CreateAsync(server, "orders", new TopicSettings { Kind = TopicKind.Durable });
        GetTopicResponse got = await server.Control.CallAsync<GetTopicRequest, GetTopicResponse>(
            "GetTopic",
            new() { Name = "orders" }
        );
        Assert.Equal(created, got.Topic);
        await server.Control.CallAsync<DeleteTopicRequest, DeleteTopicResponse>(
            "DeleteTopic",
            new() { Name = "orders" }
        );
        await ControlCalls.FailsAsync(
            () => server.Control.CallAsync<GetTopicRequest, GetTopicResponse>("GetTopic", new() { Name = "orders" }),
            StatusCode.NotFound,
            "UnknownTopic"
        );
        Assert.NotEqual(created.Id, (await CreateAsync(server, "orders")).Id);
    }

    [Theory]
    [InlineData("", StatusCode.InvalidArgument, "InvalidArgument")]
    [InlineData("..", StatusCode.InvalidArgument, "InvalidArgument")]
    [InlineData("../etc", StatusCode.InvalidArgument, "InvalidArgument")]
    [InlineData("größe", StatusCode.InvalidArgument, "InvalidArgument")]
    [InlineData("taken", StatusCode.AlreadyExists, "TopicExists")]
    public async Task A_refused_name_has_status_and_code(string name, StatusCode status, string code)
    {
        await using TestServer server = await TestServer.StartAsync();
        await CreateAsync(server, "taken");
        await ControlCalls.FailsAsync(() => CreateAsync(server, name), status, code);
    }

    [Fact]
    public async Task A_refused_setting_is_named()
    {
        await using TestServer server = await TestServer.StartAsync();
        RpcException error = await ControlCalls.FailsAsync(
            () => CreateAsync(server, "orders", new TopicSettings { MaxMessageBytes = ulong.MaxValue }),
            StatusCode.InvalidArgument,
            "InvalidArgument"
        );
        Assert.Contains("max_message_bytes is 18446744073709551615", error.Status.Detail, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Topics_are_listed_by_name_in_pages()
    {
        await using TestServer server = await TestServer.StartAsync();
        string[] names = ["a", "B", "c", "d", "e"];
        foreach (string name in names)
            await CreateAsync(server, name);
        var seen = new List<string>();
        var request = new ListTopicsRequest { PageSize = 2 };
        do
        {
            ListTopicsResponse page = await server.Control.CallAsync<ListTopicsRequest, ListTopicsResponse>(
                "ListTopics",
                request
            );
            Assert.InRange(page.Topics.Count, 1, 2);
            seen.AddRange(page.Topics.Select(t => t.Name));
            request.PageToken = page.NextPageToken;
        } while (request.PageToken.Length != 0);
        Assert.Equal(names.Order(StringComparer.Ordinal), seen);
        await ControlCalls.FailsAsync(
            () =>
                server.Control.CallAsync<ListTopicsRequest, ListTopicsResponse>(
                    "ListTopics",
                    new() { PageToken = "/" }
                ),
            StatusCode.InvalidArgument,
            "InvalidArgument"
        );
    }

    [Fact]
    public async Task Ensure_creates_then_fits_then_changes_what_may_be_changed()
    {
        await using TestServer server = await TestServer.StartAsync();
        var settings = new TopicSettings { Kind = TopicKind.Durable, SegmentBytes = 16 << 20 };
        Assert.True((await EnsureAsync(server, settings)).Created);
        EnsureTopicResponse same = await EnsureAsync(server, settings);
        Assert.False(same.Created);
        Assert.Empty(same.Changes);

        EnsureTopicResponse changed = await EnsureAsync(
            server,
            new TopicSettings { RetentionBytes = 1 << 30, RetentionAge = Duration.FromTimeSpan(TimeSpan.FromDays(2)) }
        );
        Assert.Equal(
            [
                new SettingChange
                {
                    Setting = "retention_bytes",
                    From = "0",
                    To = "1073741824",
                },
                new SettingChange
                {
                    Setting = "retention_age",
                    From = "00:00:00",
                    To = "2.00:00:00",
                },
            ],
            changed.Changes
        );
        Assert.Equal(TopicKind.Durable, changed.Topic.Settings.Kind);
        Assert.Equal(1UL << 30, changed.Topic.Settings.RetentionBytes);
        Assert.Empty((await EnsureAsync(server, settings)).Changes);

        EnsureTopicResponse reset = await EnsureAsync(
            server,
            new TopicSettings { RetentionBytes = 0, RetentionAge = new Duration() }
        );
        Assert.Equal(
            [
                new SettingChange
                {
                    Setting = "retention_bytes",
                    From = "1073741824",
                    To = "0",
                },
                new SettingChange
                {
                    Setting = "retention_age",
                    From = "2.00:00:00",
                    To = "00:00:00",
                },
            ],
            reset.Changes
        );
        Assert.Equal(0UL, reset.Topic.Settings.RetentionBytes);
    }

    [Fact]
    public async Task Ensure_names_every_immutable_setting_that_differs_and_changes_nothing()
    {
        await using TestServer server = await TestServer.StartAsync();
        await EnsureAsync(server, new TopicSettings { Kind = TopicKind.Durable });
        RpcException error = await ControlCalls.FailsAsync(
            () =>
                EnsureAsync(
                    server,
                    new TopicSettings
                    {
                        RingBytes = 32 << 20,
                        MaxMessageBytes = 2048,
                        RetentionBytes = 5,
                    }
                ),
            StatusCode.FailedPrecondition,
            "TopicExists"
        );
        Assert.Contains("ring_bytes is 8388608, not 33554432", error.Status.Detail, StringComparison.Ordinal);
        Assert.Contains("max_message_bytes is 1048576, not 2048", error.Status.Detail, StringComparison.Ordinal);
        GetTopicResponse got = await server.Control.CallAsync<GetTopicRequest, GetTopicResponse>(
            "GetTopic",
            new() { Name = "ensured" }
        );
        Assert.Equal(0UL, got.Topic.Settings.RetentionBytes);
    }

    [Fact]
    public async Task Truncating_needs_an_existing_topic_and_an_allowed_offset()
    {
        await using TestServer server = await TestServer.StartAsync();
        await CreateAsync(server, "orders", new TopicSettings { Kind = TopicKind.Durable });
        await CreateAsync(server, "transient", new TopicSettings { Kind = TopicKind.Transient });
        TruncateTopicResponse response = await TruncateAsync(server, new() { Name = "orders", BeforeOffset = -1 });
        Assert.Equal(0, response.StartOffset);
        await ControlCalls.FailsAsync(
            () => TruncateAsync(server, new() { Name = "other" }),
            StatusCode.NotFound,
            "UnknownTopic"
        );
        await ControlCalls.FailsAsync(
            () => TruncateAsync(server, new() { Name = "orders", BeforeOffset = -2 }),
            StatusCode.InvalidArgument,
            "InvalidArgument"
        );
        await ControlCalls.FailsAsync(
            () => TruncateAsync(server, new() { Name = "transient", BeforeOffset = -1 }),
            StatusCode.InvalidArgument,
            "NotSupported"
        );
        await ControlCalls.FailsAsync(
            () => TruncateAsync(server, new() { Name = "orders", Partition = 7 }),
            StatusCode.NotFound,
            "UnknownPartition"
        );
    }

    [Fact]
    public async Task A_restart_keeps_topics_with_their_ids_and_settings()
    {
        await using TestServer server = await TestServer.StartAsync();
        Topic transient = await CreateAsync(server, "transient");
        Topic durable = await CreateAsync(server, "durable", new TopicSettings { Kind = TopicKind.Durable });
        await EnsureAsync(server, new TopicSettings { Kind = TopicKind.Durable });
        EnsureTopicResponse changed = await EnsureAsync(server, new TopicSettings { RetentionBytes = 1 << 30 });
        await CreateAsync(server, "gone");
        await server.Control.CallAsync<DeleteTopicRequest, DeleteTopicResponse>("DeleteTopic", new() { Name = "gone" });
        await server.RestartAsync();
        ListTopicsResponse list = await server.Control.CallAsync<ListTopicsRequest, ListTopicsResponse>(
            "ListTopics",
            new()
        );
        Assert.Equal([durable, changed.Topic, transient], list.Topics);
        Assert.Empty(server.Log.Errors);
    }

    internal static async Task<Topic> CreateAsync(TestServer server, string name, TopicSettings? settings = null) =>
        (
            await server.Control.CallAsync<CreateTopicRequest, CreateTopicResponse>(
                "CreateTopic",
                new() { Name = name, Settings = settings }
            )
        ).Topic;

    private static Task<EnsureTopicResponse> EnsureAsync(TestServer server, TopicSettings settings) =>
        server.Control.CallAsync<EnsureTopicRequest, EnsureTopicResponse>(
            "EnsureTopic",
            new() { Name = "ensured", Settings = settings }
        );

    private static Task<TruncateTopicResponse> TruncateAsync(TestServer server, TruncateTopicRequest request) =>
        server.Control.CallAsync<TruncateTopicRequest, TruncateTopicResponse>("TruncateTopic", request);
}
