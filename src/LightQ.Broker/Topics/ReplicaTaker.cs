using LightQ.Broker.Cluster;
using LightQ.Broker.Logs;
using LightQ.Broker.Replication;

namespace LightQ.Broker.Topics;

/// <summary>
/// A partition that this node is to take over from its leader: opened, and filled from the stream, until it is claimed
/// or another node gets it.
/// </summary>
/// <param name="opener">Opens it.</param>
/// <param name="topic">The topic.</param>
/// <param name="index">The partition's number.</param>
/// <param name="yields">Whether a claim gives way to a node that claims it at the same time.</param>
/// <param name="time">The clock.</param>
/// <param name="changed">Called when <see cref="Stand"/> has changed.</param>
internal sealed class ReplicaTaker(
    PartitionOpener opener,
    Topic topic,
    uint index,
    Func<string, bool> yields,
    TimeProvider time,
    Action changed
) : IAsyncDisposable
{
    private const int MostFailures = 3;

    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(250);
    private readonly CancellationTokenSource _stop = new();
    private readonly TopicSettings _settings = topic.Settings;
    private (Partition Partition, ReplicatedLog Log)? _opened;
    private ReplicatedLog? _stale;
    private volatile JournalFill? _fill;
    private volatile int _failures;
    private Task _running = Task.CompletedTask;

    /// <summary>What this node is to the partition.</summary>
    public PartitionStand Stand =>
        _failures >= MostFailures || _opened is { Log.IsLocalStuck: true } ? PartitionStand.Unable
        : _fill is { IsNear: true } ? PartitionStand.Ready
        : PartitionStand.Prepares;

    /// <summary>The entries of the stream that are left to read; null when that is not known.</summary>
    public long? Left => _fill?.Left;

    /// <summary>Begins.</summary>
    public void Begin() => _running = Task.Run(RunAsync);

    /// <summary>Ends the reading.</summary>
    /// <returns>
    /// The partition, which the caller has to claim or close; null when it could not be opened, or the topic has other
    /// settings by now.
    /// </returns>
    public async Task<(Partition Partition, ReplicatedLog Log)?> TakeAsync()
    {
        await EndAsync().ConfigureAwait(false);
        if (_opened is { } old && topic.Settings != _settings)
        {
            _opened = null;
            await old.Log.DisposeAsync().ConfigureAwait(false);
        }
        (Partition, ReplicatedLog)? opened = _opened;
        _opened = null;
        return opened;
    }

    /// <summary>Ends the reading, and closes the partition.</summary>
    public async ValueTask DisposeAsync()
    {
        await EndAsync().ConfigureAwait(false);
        if (_opened is { } opened)
            await opened.Log.DisposeAsync().ConfigureAwait(false);
        _opened = null;
        _stop.Dispose();
    }

    private async Task EndAsync()
    {
        await _stop.CancelAsync().ConfigureAwait(false);
        await _running.ConfigureAwait(false);
        if (_stale is { } stale)
            await stale.DisposeAsync().ConfigureAwait(false);
        _stale = null;
    }

    private async Task RunAsync()
    {
        try
        {
            for (long firstOffset = 0; ; )
            {
                try
                {
                    if (_stale is { } stale)
                        await stale.DeleteAsync().ConfigureAwait(false);
                    _stale = null;
                    _opened ??= opener.OpenReplicated(topic, index, firstOffset, yields);
                    _fill = _opened.Value.Log.Fill;
                    await _fill.RunAsync(OnRead, _stop.Token).ConfigureAwait(false);
                }
                catch (ReplicationException) when (_opened?.Log.Copy.StreamFront is { } front)
                {
                    // Retention has removed from the stream what would follow in the journal: it begins anew.
                    opener.TellBegunAnew(_opened.Value.Partition, _opened.Value.Log, front);
                    (firstOffset, _stale, _opened, _fill) = (front, _opened.Value.Log, null, null);
                }
                catch (Exception e) when (e is ReplicationException or IOException or UnauthorizedAccessException)
                {
                    // The leader may have removed what was about to be read; the engine may be electing a leader.
                    _failures++;
                    changed();
                    await Task.Delay(Pause, time, _stop.Token).ConfigureAwait(false);
                }
            }
        }
        catch (OperationCanceledException) when (_stop.IsCancellationRequested)
        {
            // It is claimed, or another node gets it.
        }
    }

    private void OnRead()
    {
        _failures = 0;
        changed();
    }
}
