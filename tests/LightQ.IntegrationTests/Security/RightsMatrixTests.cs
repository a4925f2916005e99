using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.IntegrationTests.Control;
using LightQ.IntegrationTests.Faults;
using LightQ.Protocol;
using LightQ.Protocol.Control;
using LightQ.Tests.Shared;
using Xunit;
using Right = LightQ.Broker.Users.Right;
using TopicKind = LightQ.Broker.Topics.TopicKind;
using TopicSettings = LightQ.Broker.Topics.TopicSettings;

namespace LightQ.IntegrationTests.Security;

/// <summary>
/// S2: who may do what, as a cross product of callers, topics, operations and planes, against a model that knows
/// nothing of the broker's code.
/// </summary>
[Collection(FaultCollection.Name)]
[Trait("Fault", "S2")]
[Trait("Tier", "C")]
public sealed class RightsMatrixTests
{
    private const string Closed = "closed",
        OwnUser = "own",
        OwnPassword = "T0p$3cr31";

    private static readonly string[] Existing = ["orders", "orders.eu", "Orders", "invoices", Closed];
    private static readonly string[] Missing = ["missing", "orders.missing", "../x"];
    private static readonly string[] Patterns =
    [
        "orders",
        "orders.*",
        "orders*",
        "Orders",
        "invoices",
        Closed,
        "closed*",
        "missing",
        "m*",
        "*",
    ];

    [Fact]
    [Trait("Plain", "no")]
    public async Task Every_caller_is_answered_as_the_rights_say_on_every_plane()
    {
        var run = new FaultRun("S2.rights", "callers x topics x operations on both planes, against a model");
        FaultRun.RequireTier("It makes thousands of calls.");
        await using TestServer server = await StartAsync();
        var wrong = new List<string>();
        foreach (Caller caller in await CallersAsync(server, run))
        {
            await using CallerSession session = await CallerSession.OpenAsync(server, caller);
            run.Count("callers");
            foreach (Operation operation in Operations.All)
                await TryAsync(session, operation, [.. Existing, .. Missing], run, wrong);
            foreach (Operation operation in Operations.OfAdministrators)
                await TryAsync(session, operation, ["orders"], run, wrong);
            await CompareListsAsync(session, run, wrong);
        }
        run.Figure("violations", wrong.Count);
        run.Report();
        Assert.True(
            wrong.Count == 0,
            $"LIGHTQ_SEED={run.Seed}: {wrong.Count} wrong, among them {string.Join("\n", wrong.Take(20))}"
        );
        Assert.True(run["allowed"] > 100 && run["denied"] > 100);
    }

    private static async Task<TestServer> StartAsync()
    {
        TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                RequireAuth = true,
                Http = new() { MaxCallsPerSecond = 0 },
            }
        );
        foreach (string topic in Existing)
        {
            await Task.Run(() =>
                server.Broker.CreateTopic(
                    topic,
                    new TopicSettings { Kind = TopicKind.Durable },
                    topic == Closed ? TopicCredentials.Create(OwnUser, OwnPassword) : null
                )
            );
        }

        return server;
    }

    private static async Task<List<Caller>> CallersAsync(TestServer server, FaultRun run)
    {
        List<Caller> callers =
        [
            new("nobody", null),
            new("admin", (await LoginAsync(server, "admin", server.AdminPassword)).Token, (Right.Admin, "*")),
            new(
                "own user of a topic",
                (await LoginAsync(server, $"{Closed}/{OwnUser}", OwnPassword)).Token,
                (Right.Publish, Closed),
                (Right.Consume, Closed)
            ),
            new("gone", Gone(server)),
            Caller.Create(server, "without"),
            Caller.Create(server, "administrator", (Right.Admin, "*")),
        ];
        int number = 0;
        foreach (Right right in new[] { Right.Publish, Right.Consume, Right.Manage })
        {
            foreach (string pattern in new[] { "orders", "orders.*", "*" })
                callers.Add(Caller.Create(server, $"user-{++number}", (right, pattern)));
        }
        for (int cycle = FaultRun.Times(c: 12, n: 200); cycle > 0; cycle--)
        {
            Random random = run.RandomFor(cycle);
            var rights = new HashSet<(Right, string)>();
            for (int i = random.Next(1, 5); i > 0; i--)
                rights.Add(((Right)random.Next(1, 4), Patterns[random.Next(Patterns.Length)]));
            callers.Add(Caller.Create(server, $"user-{++number}", [.. rights]));
        }
        return callers;
    }

    private static string Gone(TestServer server)
    {
        Caller gone = Caller.Create(server, "gone", (Right.Admin, "*"));
        server.Broker.Users.Delete(gone.Name);
        return gone.Token!;
    }

    private static async Task TryAsync(
        CallerSession session,
        Operation operation,
        string[] topics,
        FaultRun run,
        List<string> wrong
    )
    {
        Caller caller = session.Caller;
        bool isKnown = caller.Rights.Count != 0 || caller.Name == "without";
        var refusals = new HashSet<string>();
        foreach (string topic in topics)
        {
            bool exists = Existing.Contains(topic),
                isAllowed = isKnown && caller.May(operation.Right, topic);
            ErrorCode? expected =
                !isKnown ? ErrorCode.Unauthenticated
                : !isAllowed ? ErrorCode.PermissionDenied
                : exists ? operation.OnTopic
                : operation.OnNothing;
            if (expected is null)
                continue;
            (ErrorCode code, string message) = await operation.TryAsync(session, topic);
            run.Count("tries");
            run.Count(isAllowed ? "allowed" : "denied");
            if (code != expected)
                wrong.Add($"{caller}: {operation} on {TopicName.Printable(topic)}: {code} ({message}), not {expected}");
            if (!isAllowed)
                refusals.Add(message.Replace($"'{TopicName.Printable(topic)}'", "?", StringComparison.Ordinal));
        }
        // A refusal must say nothing that depends on whether there is such a topic.
        if (refusals.Count > 1)
            wrong.Add($"{caller}: {operation} is refused in {refusals.Count} ways: {string.Join(" | ", refusals)}");
    }

    /// <summary>Lists hold the topics that the caller has a right on, and no others.</summary>
    private static async Task CompareListsAsync(CallerSession session, FaultRun run, List<string> wrong)
    {
        Caller caller = session.Caller;
        if (session.Greeting.Code != ErrorCode.None)
            return;
        string[] expected = [.. Existing.Where(t => caller.May(null, t)).Order(StringComparer.Ordinal)];
        string[] topics =
        [
            .. (await session.AskAsync<ListTopicsRequest, ListTopicsResponse>("ListTopics", new())).Topics.Select(t =>
                t.Name
            ),
        ];
        string[] groups =
        [
            .. (await session.AskAsync<ListGroupsRequest, ListGroupsResponse>("ListGroups", new()))
                .Groups.Select(g => g.Topic)
                .Distinct(),
        ];
        string[] stats =
        [
            .. (
                await session.AskAsync<ListTopicStatsRequest, ListTopicStatsResponse>("ListTopicStats", new())
            ).Stats.Select(s => s.Topic),
        ];
        string[] led =
        [
            .. (await session.AskAsync<GetMetadataRequest, ClusterMetadata>("GetMetadata", new()))
                .Partitions.Select(p => p.Topic)
                .Distinct(),
        ];
        uint count = (
            await session.AskAsync<GetBrokerStatsRequest, GetBrokerStatsResponse>("GetBrokerStats", new())
        ).TopicsCount;
        using var request = new HttpRequestMessage(HttpMethod.Get, "/metrics")
        {
            Headers = { { "Authorization", "Bearer " + caller.Token } },
        };
        using HttpResponseMessage page = await session.Server.Web.SendAsync(
            request,
            TestContext.Current.CancellationToken
        );
        string metrics = await page.Content.ReadAsStringAsync(TestContext.Current.CancellationToken);
        string[] shown =
        [
            .. Existing
                .Where(t => metrics.Contains($"topic=\"{t}\"", StringComparison.Ordinal))
                .Order(StringComparer.Ordinal),
        ];
        run.Count("lists", 6);
        if (!led.SequenceEqual(expected))
            wrong.Add($"{caller}: GetMetadata has {string.Join(", ", led)}, not {string.Join(", ", expected)}");
        if (!topics.SequenceEqual(expected))
            wrong.Add($"{caller}: ListTopics has {string.Join(", ", topics)}, not {string.Join(", ", expected)}");
        if (!stats.SequenceEqual(expected))
            wrong.Add($"{caller}: ListTopicStats has {string.Join(", ", stats)}, not {string.Join(", ", expected)}");
        if (groups.Except(expected).Any())
        {
            wrong.Add(
                $"{caller}: ListGroups has {string.Join(", ", groups)}, with rights on {string.Join(", ", expected)}"
            );
        }

        if (count != expected.Length)
            wrong.Add($"{caller}: GetBrokerStats counts {count} topics, not {expected.Length}");
        if (!shown.SequenceEqual(expected))
            wrong.Add($"{caller}: /metrics has {string.Join(", ", shown)}, not {string.Join(", ", expected)}");
    }

    private static Task<LoginResponse> LoginAsync(TestServer server, string user, string password) =>
        server.Control.CallAsync<LoginRequest, LoginResponse>("Login", new() { User = user, Password = password });
}
