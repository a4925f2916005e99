using System.Globalization;
using LightQ.Broker.Replication;
using NATS.Client.JetStream.Models;

namespace LightQ.Replication.Nats;

/// <summary>Makes problems of what servers, streams and the account say of themselves.</summary>
internal static class EngineInspection
{
    /// <summary>From this share of a limit on it is said that it is near.</summary>
    private const double Near = 0.9;

    /// <summary>What is wrong.</summary>
    /// <param name="servers">What the monitoring ports say; none without such ports.</param>
    /// <param name="streams">What the leaders of streams say.</param>
    /// <param name="account">What the account uses; null where it does not say.</param>
    public static List<EngineProblem> Find(
        IReadOnlyList<MonitoredServer> servers,
        IReadOnlyList<StreamInfo> streams,
        AccountInfoResponse? account
    )
    {
        List<EngineProblem> found = [];
        HashSet<string> off = [];
        int storing = servers.Where(static s => s.HasJetStream).DistinctBy(static s => s.Id).Count(),
            size = servers.Select(static s => s.ClusterSize).DefaultIfEmpty(0).Max();
        foreach (MonitoredServer server in servers)
        {
            if (server.Failure is { } failure)
                found.Add(Unreachable(server.Address.Authority, failure));
            // Servers that are to store nothing may be among those that are named.
            else if (!server.HasJetStream && (storing < size || streams.Any(s => HasReplica(s, server.Name))))
                off.Add(server.Name);
            else
                found.AddRange(LimitsOf(server));
        }
        found.AddRange(off.Select(Off));
        found.AddRange(ReplicasOf(streams, off));
        if (account is { Limits: { } limits })
        {
            found.AddRange(
                LimitOf("account", "the account of the brokers", (long)account.Storage, limits.MaxStorage, "file")
            );
        }
        int leaderless = streams.Count(static s => s.Cluster is { } cluster && string.IsNullOrEmpty(cluster.Leader));
        if (leaderless != 0)
            found.Add(Leaderless(leaderless));
        return found;
    }

    /// <summary>How much servers and account hold of what they may.</summary>
    public static string Figures(IReadOnlyList<MonitoredServer> servers, AccountInfoResponse? account)
    {
        List<string> figures = [];
        if (account is not null)
            figures.Add(Figure("the account", (long)account.Storage, account.Limits?.MaxStorage ?? 0));
        figures.AddRange(
            servers
                .Where(static s => s.HasJetStream && s.MaxStorage > 0)
                .Select(static s => Figure(s.Name, s.Storage, s.MaxStorage))
        );
        return string.Join(", ", figures);
    }

    private static string Figure(string holder, long used, long limit) =>
        string.Create(
            CultureInfo.InvariantCulture,
            $"{holder} holds {used:N0} bytes on file{(limit > 0 ? $" of {limit:N0}" : "")}"
        );

    private static bool HasReplica(StreamInfo stream, string server) =>
        stream.Cluster is { } cluster
        && (cluster.Leader == server || cluster.Replicas?.Any(peer => peer.Name == server) == true);

    private static EngineProblem Unreachable(string address, string failure) =>
        new(
            EngineProblemKind.NodeOffline,
            address,
            $"the nats-server whose monitoring port is {address} does not answer there: {failure.TrimEnd('.')}",
            "Start it, or mend the network. With another one gone, topics with replicas take no messages."
        );

    private static EngineProblem Off(string server) =>
        new(
            EngineProblemKind.NodeOff,
            server,
            $"the nats-server {server} runs with JetStream switched off, and stores nothing: its disk may be full",
            $"See the log of {server}, make room on its disk, and restart that nats-server: it does not switch "
                + "JetStream on again by itself. With another one gone, topics with replicas take no messages."
        );

    private static EngineProblem Leaderless(int streams) =>
        new(
            EngineProblemKind.NoLeader,
            "",
            string.Create(CultureInfo.InvariantCulture, $"{streams} streams have no leader among the nats-servers"),
            "They have no majority of their servers: start those that are down."
        );

    private static IEnumerable<EngineProblem> LimitsOf(MonitoredServer server) =>
        LimitOf($"{server.Name} file", $"the nats-server {server.Name}", server.Storage, server.MaxStorage, "file")
            .Concat(
                LimitOf(
                    $"{server.Name} mem",
                    $"the nats-server {server.Name}",
                    server.Memory,
                    server.MaxMemory,
                    "memory"
                )
            );

    private static IEnumerable<EngineProblem> LimitOf(string subject, string holder, long used, long limit, string kind)
    {
        if (limit <= 0 || used < Near * limit)
            yield break;
        string setting =
            subject == "account" ? "the account's limit"
            : kind == "file" ? "max_file"
            : "max_mem";
        bool isReached = used >= limit;
        // Rounded down: what changes with every message is said once.
        long percent = 100 * used / limit;
        yield return new EngineProblem(
            isReached ? EngineProblemKind.LimitReached : EngineProblemKind.LimitNear,
            subject,
            string.Create(
                CultureInfo.InvariantCulture,
                $"{holder} holds {percent} % of the {limit:N0} bytes that it may have in {kind}"
            ),
            $"Raise {setting}, or make "
                + "room: delete topics, or let retention remove more. At the limit topics with replicas take no "
                + "messages; they can be read."
        );
    }

    /// <summary>What the leaders of streams say of the other servers, one problem for each of these.</summary>
    private static IEnumerable<EngineProblem> ReplicasOf(IReadOnlyList<StreamInfo> streams, HashSet<string> off)
    {
        foreach (
            IGrouping<string, PeerInfo> server in streams
                .SelectMany(static s => s.Cluster?.Replicas ?? [])
                .GroupBy(static peer => peer.Name ?? "")
                .Where(server => !off.Contains(server.Key))
        )
        {
            int all = server.Count(),
                offline = server.Count(static peer => peer.Offline),
                behind = server.Count(static peer => !peer.Offline && (!peer.Current || peer.Lag > 0));
            string of = string.Create(CultureInfo.InvariantCulture, $"of {all} streams that were looked at");
            if (offline != 0)
            {
                yield return new EngineProblem(
                    EngineProblemKind.NodeOffline,
                    server.Key,
                    string.Create(
                        CultureInfo.InvariantCulture,
                        $"the nats-server {server.Key} is offline to the others, or has switched JetStream off: it "
                            + $"stores {offline} {of} no more"
                    ),
                    $"Start {server.Key}. If it runs, its log says why JetStream is off, such as a full disk: make "
                        + "room and restart it, since it does not switch JetStream on again by itself."
                );
            }
            if (behind != 0)
            {
                yield return new EngineProblem(
                    EngineProblemKind.ReplicaLags,
                    server.Key,
                    $"the nats-server {server.Key} lags behind the leaders of some streams",
                    $"Look at the disk of {server.Key}, its load and the network to it. It catches up by itself when "
                        + "these allow it."
                );
            }
        }
    }
}
