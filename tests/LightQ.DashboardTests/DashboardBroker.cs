using System.Net.Http.Headers;
using System.Net.Http.Json;
using System.Text;
using System.Text.Json.Nodes;
using LightQ.IntegrationTests.Cli;
using LightQ.Server;
using Xunit;

namespace LightQ.DashboardTests;

/// <summary>A broker on free ports, and the JSON API to fill it.</summary>
public sealed class DashboardBroker : IAsyncDisposable
{
    private readonly DirectoryInfo _directory;
    private readonly IAsyncDisposable _server;
    private readonly int _webPort,
        _controlPort;

    private DashboardBroker(DirectoryInfo directory, IAsyncDisposable server, int webPort, int controlPort)
    {
        (_directory, _server, _webPort, _controlPort) = (directory, server, webPort, controlPort);
        Web = new HttpClient { BaseAddress = new Uri(Address) };
        Web.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue(
            "Basic",
            Convert.ToBase64String(Encoding.UTF8.GetBytes($"admin:{AdminPassword}"))
        );
    }

    public string Address => $"http://127.0.0.1:{_webPort}/";

    /// <summary>The control port.</summary>
    public Uri Control => new($"http://127.0.0.1:{_controlPort}");

    public string AdminPassword => File.ReadAllText(Path.Combine(_directory.FullName, "admin-password")).Trim();

    /// <summary>A client that is admin.</summary>
    public HttpClient Web { get; }

    /// <summary>The process, where it is one of its own.</summary>
    internal ToolServer? Tool => _server as ToolServer;

    /// <summary>Starts it in this process, or, where <c>LIGHTQ_TOOL</c> names a program, with that.</summary>
    public static async Task<DashboardBroker> StartAsync(
        Func<LightQServerOptions, LightQServerOptions>? configure = null
    )
    {
        DirectoryInfo directory = Directory.CreateTempSubdirectory("lightq-dashboard-");
        LightQServerOptions options = LightQServerOptions.InProcess with { DataDirectory = directory.FullName };
        options = configure?.Invoke(options) ?? options;
        if (LightQTool.IsNative)
            return await StartToolAsync(directory, options);
        LightQServer server = await LightQServer.StartAsync(
            options,
            cancellationToken: TestContext.Current.CancellationToken
        );
        return new DashboardBroker(directory, server, server.WebPort, server.ControlPort);
    }

    /// <summary>Starts it in a process of its own.</summary>
    public static Task<DashboardBroker> StartToolAsync() =>
        StartToolAsync(Directory.CreateTempSubdirectory("lightq-dashboard-"), LightQServerOptions.InProcess);

    public async Task<bool> HasDashboardAsync()
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, "/favicon.svg");
        using HttpResponseMessage response = await Web.SendAsync(request, TestContext.Current.CancellationToken);
        return response.IsSuccessStatusCode;
    }

    /// <summary>Calls the JSON API as admin.</summary>
    public async Task<JsonNode> PostAsync(string path, JsonObject body)
    {
        using HttpResponseMessage response = await Web.PostAsync(
            path,
            JsonContent.Create(body),
            TestContext.Current.CancellationToken
        );
        string text = await response.Content.ReadAsStringAsync(TestContext.Current.CancellationToken);
        Assert.True(response.IsSuccessStatusCode, $"{path}: {text}");
        return JsonNode.Parse(text)!;
    }

    public Task CreateTopicAsync(string topic) =>
        PostAsync(
            "/v1/topics",
            new JsonObject
            {
                ["name"] = topic,
                ["settings"] = new JsonObject { ["kind"] = "TOPIC_KIND_DURABLE" },
            }
        );

    public Task PublishAsync(string topic, params string[] bodies) =>
        PostAsync(
            $"/v1/topics/{topic}:publish",
            new JsonObject
            {
                ["messages"] = new JsonArray([.. bodies.Select(body => new JsonObject { ["body"] = Base64(body) })]),
            }
        );

    /// <summary>A member of a group takes messages and settles them.</summary>
    /// <param name="topic">The topic.</param>
    /// <param name="group">The group.</param>
    /// <param name="settlement">What becomes of them; null to hold them.</param>
    /// <param name="reason">Why they are dead-lettered.</param>
    /// <returns>Their bodies.</returns>
    public async Task<string[]> FetchAsync(string topic, string group, string? settlement, string reason = "")
    {
        JsonNode fetched = await PostAsync(
            $"/v1/topics/{topic}:fetch",
            new JsonObject
            {
                ["group"] = group,
                ["wait"] = "5s",
                ["max_messages"] = 100,
            }
        );
        JsonArray messages = fetched["messages"]?.AsArray() ?? [];
        if (settlement is not null && messages.Count != 0)
        {
            JsonObject Settle(JsonNode? m) =>
                new()
                {
                    ["token"] = (string)m!["settleToken"]!,
                    ["kind"] = settlement,
                    ["reason"] = reason,
                };
            await PostAsync(
                $"/v1/topics/{topic}:settle",
                new JsonObject { ["settlements"] = new JsonArray([.. messages.Select(Settle)]) }
            );
        }
        return [.. messages.Select(m => Encoding.UTF8.GetString(Convert.FromBase64String((string?)m!["body"] ?? "")))];
    }

    /// <summary>Has the broker send its figures, and those of topics, until it is told to stop.</summary>
    public async Task WatchAsync(string[] topics, CancellationToken ended)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, "/v1/stats:watch")
        {
            Content = JsonContent.Create(
                new JsonObject { ["topics"] = new JsonArray([.. topics.Select(t => JsonValue.Create(t))]) }
            ),
        };
        try
        {
            using HttpResponseMessage response = await Web.SendAsync(
                request,
                HttpCompletionOption.ResponseHeadersRead,
                ended
            );
            Assert.True(response.IsSuccessStatusCode, response.StatusCode.ToString());
            await response.Content.CopyToAsync(Stream.Null, ended);
            Assert.Fail("The broker has ended the stream.");
        }
        catch (OperationCanceledException) when (ended.IsCancellationRequested)
        {
            // That is how it ends.
        }
    }

    public static string Base64(string text) => Convert.ToBase64String(Encoding.UTF8.GetBytes(text));

    public async ValueTask DisposeAsync()
    {
        Web.Dispose();
        await _server.DisposeAsync();
        _directory.Delete(recursive: true);
    }

    /// <summary>Starts a broker alone in a process of its own, whose log is not kept.</summary>
    internal static async Task<ToolServer> StartToolAsync(string directory, bool hasDashboard, params string[] more)
    {
        ToolServer tool = await ToolServer.StartWithAsync(
            [("LIGHTQ__Dashboard__IsEnabled", hasDashboard ? "true" : "false"), ("DOTNET_TieredPGO", "1")],
            directory,
            more
        );
        _ = tool.Process.StandardError.ReadToEndAsync(CancellationToken.None);
        return tool;
    }

    private static async Task<DashboardBroker> StartToolAsync(DirectoryInfo directory, LightQServerOptions options)
    {
        string[] more = options.RequireAuth ? ["--require-auth"] : [];
        ToolServer tool = await StartToolAsync(directory.FullName, options.Dashboard.IsEnabled, more);
        return new DashboardBroker(directory, tool, tool.WebPort, tool.ControlPort);
    }
}
