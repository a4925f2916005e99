using LightQ.Broker.Groups;
using LightQ.Broker.Logs;
using LightQ.Broker.Replication;
using LightQ.Broker.Streams;

namespace LightQ.Broker.Topics;

/// <summary>
/// Keeps one partition of a topic with replicas owned: claims it, serves it, and, when it is lost, ends its streams and
/// claims it again.
/// </summary>
/// <remarks>
/// Each ownership is a <see cref="Partition"/> of its own, opened from journal and stream as at a start: what survives
/// a restart survives the loss of a partition. In between, the topic has a partition that is refused with
/// <see cref="ErrorCode.NotLeader"/>.
/// </remarks>
internal sealed class ReplicaKeeper(
    Topic topic,
    uint index,
    PartitionOpener opener,
    GroupRegistry groups,
    Action<Partition> serve,
    Func<IStorageEvents?> events,
    TimeProvider time
) : IAsyncDisposable
{
    private static readonly TimeSpan ShortestPause = TimeSpan.FromMilliseconds(50),
        LongestPause = TimeSpan.FromSeconds(1),
        LongestHandover = TimeSpan.FromSeconds(5);

    private readonly CancellationTokenSource _stop = new();
    private readonly TaskCompletionSource _first = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private Task _running = Task.CompletedTask;

    /// <summary>Completes when the partition is owned for the first time.</summary>
    public Task Owned => _first.Task;

    /// <summary>Begins. The topic has a partition in its place already.</summary>
    public void Begin() => _running = Task.Run(RunAsync);

    /// <summary>Hands the partition over, to no node in particular: what was taken is confirmed first.</summary>
    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync().ConfigureAwait(false);
        await _running.ConfigureAwait(false);
        _first.TrySetCanceled();
        _stop.Dispose();
    }

    private async Task RunAsync()
    {
        TimeSpan pause = ShortestPause;
        while (!_stop.IsCancellationRequested)
        {
            try
            {
                (Partition partition, ReplicatedLog log) = await opener
                    .ClaimAsync(topic, index, _stop.Token)
                    .ConfigureAwait(false);
                Put(partition);
                serve(partition);
                _first.TrySetResult();
                pause = ShortestPause;
                string reason = await log.Lost.WaitAsync(_stop.Token).ConfigureAwait(false);
                events()?.OnPartitionLost(partition, reason);
                await EndAsync(partition, log, reason).ConfigureAwait(false);
            }
            catch (OperationCanceledException) when (_stop.IsCancellationRequested)
            {
                break;
            }
            catch (Exception e) when (e is ReplicationException or IOException or UnauthorizedAccessException)
            {
                PartitionRefusal refusal = e is ReplicationException ? NotLeader(e.Message) : PartitionRefusal.Of(e);
                if (topic.Partitions[(int)index].Refusal != refusal) // It is tried again and again, and said once.
                    Put(Refused(refusal), e);
                await Task.Delay(pause, time, _stop.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
                pause = pause * 2 < LongestPause ? pause * 2 : LongestPause;
            }
        }
        await HandOverAsync().ConfigureAwait(false);
    }

    private async Task EndAsync(Partition partition, ReplicatedLog log, string reason)
    {
        Put(Refused(NotLeader(reason))); // No stream opens on it any more.
        partition.MarkLost();
        partition.CloseAll(new StreamClose(ErrorCode.NotLeader, reason));
        try
        {
            await partition.Emptied().ConfigureAwait(false);
        }
        catch (BrokerException e)
        {
            events()?.OnRefused($"a stream of partition {index} of the topic {topic.Name}", e); // It goes with its log.
        }
        partition.EndHousekeeping();
        groups.End(partition);
        partition.Delays?.Stop();
        await log.DisposeAsync().ConfigureAwait(false);
    }

    private async Task HandOverAsync()
    {
        if (topic.Partitions[(int)index].Log is not ReplicatedLog log)
            return;
        using var patience = new CancellationTokenSource(LongestHandover, time);
        try
        {
            await log.StepDownAsync("the broker is stopping", patience.Token).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            // What is not confirmed is not acknowledged; the next owner finds out.
        }
    }

    private static PartitionRefusal NotLeader(string reason) => new(ErrorCode.NotLeader, reason, reason);

    private Partition Refused(PartitionRefusal refusal) =>
        new(topic, index, time) { Refusal = refusal, Log = new RefusedLog(refusal) };

    private void Put(Partition refused, Exception reason)
    {
        Put(refused);
        if (reason is ReplicationException)
            events()?.OnPartitionLost(refused, reason.Message);
        else
            events()?.OnRefused($"partition {index} of the topic {topic.Name}", reason);
    }

    private void Put(Partition partition) => topic.Put(partition);
}
