using System.Net;
using System.Text;
using System.Text.Json;
using LightQ.Client;
using LightQ.IntegrationTests.Cli;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Hosting;

/// <summary>
/// The JSON protocol on the web port: the requests and answers of the reference document, field by field.
/// </summary>
public sealed class AdminTests
{
    private const string Password = "T0p$3cr31";

    [Fact]
    public async Task The_documented_requests_are_answered_in_the_documented_form()
    {
        await using TestServer server = await TestServer.StartAsync();

        JsonElement created = await PostAsync(server, HttpStatusCode.OK, CreateRequest(server, "queue"));
        AssertFields(created, "cmd", "description", "status");
        Assert.Equal(
            """{"cmd":"create_topic","description":"topic created successfully","status":"ok"}""",
            JsonSerializer.Serialize(created)
        );

        foreach (string type in new[] { "pull", "pub", "sub" })
        {
            JsonElement joined = await PostAsync(server, HttpStatusCode.OK, JoinRequest(type));
            AssertFields(joined, "bind_uri", "cmd", "status", "topic");
            Assert.Equal(
                ("join", "ok", "test"),
                (
                    joined.GetProperty("cmd").GetString(),
                    joined.GetProperty("status").GetString(),
                    joined.GetProperty("topic").GetString()
                )
            );
        }

        JsonElement stats = await PostAsync(server, HttpStatusCode.OK, StatsRequest());
        AssertFields(
            stats,
            "cmd",
            "messages_received",
            "messages_sent",
            "publishers_count",
            "queue_size",
            "status",
            "subscribers_count",
            "total_bytes_read",
            "total_bytes_written"
        );
    }

    [Theory]
    [InlineData("queue", TopicKind.Transient)]
    [InlineData("file", TopicKind.Durable)]
    public async Task What_join_answers_works_with_the_SDK_and_with_the_tool(string brokerType, TopicKind kind)
    {
        await using TestServer server = await TestServer.StartAsync();
        await PostAsync(server, HttpStatusCode.OK, CreateRequest(server, brokerType));
        string pub = (await PostAsync(server, HttpStatusCode.OK, JoinRequest("pub")))
            .GetProperty("bind_uri")
            .GetString()!;
        string sub = (await PostAsync(server, HttpStatusCode.OK, JoinRequest("sub")))
            .GetProperty("bind_uri")
            .GetString()!;

        await using var client = new LightQClient(pub);
        Assert.Equal(kind, (await client.Topics.GetAsync("test", TestContext.Current.CancellationToken)).Spec.Kind);
        await using Producer producer = await client.CreateProducerAsync(
            "test",
            cancellationToken: TestContext.Current.CancellationToken
        );
        await producer.PublishAsync("from the SDK"u8, cancellationToken: TestContext.Current.CancellationToken);
        (await LightQTool.RunAsync(pub, "pub", "test", "from the tool")).Succeeded();
        Assert.Equal(
            "from the SDK\nfrom the tool\n",
            (await LightQTool.RunAsync(sub, "sub", "test", "--from", "earliest", "--count", "2", "--format", "raw"))
                .Succeeded()
                .Text
        );

        JsonElement stats = await PostAsync(server, HttpStatusCode.OK, StatsRequest());
        Assert.Equal(
            (2, 2, 1),
            (Count(stats, "messages_received"), Count(stats, "messages_sent"), Count(stats, "publishers_count"))
        );
        Assert.True(Count(stats, "total_bytes_written") > 0 && Count(stats, "total_bytes_read") > 0);
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task User_and_password_are_checked_even_where_anonymous_clients_may_do_everything()
    {
        FaultRun.RequireTier("Wrong passwords are answered one at a time, with rests.");
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("without");
        await RefusedAsync(
            server,
            HttpStatusCode.Unauthorized,
            "admin",
            CreateRequest(server, "queue").Replace(server.AdminPassword, "guess", StringComparison.Ordinal)
        );
        await RefusedAsync(
            server,
            HttpStatusCode.Unauthorized,
            "admin",
            CreateRequest(server, "queue").Replace("\"admin\"", "\"test_admin\"", StringComparison.Ordinal)
        );
        await PostAsync(server, HttpStatusCode.OK, CreateRequest(server, "queue"));

        // Each refusal takes the time of a password: what is checked is the same for both requests.
        const string Refusal = "There is no such topic, or user_id or password is wrong.";
        foreach (
            (string right, string wrong) in new[]
            {
                ("test_admin", "somebody"),
                ("\"test\"", "\"nobody\""),
                ("\"test\"", "\"without\""),
            }
        )
        {
            string mistaken = JoinRequest("pub").Replace(right, wrong, StringComparison.Ordinal);
            await RefusedAsync(server, HttpStatusCode.Unauthorized, Refusal, mistaken);
        }
        foreach (string request in new[] { JoinRequest("pub"), StatsRequest() })
        {
            await RefusedAsync(
                server,
                HttpStatusCode.Unauthorized,
                Refusal,
                request.Replace(Password, "guess", StringComparison.Ordinal)
            );
            string asAdmin = request
                .Replace("test_admin", "admin", StringComparison.Ordinal)
                .Replace(Password, server.AdminPassword, StringComparison.Ordinal);
            await PostAsync(server, HttpStatusCode.OK, asAdmin);
            await PostAsync(
                server,
                HttpStatusCode.OK,
                asAdmin.Replace("\"test\"", "\"without\"", StringComparison.Ordinal)
            );
            await RefusedAsync(
                server,
                HttpStatusCode.NotFound,
                "nobody",
                asAdmin.Replace("\"test\"", "\"nobody\"", StringComparison.Ordinal)
            );
        }
    }

    [Fact]
    public async Task A_topics_password_survives_restarts_and_changes_and_lies_nowhere_in_the_clear()
    {
        await using TestServer server = await TestServer.StartAsync();
        await PostAsync(server, HttpStatusCode.OK, CreateRequest(server, "file"));
        await using (
            var client = new LightQClient(
                server.ConnectionString.Replace(
                    "lightq://",
                    $"lightq://admin:{server.AdminPassword}@",
                    StringComparison.Ordinal
                )
            )
        )
        {
            await client.Topics.EnsureAsync(
                new TopicSpec("test") { Kind = TopicKind.Durable, RetentionBytes = 1 << 30 },
                TestContext.Current.CancellationToken
            );
        }

        await server.RestartAsync();

        await PostAsync(server, HttpStatusCode.OK, JoinRequest("pull"));
        await RefusedAsync(
            server,
            HttpStatusCode.Unauthorized,
            "wrong",
            JoinRequest("pull").Replace(Password, "guess", StringComparison.Ordinal)
        );
        await server.RestartAsync(() =>
        {
            string[] files = Directory.GetFiles(
                Path.Combine(server.Directory, "catalog"),
                "*",
                SearchOption.AllDirectories
            );
            Assert.Contains(files, f => Contains(f, "test_admin"));
            Assert.DoesNotContain(
                Directory.GetFiles(server.Directory, "*", SearchOption.AllDirectories),
                f => Contains(f, Password)
            );
        });
    }

    [Theory]
    [InlineData("", "JSON")]
    [InlineData("{", "JSON")]
    [InlineData("null", "JSON")]
    [InlineData("[]", "JSON")]
    [InlineData("\"join\"", "JSON")]
    [InlineData("{\"cmd\": 5}", "JSON")]
    [InlineData("{\"cmd\": {\"cmd\": \"join\"}}", "JSON")]
    [InlineData("{\"cmd\": \"\\ud800\"}", "")]
    [InlineData("{}", "cmd is missing; allowed: create_topic, join, stats.")]
    [InlineData("{\"cmd\": \"delete\"}", "cmd is 'delete'")]
    [InlineData("{\"cmd\": \"join\"}", "connection_type is missing")]
    [InlineData(
        "{\"cmd\": \"join\", \"connection_type\": \"pipe\"}",
        "connection_type is 'pipe'; allowed: zmq, socket."
    )]
    [InlineData(
        "{\"cmd\": \"join\", \"connection_type\": \"zmq\", \"type\": \"push\"}",
        "type is 'push'; allowed: pub, pull, sub."
    )]
    [InlineData("{\"cmd\": \"join\", \"connection_type\": \"zmq\", \"type\": \"pub\"}", "topic is missing.")]
    [InlineData("{\"cmd\": \"stats\", \"topic\": \"t\", \"user_id\": \"u\"}", "password is missing.")]
    [InlineData("{\"cmd\": \"create_topic\"}", "admin_user_id is missing.")]
    public async Task A_wrong_request_is_an_error_that_says_what_is_wrong(string request, string says)
    {
        await using TestServer server = await TestServer.StartAsync();
        await RefusedAsync(server, HttpStatusCode.BadRequest, says, request);
    }

    [Fact]
    public async Task Topics_that_cannot_be_made_are_refused()
    {
        await using TestServer server = await TestServer.StartAsync();
        string request = CreateRequest(server, "queue");
        await RefusedAsync(
            server,
            HttpStatusCode.BadRequest,
            "broker_type is 'disk'; allowed: queue, file.",
            CreateRequest(server, "disk")
        );
        await RefusedAsync(
            server,
            HttpStatusCode.BadRequest,
            "is not a topic name",
            request.Replace("\"test\"", "\"te/st\"", StringComparison.Ordinal)
        );
        await RefusedAsync(
            server,
            HttpStatusCode.BadRequest,
            "password is missing.",
            request.Replace(Password, "", StringComparison.Ordinal)
        );
        await PostAsync(server, HttpStatusCode.OK, request);
        await RefusedAsync(server, HttpStatusCode.Conflict, "exists already", request);
    }

    [Fact]
    public async Task A_body_that_is_too_large_is_refused_and_another_method_is_not_allowed()
    {
        await using TestServer server = await TestServer.StartAsync();
        await RefusedAsync(
            server,
            HttpStatusCode.RequestEntityTooLarge,
            "the limit (Http:MaxRequestBytes) is 16384.",
            $"{{\"cmd\": \"{new string('x', 20_000)}\"}}"
        );
        using HttpResponseMessage get = await server.Web.GetAsync("/admin", TestContext.Current.CancellationToken);
        Assert.Equal(HttpStatusCode.MethodNotAllowed, get.StatusCode);
    }

    private static string CreateRequest(TestServer server, string brokerType) =>
        $$"""
            {
             "admin_password": "{{server.AdminPassword}}",
             "admin_user_id": "admin",
             "broker_type": "{{brokerType}}",
             "cmd": "create_topic",
             "password": "{{Password}}",
             "topic": "test",
             "user_id": "test_admin"
            }
            """;

    private static string JoinRequest(string type) =>
        $$"""
            {
               "cmd": "join",
               "connection_type": "{{(type == "pub" ? "zmq" : "socket")}}",
               "password": "{{Password}}",
               "topic": "test",
               "type": "{{type}}",
               "user_id": "test_admin"
            }
            """;

    private static string StatsRequest() =>
        $$"""
            {
               "cmd": "stats",
               "password": "{{Password}}",
               "topic": "test",
               "user_id": "test_admin"
            }
            """;

    private static async Task<JsonElement> PostAsync(TestServer server, HttpStatusCode status, string request)
    {
        using var content = new StringContent(request, Encoding.UTF8, "application/json");
        using HttpResponseMessage response = await server.Web.PostAsync(
            "/admin",
            content,
            TestContext.Current.CancellationToken
        );
        string text = await response.Content.ReadAsStringAsync(TestContext.Current.CancellationToken);
        Assert.True(status == response.StatusCode, $"{response.StatusCode}: {text}");
        Assert.Equal("application/json", response.Content.Headers.ContentType?.MediaType);
        return JsonDocument.Parse(text).RootElement;
    }

    private static async Task RefusedAsync(TestServer server, HttpStatusCode status, string says, string request)
    {
        JsonElement answer = await PostAsync(server, status, request);
        Assert.Equal("error", answer.GetProperty("status").GetString());
        Assert.Contains(says, answer.GetProperty("description").GetString(), StringComparison.Ordinal);
        Assert.DoesNotContain(Password, answer.GetRawText(), StringComparison.Ordinal);
    }

    private static void AssertFields(JsonElement answer, params string[] names) =>
        Assert.Equal(names, answer.EnumerateObject().Select(p => p.Name));

    private static long Count(JsonElement answer, string name) => answer.GetProperty(name).GetInt64();

    private static bool Contains(string file, string text) =>
        File.ReadAllBytes(file).AsSpan().IndexOf(Encoding.UTF8.GetBytes(text)) >= 0;
}
