namespace LightQ.Client.Connections;

/// <summary>Knows the leaders of partitions, from the cluster's metadata.</summary>
internal interface ILeaderDirectory
{
    /// <summary>Where a partition's leader is.</summary>
    /// <param name="topic">The topic.</param>
    /// <param name="partition">The partition; null for any of the topic.</param>
    /// <param name="newest">The newest epoch that was seen: an older one does not count.</param>
    /// <param name="cancellationToken">Ends the search.</param>
    /// <returns><c>host:port</c> of its data plane; null when that is not known.</returns>
    Task<string?> FindAsync(string topic, int? partition, uint newest, CancellationToken cancellationToken);

    /// <summary>Asks a broker for the nodes of its cluster, which are known from then on.</summary>
    /// <returns>Whether one has answered.</returns>
    Task<bool> LearnAsync(CancellationToken cancellationToken) => Task.FromResult(true);

    /// <summary>Tells at once and after each change who leads the partitions of some topics.</summary>
    /// <param name="broker">The broker that is asked, by its place among those that are known.</param>
    /// <param name="topics">The topics.</param>
    /// <param name="cancellationToken">Ends the enumeration.</param>
    IAsyncEnumerable<LeaderMap> WatchAsync(
        int broker,
        IReadOnlyCollection<string> topics,
        CancellationToken cancellationToken
    );
}
