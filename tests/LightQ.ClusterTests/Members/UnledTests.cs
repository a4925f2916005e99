using LightQ.Broker.Cluster;
using LightQ.ClusterTests.Log;
using LightQ.IntegrationTests;
using Xunit;

namespace LightQ.ClusterTests.Members;

/// <summary>Partitions that nobody leads for a while: it is said, with what they wait for, and is over by itself.</summary>
public sealed class UnledTests : IAsyncDisposable
{
    private static readonly MemberOptions Options = new()
    {
        UnledFor = TimeSpan.FromSeconds(1),
        LongestClaim = TimeSpan.FromMilliseconds(300),
    };

    private readonly MemoryEngine _engine = new();
    private readonly TestCluster _cluster = new(Options);

    public ValueTask DisposeAsync() => _cluster.DisposeAsync();

    [Fact]
    public async Task What_a_partition_without_a_leader_waits_for_is_a_condition()
    {
        await _cluster.CreateAsync(_engine);
        FaultyStream leaderless = _engine[_cluster.StreamOf(0)],
            odd = _engine[_cluster.StreamOf(1)];
        leaderless.IsLeaderless = true;
        odd.Defect = new FormatException("an answer that nobody has thought of");
        await _cluster.StartAsync("a", _engine.Connect());
        await SaysAsync("orders/0", "the claim is not answered: no server answers for it");
        await SaysAsync("orders/1", "its broker has failed; its log says how");

        (leaderless.IsLeaderless, odd.Defect) = (false, null);
        await _cluster.PlacedAsync("a");
        await _cluster.ReportedAsync("a", "over partition-unled orders/0");
        await _cluster.ReportedAsync("a", "over partition-unled orders/1");
    }

    private Task SaysAsync(string subject, string what) =>
        Eventually.TrueAsync(
            () =>
                _cluster["a"]
                    .Members.Conditions.Told.Any(condition =>
                        condition.Kind == "partition-unled"
                        && condition.Subject == subject
                        && condition.Detail.EndsWith(what, StringComparison.Ordinal)
                    ),
            ForwardingCluster.Patience,
            () => string.Join('\n', _cluster["a"].Members.Conditions.Told)
        );
}
