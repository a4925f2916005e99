using System.Net;
using System.Text;
using System.Text.Json;
using System.Text.RegularExpressions;
using LightQ.IntegrationTests.Security;
using LightQ.Server.Json;
using LightQ.Server.Security;
using Xunit;
using Right = LightQ.Broker.Users.Right;
using TopicKind = LightQ.Broker.Topics.TopicKind;

namespace LightQ.IntegrationTests.Json;

public sealed class JsonGatewayTests
{
    private static readonly string?[] OtherTypes =
    [
        null,
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/json",
    ];

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_topic_is_browsed_and_what_it_holds_is_published_again()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders", TopicKind.Durable);
        await server.SendAsync(
            "POST",
            "/v1/topics/orders:publish",
            """{"messages": [{"key": "NDI=", "body": "aGVsbG8="}, {"body": "d29ybGQ="}]}"""
        );
        JsonAnswer page = await server.SendAsync("POST", "/v1/topics/orders:browse", """{"max_messages": 1}""");
        Assert.False(page["atEnd"].GetBoolean());
        JsonElement message = Assert.Single(page["messages"].EnumerateArray().ToArray());
        Assert.Equal(
            ("aGVsbG8=", "5", "MESSAGE_STATE_DELIVERED"),
            (
                message.GetProperty("body").GetString(),
                message.GetProperty("bodySize").GetString(),
                message.GetProperty("state").GetString()
            )
        );
        JsonAnswer rest = await server.SendAsync(
            "POST",
            "/v1/topics/orders:browse",
            $$"""{"max_messages": 1, "next": {{page["next"]}}}"""
        );
        Assert.Equal((true, 1), (rest["atEnd"].GetBoolean(), rest["messages"].GetArrayLength()));
        JsonAnswer copy = await server.SendAsync(
            "POST",
            "/v1/topics/orders:republish",
            """{"offset": "1", "edit": {"body": "Zml4ZWQ="}}"""
        );
        Assert.Equal("2", copy["position"].GetProperty("offset").GetString());
        JsonAnswer none = await server.SendAsync("GET", "/v1/topics/orders/groups/nobody/letters?max_letters=5");
        Assert.Equal(404, none.Status);
        JsonAnswer wrong = await server.SendAsync("POST", "/v1/topics/orders:browse", """{"last": "0"}""");
        Assert.Equal(400, wrong.Status);
    }

    [Theory]
    [InlineData(TopicKind.Durable, 0, 200)]
    [InlineData(TopicKind.Durable, 1, 400)]
    [InlineData(TopicKind.Transient, 0, 400)]
    public async Task A_delay_may_have_the_longest_time_on_durable_topics(TopicKind kind, int more, int status)
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders", kind);
        double seconds = LightQ.Protocol.ProtocolLimits.LongestDelay.TotalSeconds + more;
        JsonAnswer answer = await server.SendAsync(
            "POST",
            "/v1/topics/orders:publish",
            $$"""{"messages": [{"body": "aGVsbG8=", "delay": "{{seconds}}s"}]}"""
        );
        Assert.Equal(status, answer.Status);
        Assert.Equal(status == 200 ? 1 : 0, server.Broker.GetTopic("orders").Partitions[0].Log.EndOffset);
        if (status == 200)
            return;
        JsonAnswer next = await server.SendAsync(
            "POST",
            "/v1/topics/orders:publish",
            """{"messages": [{"body": "aGVsbG8="}]}"""
        );
        Assert.Equal(200, next.Status);
    }

    [Fact]
    public async Task A_topic_is_made_and_messages_are_published_fetched_settled_and_counted()
    {
        await using TestServer server = await TestServer.StartAsync();
        JsonAnswer made = await server.SendAsync(
            "POST",
            "/v1/topics",
            """{"name": "orders", "settings": {"kind": "TOPIC_KIND_DURABLE"}}"""
        );
        Assert.Equal((200, "orders"), (made.Status, made["topic"].GetProperty("name").GetString()));
        JsonAnswer published = await server.SendAsync(
            "POST",
            "/v1/topics/orders:publish",
            """{"messages": [{"key": "NDI=", "body": "aGVsbG8="}, {"body": "", "timeToLive": "3600.5s"}]}"""
        );
        Assert.Equal(
            ["0", "1"],
            published["positions"].EnumerateArray().Select(p => p.GetProperty("offset").GetString())
        );

        JsonAnswer fetched = await server.SendAsync(
            "POST",
            "/v1/topics/orders:fetch",
            """{"group": "billing", "max_messages": 10, "wait": "20s"}"""
        );
        JsonElement[] messages = [.. fetched["messages"].EnumerateArray()];
        Assert.Equal(["aGVsbG8=", ""], messages.Select(m => m.GetProperty("body").GetString()));
        Assert.Equal(
            (1, "NDI="),
            (messages[0].GetProperty("deliveryCount").GetInt32(), messages[0].GetProperty("key").GetString())
        );
        string settlements = string.Join(
            ",",
            messages.Select(m =>
                $$"""{"token": "{{m.GetProperty("settleToken").GetString()}}", "kind": "SETTLE_KIND_COMPLETE"}"""
            )
        );
        JsonAnswer settled = await server.SendAsync(
            "POST",
            "/v1/topics/orders:settle",
            $$"""{"settlements": [{{settlements}}]}"""
        );
        Assert.Equal(
            ["SETTLE_OUTCOME_DONE", "SETTLE_OUTCOME_DONE"],
            settled["outcomes"].EnumerateArray().Select(o => o.GetString())
        );

        JsonElement stats = (await server.SendAsync("GET", "/v1/topics/orders/stats"))["stats"];
        Assert.Equal(
            ("2", "2", "0"),
            (
                stats.GetProperty("messagesReceived").GetString(),
                stats.GetProperty("messagesSettled").GetString(),
                stats.GetProperty("gaps").GetString()
            )
        );
        JsonElement group = (await server.SendAsync("GET", "/v1/topics/orders/groups/billing"))["group"];
        Assert.Equal(("0", "2"), (group.GetProperty("lag").GetString(), group.GetProperty("delivered").GetString()));
        Assert.Equal(
            "orders",
            Assert
                .Single((await server.SendAsync("GET", "/v1/topics?page_size=1"))["topics"].EnumerateArray())
                .GetProperty("name")
                .GetString()
        );
        Assert.Equal(200, (await server.SendAsync("DELETE", "/v1/topics/orders")).Status);
        (await server.SendAsync("GET", "/v1/topics/orders")).Refuses(404, "UnknownTopic", "orders");
    }

    [Fact]
    public async Task Every_route_asks_for_a_login_where_one_is_required_and_answers_whoever_may_do_everything()
    {
        await using TestServer server = await TestServer.StartAsync(o => o with { RequireAuth = true });
        string admin = (
            await server.SendAsync(
                "POST",
                "/v1/login",
                $$"""{"user": "admin", "password": "{{server.AdminPassword}}"}"""
            )
        )["token"]
            .GetString()!;
        string powerless = Caller.Create(server, "powerless").Token!;
        foreach (JsonRoute route in JsonRoutes.All.Where(r => !r.Method.IsServerStreaming))
        {
            string path = Regex.Replace(route.Pattern, "{[a-z]+}", "nothing");
            if (RpcRules.Find(route.Path)!.Access != RpcAccess.Open)
            {
                JsonAnswer stranger = await server.SendAsync(route.Verb, path);
                stranger.Refuses(401, "Unauthenticated", "requires a login");
                Assert.Equal("Bearer realm=\"LightQ\", Basic realm=\"LightQ\"", stranger.WwwAuthenticate);
                (await server.SendAsync(route.Verb, path, token: "x")).Refuses(401, "Unauthenticated", "token");
            }
            if (RpcRules.Find(route.Path)!.Access is RpcAccess.Admin or RpcAccess.Topic or RpcAccess.Sight)
            {
                (await server.SendAsync(route.Verb, path, token: powerless)).Refuses(
                    403,
                    "PermissionDenied",
                    "powerless does not have the right"
                );
            }

            JsonAnswer answer = await server.SendAsync(
                route.Verb,
                path,
                token: route.Method.Name == "Logout" ? powerless : admin
            );
            Assert.True(
                answer.Status is 200 or 400 or 404 or 401 && (answer.Status == 200) == (answer.ErrorCode.Length == 0),
                $"{route.Verb} {path}: {answer.Status} {answer.Body}"
            );
        }
    }

    [Fact]
    public async Task A_password_serves_in_place_of_a_token()
    {
        await using TestServer server = await TestServer.StartAsync(o => o with { RequireAuth = true });
        using HttpRequestMessage request = JsonCalls.Request("GET", "/v1/whoami", null);
        request.Headers.Authorization = new(
            "Basic",
            Convert.ToBase64String(Encoding.UTF8.GetBytes($"admin:{server.AdminPassword}"))
        );
        using HttpResponseMessage response = await server.Web.SendAsync(request, Cancelled);
        Assert.Equal("admin", (await JsonAnswer.ReadAsync(response))["user"].GetString());
        using HttpRequestMessage wrong = JsonCalls.Request("GET", "/v1/whoami", null);
        wrong.Headers.Authorization = new("Basic", Convert.ToBase64String("admin:wrong"u8));
        using HttpResponseMessage refused = await server.Web.SendAsync(wrong, Cancelled);
        (await JsonAnswer.ReadAsync(refused)).Refuses(401, "Unauthenticated", "password is wrong");
    }

    [Fact]
    public async Task A_list_of_texts_is_a_parameter_once_for_each()
    {
        await using TestServer server = await TestServer.StartAsync();
        foreach (string topic in new[] { "a", "b", "c" })
            await server.CreateTopicAsync(topic);
        JsonAnswer answer = await server.SendAsync("GET", "/v1/stats/topics?topics=c&topics=a");
        Assert.Equal(["a", "c"], answer["stats"].EnumerateArray().Select(s => s.GetProperty("topic").GetString()));
    }

    [Fact]
    public async Task What_is_no_JSON_request_is_refused_and_says_why()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders", TopicKind.Durable);
        (string Verb, string Path, string? Body, string What)[] wrong =
        [
            ("POST", "/v1/topics", "{", "The body"),
            ("POST", "/v1/topics", "[]", "The body"),
            ("POST", "/v1/topics", "null", ""),
            ("POST", "/v1/topics", "{\"name\": 5}", "name is 5"),
            ("POST", "/v1/topics", "{\"nmae\": \"x\"}", "nmae"),
            ("POST", "/v1/topics", "{\"name\": \"x\"} {}", "The body"),
            ("POST", "/v1/topics", new string('[', 5000), "The body"),
            (
                "POST",
                "/v1/topics/orders:publish",
                "{\"messages\": [{\"body\": \"%\"}]}",
                "messages[0].body is no base64"
            ),
            (
                "POST",
                "/v1/topics/orders:publish",
                "{\"messages\": [{\"timeToLive\": \"x\"}]}",
                "messages[0].timeToLive is 'x'"
            ),
            ("POST", "/v1/topics/orders:publish", "{\"topic\": \"others\"}", "the path has another value"),
            ("POST", "/v1/topics/orders:publish?partition=0", "{}", "no parameter"),
            ("GET", "/v1/topics?page_size=x", null, "pageSize is 'x'"),
            ("GET", "/v1/topics?page_size=1&page_size=2", null, "2 times"),
            ("GET", "/v1/topics?nmae=x", null, "allowed: pageSize"),
            ("GET", "/v1/topics", "{}", "takes no body"),
            ("GET", "/v1/topics/orders/stats?partition=", null, "partition is ''"),
        ];
        foreach ((string verb, string path, string? body, string what) in wrong)
            (await server.SendAsync(verb, path, body)).Refuses(400, "InvalidArgument", what);
        using var raw = new ByteArrayContent([.. "{\"name\": \""u8, 0xff, .. "\"}"u8]);
        raw.Headers.ContentType = new("application/json");
        using HttpResponseMessage response = await server.Web.PostAsync("/v1/topics", raw, Cancelled);
        (await JsonAnswer.ReadAsync(response)).Refuses(400, "InvalidArgument", "UTF-8");
    }

    [Fact]
    public async Task What_has_a_body_says_that_it_is_JSON()
    {
        await using TestServer server = await TestServer.StartAsync();
        foreach (JsonRoute route in JsonRoutes.All.Where(r => r.HasBody))
        {
            string path = Regex.Replace(route.Pattern, "{[a-z]+}", "nothing");
            foreach (string? type in OtherTypes)
            {
                (await server.SendAsync(route.Verb, path, "{}", type: type)).Refuses(
                    415,
                    "InvalidArgument",
                    "application/json"
                );
            }
        }
        Assert.Equal(
            200,
            (
                await server.SendAsync(
                    "POST",
                    "/v1/topics",
                    "{\"name\": \"x\"}",
                    type: "Application/JSON; charset=utf-8"
                )
            ).Status
        );
    }

    [Fact]
    public async Task Other_methods_and_paths_are_not_served()
    {
        await using TestServer server = await TestServer.StartAsync();
        foreach (
            (string verb, string path) in new[]
            {
                ("PATCH", "/v1/topics/x"),
                ("POST", "/v1/topics/x"),
                ("PUT", "/v1/topics/x/stats"),
                ("GET", "/v1/topics/x:publish"),
                ("POST", "/v1/topics/x:nothing"),
                ("GET", "/v1/nothing"),
                ("POST", "/v1/stats"),
                ("POST", "/lightq.control.v1.Topics/ListTopics"),
            }
        )
        {
            using HttpRequestMessage request = JsonCalls.Request(verb, path, null);
            using HttpResponseMessage response = await server.Web.SendAsync(request, Cancelled);
            bool isRefused =
                response.StatusCode
                is HttpStatusCode.NotFound
                    or HttpStatusCode.MethodNotAllowed
                    or HttpStatusCode.UnsupportedMediaType;
            Assert.True(isRefused, $"{verb} {path}: {response.StatusCode}");
        }
    }

    [Fact]
    public async Task A_body_may_be_as_long_as_a_message_over_gRPC()
    {
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                Http = new() { MaxMessageBytes = 64 * 1024 },
            }
        );
        await server.CreateTopicAsync("orders");
        string Body(int bytes) => $$"""{"messages": [{"body": "{{new string('A', bytes)}}"}]}""";
        Assert.Equal(200, (await server.SendAsync("POST", "/v1/topics/orders:publish", Body(60_000))).Status);
        (await server.SendAsync("POST", "/v1/topics/orders:publish", Body(70_000))).Refuses(
            413,
            "ResourceExhausted",
            "Http:MaxMessageBytes"
        );
        Assert.Equal(1, server.Server.Limits.Refusals["Http:MaxMessageBytes"]);
    }

    [Fact]
    public async Task Who_goes_away_while_a_fetch_waits_takes_nothing_along()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders", TopicKind.Durable);
        using var goneAway = new CancellationTokenSource();
        Task<JsonAnswer> waiting = server.SendAsync(
            "POST",
            "/v1/topics/orders:fetch",
            """{"group": "billing", "wait": "60s"}""",
            cancellationToken: goneAway.Token
        );
        bool Waits() =>
            server
                .Broker.GetTopic("orders")
                .Partitions[0]
                .Groups()
                .Any(g => g.Figures().Members.Any(m => m.Credit > 0));
        await Eventually.TrueAsync(Waits, Patience, () => "it does not wait");
        await goneAway.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => waiting);
        await Eventually.TrueAsync(() => !Waits(), Patience, () => "it still waits");
        await server.SendAsync("POST", "/v1/topics/orders:publish", """{"messages": [{"body": "aGVsbG8="}]}""");
        JsonAnswer fetched = await server.SendAsync(
            "POST",
            "/v1/topics/orders:fetch",
            """{"group": "billing", "wait": "60s"}"""
        );
        Assert.Equal(1, Assert.Single(fetched["messages"].EnumerateArray()).GetProperty("deliveryCount").GetInt32());
    }

    [Fact]
    public async Task A_stream_comes_as_lines_and_its_last_says_why_it_ended()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders");
        using HttpResponseMessage response = await server.Web.GetAsync(
            new Uri("/v1/topics/orders/stats:watch?interval=0.1s", UriKind.Relative),
            HttpCompletionOption.ResponseHeadersRead,
            Cancelled
        );
        Assert.Equal("application/x-ndjson", response.Content.Headers.ContentType?.MediaType);
        using var lines = new StreamReader(await response.Content.ReadAsStreamAsync(Cancelled));
        for (int i = 0; i < 2; i++)
            Assert.Contains("\"topic\": \"orders\"", await lines.ReadLineAsync(Cancelled), StringComparison.Ordinal);
        await server.Broker.DeleteTopicAsync("orders", TestContext.Current.CancellationToken);
        string? last = null;
        while (await lines.ReadLineAsync(Cancelled) is { } line)
            last = line;
        Assert.Contains("\"lightq-error-code\":\"TopicDeleted\"", last, StringComparison.Ordinal);
        (await server.SendAsync("GET", "/v1/topics/orders/stats:watch")).Refuses(404, "UnknownTopic", "orders");
    }

    [Fact]
    public async Task What_is_done_is_in_the_audit_with_who_did_it()
    {
        await using TestServer server = await TestServer.StartAsync();
        string manager = Caller.Create(server, "manager", (Right.Manage, "*")).Token!;
        Assert.Equal(200, (await server.SendAsync("POST", "/v1/topics", "{\"name\": \"orders\"}", manager)).Status);
        string folder = Path.Combine(server.Directory, LightQ.Server.Audit.AuditFiles.DirectoryName);
        string last = Directory.GetFiles(folder, "audit-*.jsonl").Order().Last();
        using var file = new FileStream(last, FileMode.Open, FileAccess.Read, FileShare.ReadWrite);
        string audit = await new StreamReader(file).ReadToEndAsync(Cancelled);
        Assert.Contains("user:manager", audit, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Pages_of_other_sites_are_allowed_by_name_only()
    {
        await using TestServer closed = await TestServer.StartAsync();
        await using TestServer open = await TestServer.StartAsync(o =>
            o with
            {
                Http = new() { AllowedOrigins = "https://app.example.com" },
            }
        );
        foreach (
            (TestServer server, string origin, bool isAllowed) in new[]
            {
                (closed, "https://app.example.com", false),
                (open, "https://app.example.com", true),
                (open, "https://evil.example.com", false),
            }
        )
        {
            using var preflight = new HttpRequestMessage(HttpMethod.Options, "/v1/topics");
            preflight.Headers.Add("Origin", origin);
            preflight.Headers.Add("Access-Control-Request-Method", "POST");
            preflight.Headers.Add("Access-Control-Request-Headers", "content-type");
            using HttpResponseMessage response = await server.Web.SendAsync(preflight, Cancelled);
            Assert.Equal(
                isAllowed,
                response.Headers.TryGetValues("Access-Control-Allow-Origin", out IEnumerable<string>? allowed)
                    && allowed.Single() == origin
            );
            using var simple = new HttpRequestMessage(HttpMethod.Get, "/v1/topics")
            {
                Headers = { { "Origin", origin } },
            };
            using HttpResponseMessage answer = await server.Web.SendAsync(simple, Cancelled);
            Assert.Equal(isAllowed, answer.Headers.Contains("Access-Control-Allow-Origin"));
        }
    }

    [Fact]
    public async Task A_message_may_be_text_behind_a_byte_order_mark_and_a_compressed_body_is_none_of_json()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders");
        byte[] body = [0xEF, 0xBB, 0xBF, .. Encoding.UTF8.GetBytes("""{"messages":[{"bodyText":"ä"}]}""")];
        Assert.Equal(HttpStatusCode.OK, await PublishAsync(null));
        Assert.Equal(HttpStatusCode.OK, await PublishAsync("identity"));
        Assert.Equal(HttpStatusCode.UnsupportedMediaType, await PublishAsync("gzip"));
        Assert.Equal(HttpStatusCode.UnsupportedMediaType, await PublishAsync("x-mine"));
        JsonAnswer stored = await server.SendAsync("POST", "/v1/topics/orders:browse", "{}");
        Assert.Equal(
            ["w6Q=", "w6Q="],
            stored["messages"].EnumerateArray().Select(m => m.GetProperty("body").GetString()!)
        );

        async Task<HttpStatusCode> PublishAsync(string? encoding)
        {
            using var content = new ByteArrayContent(body) { Headers = { ContentType = new("application/json") } };
            if (encoding is not null)
                content.Headers.ContentEncoding.Add(encoding);
            using HttpResponseMessage response = await server.Web.PostAsync(
                "/v1/topics/orders:publish",
                content,
                Cancelled
            );
            return response.StatusCode;
        }
    }

    [Fact]
    public async Task GRPC_Web_is_served_on_the_same_port()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders");
        using var content = new ByteArrayContent([0, 0, 0, 0, 0])
        {
            Headers = { ContentType = new("application/grpc-web+proto") },
        };
        using HttpResponseMessage response = await server.Web.PostAsync(
            "/lightq.control.v1.Topics/ListTopics",
            content,
            Cancelled
        );
        byte[] answer = await response.Content.ReadAsByteArrayAsync(Cancelled);
        Assert.Equal(HttpStatusCode.OK, response.StatusCode);
        Assert.Contains("orders", Encoding.ASCII.GetString(answer), StringComparison.Ordinal);
        Assert.Contains("grpc-status: 0", Encoding.ASCII.GetString(answer), StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_description_has_every_route_and_each_schema_that_it_refers_to()
    {
        await using TestServer server = await TestServer.StartAsync();
        JsonElement all = (await server.SendAsync("GET", "/openapi/v1.json")).Body;
        JsonElement schemas = all.GetProperty("components").GetProperty("schemas");
        foreach (JsonRoute route in JsonRoutes.All)
        {
            JsonElement operation = all.GetProperty("paths")
                .GetProperty(route.Pattern)
                .GetProperty(route.Verb.ToLowerInvariant());
            Assert.Equal(route.Method.Name, operation.GetProperty("operationId").GetString());
            Assert.Equal(
                route.PathFields.Select(f => f.Name),
                operation
                    .GetProperty("parameters")
                    .EnumerateArray()
                    .Where(p => p.GetProperty("in").GetString() == "path")
                    .Select(p => p.GetProperty("name").GetString()!)
            );
            Assert.Equal(route.HasBody, operation.TryGetProperty("requestBody", out _));
        }
        string[] references =
        [
            .. Regex
                .Matches(all.GetRawText(), "\"#/components/schemas/([A-Za-z]+)\"")
                .Select(m => m.Groups[1].Value)
                .Distinct(),
        ];
        Assert.True(references.Length > 50, $"{references.Length}");
        Assert.All(references, r => Assert.True(schemas.TryGetProperty(r, out _), r));
        Assert.Equal(
            "string",
            schemas
                .GetProperty("TopicStats")
                .GetProperty("properties")
                .GetProperty("messagesReceived")
                .GetProperty("type")
                .GetString()
        );
    }
}
