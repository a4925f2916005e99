namespace LightQ.Client.Connections;

/// <summary>
/// Keeps a client of a cluster informed of its nodes and of who leads the partitions of its streams, so that it leaves
/// a leader that neither answers nor breaks the connection.
/// </summary>
/// <remarks>
/// One call to one broker at a time. That broker may be the one that stands still: so one that no stream uses is
/// preferred, and the connection of another is asked for an answer now and then. Topics without replicas have no other
/// leader: they are left out as soon as a broker has said so, and a client that uses no others keeps no call open.
/// </remarks>
internal sealed class LeaderWatch(ILeaderDirectory leaders, BrokerLinks links, CancellationToken closing)
{
    /// <summary>
    /// After so many looks without a topic the nodes are asked for again; after fewer if none answered.
    /// </summary>
    private const int LooksPerLesson = 120,
        LooksUntilAskedAgain = 10;

    /// <summary>How often topics are compared, and how long a broker may take to answer.</summary>
    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(500);

    /// <summary>A leader that hands over says so itself, behind its last acknowledgements: it goes first.</summary>
    private static readonly TimeSpan HandOver = TimeSpan.FromMilliseconds(200);

    private static readonly TimeSpan FirstPause = TimeSpan.FromMilliseconds(50),
        LongestPause = TimeSpan.FromSeconds(5);

    private readonly Lock _lock = new();
    private readonly HashSet<string> _alone = new(StringComparer.Ordinal);
    private int _broker;
    private int _failures;
    private volatile bool _hasAnswered;

    /// <summary>Runs until the client is closed.</summary>
    public async Task RunAsync()
    {
        int looks = 0;
        while (!closing.IsCancellationRequested)
        {
            if (looks <= 0)
                looks = await leaders.LearnAsync(closing).ConfigureAwait(false) ? LooksPerLesson : LooksUntilAskedAgain;
            string[] topics = TopicsToWatch();
            if (topics.Length == 0)
            {
                looks--;
                await links.PauseAsync(Look, closing).ConfigureAwait(false);
                continue;
            }
            _broker = links.PreferUnused(_broker);
            if (await WatchAsync(topics).ConfigureAwait(false))
                continue;
            _broker = (_broker + 1) % links.BrokerCount;
            TimeSpan pause = FirstPause * (1 << Math.Min(_failures++, 10));
            await links.PauseAsync(pause < LongestPause ? pause : LongestPause, closing).ConfigureAwait(false);
        }
    }

    /// <summary>The topics in use that may get another leader, or of which that is not known yet.</summary>
    private string[] TopicsToWatch()
    {
        string[] used = links.LedTopics();
        lock (_lock)
        {
            _alone.IntersectWith(used); // One of the same name that comes later may have replicas.
            return _alone.Count == 0 ? used : [.. used.Where(topic => !_alone.Contains(topic))];
        }
    }

    /// <returns>False when another broker should be asked; true when other topics should be asked for.</returns>
    private async Task<bool> WatchAsync(string[] topics)
    {
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(closing);
        _hasAnswered = false;
        Task reading = ReadAsync(topics, ending.Token);
        bool hasOthers = false;
        for (int looks = 0; !hasOthers; looks++)
        {
            await Task.WhenAny(reading, links.PauseAsync(Look, ending.Token)).ConfigureAwait(false);
            if (reading.IsCompleted || (looks > 0 && !_hasAnswered))
                break;
            hasOthers = !TopicsToWatch().AsSpan().SequenceEqual(topics);
            if (!hasOthers && !await links.AnswersAsync(_broker, Look, ending.Token).ConfigureAwait(false))
                break;
        }
        await ending.CancelAsync().ConfigureAwait(false);
        await reading.ConfigureAwait(false);
        return hasOthers;
    }

    private async Task ReadAsync(string[] topics, CancellationToken ended)
    {
        try
        {
            await foreach (LeaderMap map in leaders.WatchAsync(_broker, topics, ended).ConfigureAwait(false))
            {
                _hasAnswered = true;
                lock (_lock)
                    _alone.UnionWith(map.Alone);
                links.Follow(map, isFinal: false);
                _ = FollowLaterAsync(map);
                if (map.HearsNobody)
                    return;
                _failures = 0;
            }
        }
        catch (LightQException)
        {
            // It does not answer, does not serve the call, or does not let this client ask: the next may.
        }
        catch (OperationCanceledException)
        {
            // The client is closed, or another call follows.
        }
    }

    private async Task FollowLaterAsync(LeaderMap map)
    {
        await links.PauseAsync(HandOver, closing).ConfigureAwait(false);
        links.Follow(map, isFinal: true);
    }
}
