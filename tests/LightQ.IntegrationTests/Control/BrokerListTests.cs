using System.Text.Json;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.IntegrationTests.Cli;
using LightQ.IntegrationTests.Json;
using LightQ.Server.Configuration;
using Xunit;

namespace LightQ.IntegrationTests.Control;

/// <summary>What a running broker tells administrators of its settings and of its audit log.</summary>
public sealed class BrokerListTests : IDisposable
{
    private const string Secret = "sesame-Ohf7eiph";

    private readonly TemporaryDirectory _files = new();

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    private string ConfigurationFile => _files.File("lightq.json");

    public void Dispose() => _files.Dispose();

    [Fact]
    public async Task Settings_of_a_program_come_from_its_code()
    {
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                Broker = o.Broker with { MaxTopics = 77 },
            }
        );
        await using var client = new LightQClient(server.ConnectionString);
        BrokerSettings settings = await client.Operations.ListSettingsAsync(Cancelled);
        Assert.Equal("local", settings.Node);
        Assert.Equal(ServerSettings.All.Select(s => s.Key), settings.Settings.Select(s => s.Key));
        Assert.Equal(ServerSettings.All.Select(s => s.Description), settings.Settings.Select(s => s.Description));
        Assert.Equal(ServerSettings.All.Select(s => s.IsLive), settings.Settings.Select(s => s.IsLive));
        SettingInfo topics = settings.Settings.Single(s => s.Key == "Broker:MaxTopics");
        Assert.Equal(("77", SettingSource.Code, ""), (topics.Value, topics.Source, topics.SourceName));
        Assert.Equal(SettingSource.Default, settings.Settings.Single(s => s.Key == "Broker:MaxUsers").Source);
    }

    [Fact]
    public async Task Settings_of_a_process_come_from_where_they_were_set_also_after_a_reload()
    {
        Write(("Broker:MaxTopics", "50"), ("Broker:JournalWriters", "2"), ("DataPlane:MaxConnections", "60"));
        Dictionary<string, string> environment = new() { ["LIGHTQ__Broker__MaxUsers"] = "40" };
        await using TestServer server = await StartAsync(environment);
        await using var client = new LightQClient(server.ConnectionString);
        async Task<(string, SettingSource, string)> FindAsync(string key)
        {
            BrokerSettings settings = await client.Operations.ListSettingsAsync(Cancelled);
            SettingInfo setting = settings.Settings.Single(s => s.Key == key);
            return (setting.Value, setting.Source, setting.SourceName);
        }

        Assert.Equal(("50", SettingSource.File, ConfigurationFile), await FindAsync("Broker:MaxTopics"));
        Assert.Equal(("40", SettingSource.Environment, "LIGHTQ__Broker__MaxUsers"), await FindAsync("Broker:MaxUsers"));
        Assert.Equal(("0", SettingSource.CommandLine, "--data-port"), await FindAsync("DataPort"));
        Assert.Equal(("false", SettingSource.Default, ""), await FindAsync("RequireAuth"));

        Write(("Broker:MaxPartitions", "900"), ("Broker:JournalWriters", "3"), ("DataPlane:MaxConnections", "60"));
        Assert.Null((await client.Operations.ReloadAsync(Cancelled)).Refusal);
        string unset = new LightQ.Broker.BrokerOptions().MaxTopics.ToString(
            System.Globalization.CultureInfo.InvariantCulture
        );
        Assert.Equal((unset, SettingSource.Default, ""), await FindAsync("Broker:MaxTopics"));
        Assert.Equal(("900", SettingSource.File, ConfigurationFile), await FindAsync("Broker:MaxPartitions"));
        Assert.Equal(("2", SettingSource.File, ConfigurationFile), await FindAsync("Broker:JournalWriters"));
        Assert.Equal(("60", SettingSource.File, ConfigurationFile), await FindAsync("DataPlane:MaxConnections"));
    }

    [Fact]
    public async Task Secrets_are_told_to_be_there_and_no_more()
    {
        Write(("Otlp:Headers", $"authorization={Secret}"));
        await using TestServer server = await StartAsync(new() { ["LIGHTQ__Broker__MaxUsers"] = "40" });
        await using var client = new LightQClient(server.ConnectionString);
        BrokerSettings settings = await client.Operations.ListSettingsAsync(Cancelled);
        SettingInfo headers = settings.Settings.Single(s => s.Key == "Otlp:Headers");
        Assert.Equal(("(secret)", true), (headers.Value, headers.IsSecret));
        Assert.Single(settings.Settings, s => s.IsSecret);
        string json = (await server.SendAsync("GET", "/v1/settings")).Body.GetRawText();
        string[] shown =
        [
            json,
            string.Join('\n', settings.Settings),
            (await LightQTool.RunAsync(server.ConnectionString, "server", "settings")).Succeeded().Text,
            (await LightQTool.RunAsync(server.ConnectionString, "server", "settings", "--output", "json"))
                .Succeeded()
                .Text,
        ];
        Assert.All(shown, s => Assert.Contains("Otlp:Headers", s, StringComparison.Ordinal));
        Assert.All(shown, s => Assert.Contains("LIGHTQ__Broker__MaxUsers", s, StringComparison.Ordinal));
        Assert.All(shown, s => Assert.DoesNotContain(Secret, s, StringComparison.Ordinal));
    }

    [Fact]
    public async Task The_audit_log_is_listed_a_page_at_a_time()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        for (int i = 0; i < 5; i++)
            await client.Topics.CreateAsync(new TopicSpec($"topic-{i}"), Cancelled);

        var subjects = new List<string>();
        string? token = null;
        do
        {
            AuditEventPage page = await client.Operations.ListAuditEventsAsync(
                new AuditEventQuery
                {
                    Event = "topic-created",
                    PageSize = 2,
                    PageToken = token,
                },
                Cancelled
            );
            Assert.Equal("local", page.Node);
            Assert.Empty(page.Damages);
            Assert.All(page.Events, e => Assert.Equal(("anonymous", "control", 64), (e.Actor, e.Plane, e.Hash.Length)));
            Assert.True(page.Events.Count <= 2);
            subjects.AddRange(page.Events.Select(e => e.Subject));
            token = page.NextPageToken;
        } while (token is not null);
        Assert.Equal(["topic-4", "topic-3", "topic-2", "topic-1", "topic-0"], subjects);

        AuditEventPage all = await client.Operations.ListAuditEventsAsync(new AuditEventQuery { After = 0 }, Cancelled);
        Assert.Equal(["chain-started", "broker-started"], all.Events.Take(2).Select(e => e.Event));
        Assert.Equal(Enumerable.Range(1, all.Events.Count).Select(n => (long)n), all.Events.Select(e => e.Sequence));
        JsonElement json = (await server.SendAsync("GET", "/v1/audit?after=1&page_size=1")).Body;
        Assert.Equal("2", json.GetProperty("events")[0].GetProperty("seq").GetString());
    }

    [Fact]
    public async Task What_is_not_as_it_was_written_is_told_beside_the_events()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(new TopicSpec("orders"), Cancelled);
        await client.Topics.CreateAsync(new TopicSpec("invoices"), Cancelled);
        string file = Directory.GetFiles(Path.Combine(server.Directory, "audit"), "*.jsonl").Single();
        string text = await File.ReadAllTextAsync(file, Cancelled);
        await using (FileStream open = new(file, FileMode.Open, FileAccess.Write, FileShare.ReadWrite))
        {
            open.Position = text.IndexOf("orders", StringComparison.Ordinal);
            open.WriteByte((byte)'O');
        }
        AuditEventPage page = await client.Operations.ListAuditEventsAsync(cancellationToken: Cancelled);
        AuditDamageInfo damage = Assert.Single(page.Damages);
        Assert.Equal((AuditFault.Altered, Path.GetFileName(file)), (damage.Fault, damage.File));
        Assert.Contains(page.Events, e => e.Subject == "invoices");
        Assert.DoesNotContain(page.Events, e => e.Subject is "orders" or "Orders");

        ToolResult tool = await LightQTool.RunAsync(server.ConnectionString, "audit", "list", "--event", "topic");
        Assert.Equal(1, tool.ExitCode);
        Assert.StartsWith("lightq: altered: audit-", tool.Errors, StringComparison.Ordinal);
        Assert.Contains("invoices", tool.Text, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_request_for_the_audit_log_that_is_not_allowed_says_what_is()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(new TopicSpec("orders"), Cancelled);
        AuditEventPage page = await client.Operations.ListAuditEventsAsync(
            new AuditEventQuery { PageSize = 1 },
            Cancelled
        );
        Assert.NotNull(page.NextPageToken);
        (AuditEventQuery Query, string Says)[] wrong =
        [
            (new() { Event = "topic-painted" }, "event is 'topic-painted'"),
            (new() { PageToken = "n-1" }, "page_token"),
            (new() { PageToken = page.NextPageToken, After = 0 }, "page_token"),
            (new() { After = long.MaxValue }, "after is"),
        ];
        foreach ((AuditEventQuery query, string says) in wrong)
        {
            LightQException refused = await Assert.ThrowsAsync<LightQException>(() =>
                client.Operations.ListAuditEventsAsync(query, Cancelled)
            );
            Assert.Equal(ErrorCode.InvalidArgument, refused.Code);
            Assert.Contains(says, refused.Message, StringComparison.Ordinal);
            Assert.Contains("allowed: ", refused.Message, StringComparison.Ordinal);
        }
        Assert.Throws<ArgumentOutOfRangeException>(() => new AuditEventQuery { PageSize = 1001 });
        Assert.Throws<ArgumentOutOfRangeException>(() => new AuditEventQuery { After = -1 });
        JsonAnswer json = await server.SendAsync("GET", "/v1/audit?since=yesterday");
        Assert.Equal(400, json.Status);
    }

    [Fact]
    public async Task A_broker_without_an_audit_log_says_so()
    {
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                Audit = o.Audit with { IsEnabled = false },
            }
        );
        await using var client = new LightQClient(server.ConnectionString);
        LightQException refused = await Assert.ThrowsAsync<LightQException>(() =>
            client.Operations.ListAuditEventsAsync(cancellationToken: Cancelled)
        );
        Assert.Equal(ErrorCode.NotSupported, refused.Code);
        Assert.Contains("Audit:IsEnabled", refused.Message, StringComparison.Ordinal);
    }

    private async Task<TestServer> StartAsync(Dictionary<string, string> environment)
    {
        ServerConfiguration Load() =>
            ServerConfiguration.Load(
                new Dictionary<string, string>
                {
                    ["--data"] = _files.File("data"),
                    ["--data-port"] = "0",
                    ["--control-port"] = "0",
                    ["--web-port"] = "0",
                },
                ConfigurationFile,
                environment
            );
        TestServer server = await TestServer.StartAsync(Load().Options);
        server.Server.ConfigurationSource = Load;
        return server;
    }

    private void Write(params (string Key, string Value)[] settings) =>
        File.WriteAllText(ConfigurationFile, JsonSerializer.Serialize(settings.ToDictionary(s => s.Key, s => s.Value)));
}
