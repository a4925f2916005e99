using System.Text.Json;

namespace LightQ.ClusterTests.Nats;

/// <summary>What nats-servers say on their monitoring ports.</summary>
internal sealed class ServerMonitor : IDisposable
{
    private readonly HttpClient _http = new() { Timeout = TimeSpan.FromSeconds(2) };

    public async Task<string> ReadVersionAsync(string address)
    {
        using JsonDocument state = await ReadAsync($"{address}/varz");
        return state.RootElement.GetProperty("version").GetString()!;
    }

    /// <summary>What a server still lacks; empty when it is ready.</summary>
    public async Task<string> DescribeAsync(string address, int servers)
    {
        try
        {
            using HttpResponseMessage health = await _http.GetAsync(new Uri($"{address}/healthz"));
            string said = await health.Content.ReadAsStringAsync();
            // Where a server stood still, 2.9.10 may say for good that a consumer of a reader that is gone is not
            // current. That a stream is not counts: a server that is killed before may never have it again.
            if (!health.IsSuccessStatusCode && !said.Contains("JetStream consumer '", StringComparison.Ordinal))
                return said;
            using JsonDocument state = await ReadAsync($"{address}/jsz");
            return
                state.RootElement.TryGetProperty("meta_cluster", out JsonElement meta)
                && meta.TryGetProperty("leader", out JsonElement leader)
                && leader.GetString() is { Length: > 0 }
                && meta.GetProperty("cluster_size").GetInt32() == servers
                ? ""
                : "no leader";
        }
        catch (Exception e) when (e is HttpRequestException or OperationCanceledException)
        {
            return e.Message;
        }
    }

    /// <summary>What a server has of the streams that are on all servers; nothing while it does not answer.</summary>
    public async Task<List<ReplicaState>> ReadReplicasAsync(string server, string address, int servers)
    {
        try
        {
            using JsonDocument state = await ReadAsync($"{address}/jsz?accounts=true&streams=true&config=true");
            return
            [
                .. ArrayOf(state.RootElement, "account_details")
                    .SelectMany(account => ArrayOf(account, "stream_detail"))
                    .Where(stream => stream.GetProperty("config").GetProperty("num_replicas").GetInt32() == servers)
                    .Select(stream => Read(server, stream)),
            ];
        }
        catch (Exception e) when (e is HttpRequestException or OperationCanceledException)
        {
            return [];
        }
    }

    public void Dispose() => _http.Dispose();

    private static ReplicaState Read(string server, JsonElement stream)
    {
        JsonElement state = stream.GetProperty("state");
        return new ReplicaState(
            server,
            stream.GetProperty("name").GetString()!,
            state.GetProperty("first_seq").GetUInt64(),
            state.GetProperty("last_seq").GetUInt64(),
            state.GetProperty("messages").GetUInt64()
        );
    }

    private static JsonElement.ArrayEnumerator ArrayOf(JsonElement element, string name) =>
        element.TryGetProperty(name, out JsonElement all) ? all.EnumerateArray() : default;

    private async Task<JsonDocument> ReadAsync(string address) =>
        JsonDocument.Parse(await _http.GetStringAsync(new Uri(address)));
}
