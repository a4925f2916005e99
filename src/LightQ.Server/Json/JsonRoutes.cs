using Google.Protobuf.Reflection;
using LightQ.Protocol.Control;
using LightQ.Server.Security;

namespace LightQ.Server.Json;

/// <summary>Where the rpcs are over HTTP: the one place that says so.</summary>
internal static class JsonRoutes
{
    private const string Topic = "/v1/topics/{topic}",
        Group = "/v1/topics/{topic}/groups/{group}";

    /// <summary>
    /// What is not served over HTTP: what has a stream of requests, and a backup, whose answer is no JSON.
    /// </summary>
    public static IReadOnlyList<string> LeftOut { get; } =
    ["PublishStream", "Consume", "CreateBackup", "AppendLetters", "ReadLetters"];

    /// <summary>The routes.</summary>
    public static IReadOnlyList<JsonRoute> All { get; } =
    [
        Route("GET", "/v1/topics", "ListTopics"),
        Route("POST", "/v1/topics", "CreateTopic"),
        Route("GET", "/v1/topics/{name}", "GetTopic"),
        Route("PUT", "/v1/topics/{name}", "EnsureTopic"),
        Route("DELETE", "/v1/topics/{name}", "DeleteTopic"),
        Route("POST", "/v1/topics/{name}:truncate", "TruncateTopic"),
        Route("POST", "/v1/topics/{name}:replicate", "ReplicateTopic"),
        Route("POST", $"{Topic}:setCredentials", "SetTopicCredentials"),
        Route("POST", $"{Topic}:publish", "Publish"),
        Route("POST", $"{Topic}:fetch", "Fetch"),
        Route("POST", $"{Topic}:settle", "Settle"),
        Route("POST", $"{Topic}:browse", "Browse"),
        Route("POST", $"{Topic}:republish", "Republish"),
        Route("POST", $"{Topic}:listScheduled", "ListScheduled"),
        Route("POST", $"{Topic}:cancelScheduled", "CancelScheduled"),
        Route("GET", $"{Topic}/stats", "GetTopicStats"),
        Route("GET", $"{Topic}/stats:watch", "WatchTopicStats"),
        Route("GET", Group, "DescribeGroup"),
        Route("DELETE", Group, "DeleteGroup"),
        Route("GET", $"{Group}:explain", "ExplainGroup"),
        Route("POST", $"{Group}:reset", "ResetGroup"),
        Route("POST", $"{Group}:pause", "PauseGroup"),
        Route("POST", $"{Group}:resume", "ResumeGroup"),
        Route("POST", $"{Group}:redrive", "RedriveGroup"),
        Route("GET", $"{Group}/letters", "ListLetters"),
        Route("POST", $"{Group}/letters:redrive", "RedriveLetters"),
        Route("POST", $"{Group}/letters:delete", "DeleteLetters"),
        Route("POST", $"{Group}/letters:republish", "RepublishLetter"),
        Route("GET", "/v1/groups", "ListGroups"),
        Route("GET", "/v1/subscriptions", "ListSubscriptions"),
        Route("GET", "/v1/connections", "ListConnections"),
        Route("GET", "/v1/stats", "GetBrokerStats"),
        Route("POST", "/v1/stats:watch", "WatchBrokerStats"),
        Route("GET", "/v1/stats/topics", "ListTopicStats"),
        Route("POST", "/v1/login", "Login"),
        Route("POST", "/v1/logout", "Logout"),
        Route("GET", "/v1/whoami", "WhoAmI"),
        Route("GET", "/v1/users", "ListUsers"),
        Route("POST", "/v1/users", "CreateUser"),
        Route("DELETE", "/v1/users/{name}", "DeleteUser"),
        Route("POST", "/v1/users/{name}:setPassword", "SetPassword"),
        Route("GET", "/v1/grants", "ListGrants"),
        Route("POST", "/v1/grants", "Grant"),
        Route("POST", "/v1/grants:revoke", "Revoke"),
        Route("GET", "/v1/tokens", "ListTokens"),
        Route("POST", "/v1/tokens", "CreateToken"),
        Route("DELETE", "/v1/tokens/{id}", "RevokeToken"),
        Route("POST", "/v1/broker:stop", "Stop"),
        Route("POST", "/v1/broker:reload", "Reload"),
        Route("POST", "/v1/broker:confirmCatalog", "ConfirmCatalog"),
        Route("GET", "/v1/settings", "ListSettings"),
        Route("GET", "/v1/audit", "ListAuditEvents"),
        Route("POST", "/v1/cluster:metadata", "GetMetadata"),
        Route("POST", "/v1/cluster:watch", "WatchMetadata"),
        Route("POST", "/v1/cluster/nodes/{node}:drain", "DrainNode"),
        Route("POST", $"{Topic}:move", "MovePartition"),
        Route("POST", $"{Topic}:repair", "RepairTopic"),
        Route("POST", "/v1/cluster:repairCatalog", "RepairCatalog"),
        Route("POST", "/v1/cluster:removeStreams", "RemoveStreams"),
        Route("POST", "/v1/cluster:balance", "BalancePartitions"),
    ];

    private static JsonRoute Route(string verb, string pattern, string method) =>
        new(
            verb,
            pattern,
            RpcRules.All.Keys.Single(path => path.EndsWith($"/{method}", StringComparison.Ordinal)),
            Find
        );

    private static MethodDescriptor Find(string path)
    {
        FileDescriptor[] files =
        [
            TopicsReflection.Descriptor,
            StatsReflection.Descriptor,
            GroupsReflection.Descriptor,
            MessagesReflection.Descriptor,
            DeadLettersReflection.Descriptor,
            AuthReflection.Descriptor,
            OperationsReflection.Descriptor,
            ClusterReflection.Descriptor,
        ];
        return files.SelectMany(f => f.Services[0].Methods).Single(m => path == $"/{m.Service.FullName}/{m.Name}");
    }
}
