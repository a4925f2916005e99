using System.Text.Json;

namespace LightQ.Replication.Nats;

/// <summary>What a server says of itself on its monitoring port.</summary>
public sealed record MonitoredServer
{
    /// <summary>The port that was asked.</summary>
    public required Uri Address { get; init; }

    /// <summary>Why nothing is known of the server; null when it answered.</summary>
    public string? Failure { get; init; }

    /// <summary>What tells it apart from every other server.</summary>
    public string Id { get; init; } = "";

    /// <summary>Its name in the settings.</summary>
    public string Name { get; init; } = "";

    /// <summary>Its version, such as <c>2.12.3</c>.</summary>
    public string Version { get; init; } = "";

    /// <summary>The largest message that it takes, in bytes.</summary>
    public long MaxPayload { get; init; }

    /// <summary>Whether it stores anything.</summary>
    public bool HasJetStream { get; init; }

    /// <summary>What it stores on file at most, in bytes; 0 for no limit, or an unknown one.</summary>
    public long MaxStorage { get; init; }

    /// <summary>What it stores on file, in bytes.</summary>
    public long Storage { get; init; }

    /// <summary>What it stores in memory at most, in bytes; 0 for no limit, or an unknown one.</summary>
    public long MaxMemory { get; init; }

    /// <summary>What it stores in memory, in bytes.</summary>
    public long Memory { get; init; }

    /// <summary>Whether it syncs a file before it acknowledges what it has written there.</summary>
    public bool SyncsAlways { get; init; }

    /// <summary>How often it syncs otherwise; null where the version does not say.</summary>
    public TimeSpan? SyncInterval { get; init; }

    /// <summary>How many servers with JetStream are in its cluster; 1 for one that is alone.</summary>
    public int ClusterSize { get; init; } = 1;

    /// <summary>Whether it knows a leader of all of them.</summary>
    public bool HasLeader { get; init; }

    /// <summary>What to call it.</summary>
    public string Title => Name.Length == 0 ? Address.Authority : $"{Name} ({Address.Authority})";

    /// <summary>Reads the answer to <c>/varz</c>.</summary>
    internal static MonitoredServer Read(Uri address, JsonElement varz)
    {
        if (Text(varz, "server_id") is not { Length: > 0 } id || Text(varz, "version") is not { Length: > 0 } version)
            return new() { Address = address, Failure = "it is no nats-server's monitoring port" };
        JsonElement jetStream = Member(varz, "jetstream"),
            config = Member(jetStream, "config"),
            stats = Member(jetStream, "stats");
        return new()
        {
            Address = address,
            Id = id,
            Name = Text(varz, "server_name") ?? "",
            Version = version,
            MaxPayload = Number(varz, "max_payload"),
            HasJetStream = config.ValueKind == JsonValueKind.Object,
            MaxStorage = Number(config, "max_storage"),
            Storage = Number(stats, "storage"),
            MaxMemory = Number(config, "max_memory"),
            Memory = Number(stats, "memory"),
            SyncsAlways = Member(config, "sync_always").ValueKind == JsonValueKind.True,
            // In nanoseconds, as Go counts.
            SyncInterval = Number(config, "sync_interval") is var interval and > 0
                ? TimeSpan.FromTicks(interval / TimeSpan.NanosecondsPerTick)
                : null,
            HasLeader = Text(Member(jetStream, "meta"), "leader") is { Length: > 0 },
            ClusterSize = (int)Math.Clamp(Number(Member(jetStream, "meta"), "cluster_size"), 1, int.MaxValue),
        };
    }

    private static JsonElement Member(JsonElement json, string name) =>
        json.ValueKind == JsonValueKind.Object && json.TryGetProperty(name, out JsonElement member) ? member : default;

    private static string? Text(JsonElement json, string name) =>
        Member(json, name) is { ValueKind: JsonValueKind.String } text ? text.GetString() : null;

    private static long Number(JsonElement json, string name) =>
        Member(json, name) is { ValueKind: JsonValueKind.Number } number && number.TryGetInt64(out long value)
            ? value
            : 0;
}
