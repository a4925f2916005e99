using LightQ.Broker.Logs;
using LightQ.Broker.Topics;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Storage.Files;
using LightQ.Storage.Reading;

namespace LightQ.Broker.Deduplication;

/// <summary>
/// Gives a partition the window that its topic's settings ask for, and fills it from the log: at the start, and when
/// the settings change.
/// </summary>
internal static class DedupSwitch
{
    private static readonly TimeSpan WritePoll = TimeSpan.FromMilliseconds(1),
        LongestWait = TimeSpan.FromSeconds(30);

    /// <summary>
    /// The log is open and nothing has been appended: what it has of the window's time is remembered.
    /// </summary>
    /// <exception cref="IOException">The disk refuses to read; the log is closed again.</exception>
    public static void Begin(Partition partition)
    {
        TopicSettings settings = partition.Topic.Settings;
        if (settings.DedupWindow == TimeSpan.Zero)
            return;
        partition.Dedup = Of(settings, []);
        if (partition.Log.Local is not { } log || Mutation.NoDedupRecovery)
            return;
        try
        {
            partition.Dedup = Of(settings, Read(partition, log, settings).Ids);
        }
        catch (IOException)
        {
            log.DisposeAsync().AsTask().GetAwaiter().GetResult();
            throw;
        }
    }

    /// <summary>
    /// The log, which is open and not claimed, has taken in a batch of another node. So nothing is read again when the
    /// partition is claimed, while its producers wait. Under the append lock.
    /// </summary>
    public static void OnCopied(Partition partition, in BatchView batch)
    {
        if (
            partition.Dedup is { } window
            && !Mutation.NoDedupRecovery
            && batch.AppendTime > SinceOf(partition, window.Window)
            && RecentIds.Find(batch, partition.OwnerOf) is { } id
        )
        {
            window.Add(id);
        }
    }

    /// <summary>
    /// The partition is claimed: the log is read again only if the settings are others than at the start.
    /// </summary>
    /// <exception cref="IOException">The disk refuses to read; the log is closed again.</exception>
    public static void Confirm(Partition partition)
    {
        TopicSettings settings = partition.Topic.Settings;
        if (IsAsSet(partition.Dedup, settings))
            return;
        partition.Dedup = null;
        Begin(partition);
    }

    /// <summary>The settings have changed: what is appended from now on is remembered as they say.</summary>
    /// <returns>
    /// Completes when a window that is new or longer holds from what the log has; reading that is not for the caller's
    /// thread, which may hold other topics up. Fails with an <see cref="IOException"/> when the disk refuses to read,
    /// and a <see cref="BrokerException"/> when it does not take what came before.
    /// </returns>
    public static Task Change(Partition partition, TopicSettings settings)
    {
        if (partition.Refusal is not null)
            return Task.CompletedTask;
        bool isWider;
        long end;
        lock (partition.AppendLock)
        {
            DedupWindow? before = partition.Dedup;
            if (IsAsSet(before, settings))
                return Task.CompletedTask;
            partition.Dedup = settings.DedupWindow == TimeSpan.Zero ? null : Of(settings, before?.Ids() ?? []);
            isWider =
                partition.Dedup is not null
                && (before is null || settings.DedupWindow > before.Window || settings.DedupMaxIds > before.MaxIds);
            end = partition.Log.EndOffset;
        }
        return isWider && partition.Log.Local is { } log
            ? Task.Run(() => FillAsync(partition, log, settings, end))
            : Task.CompletedTask; // A transient topic is not read again.
    }

    private static async Task FillAsync(Partition partition, JournalLog log, TopicSettings settings, long end)
    {
        await WrittenAsync(partition, log, end).ConfigureAwait(false);
        RecentIds found = Read(partition, log, settings);
        lock (partition.AppendLock)
        {
            // The settings may have changed again. The window already holds the ids that were appended meanwhile, and
            // those that retention has removed from the log.
            if (partition.Dedup is not { } window)
                return;
            IEnumerable<RememberedId> ids = found.Ids.Concat(window.Ids()).OrderBy(id => id.Time);
            partition.Dedup = Of(window, ids);
        }
        partition.AttendToIds();
    }

    /// <summary>Completes when everything before an offset is in the files, or never will be.</summary>
    private static async Task WrittenAsync(Partition partition, JournalLog log, long end)
    {
        long began = partition.Time.GetTimestamp();
        log.Flush();
        while (log.Journal.WrittenOffset < end && log.Failure is null && !partition.Topic.Deleted.IsCompleted)
        {
            if (partition.Time.GetElapsedTime(began) > LongestWait)
            {
                throw new BrokerException(
                    ErrorCode.Internal,
                    $"The topic '{partition.Topic.Name}' remembers only the ids of messages that are published from "
                        + $"now on: the disk does not take the earlier messages."
                );
            }
            // Do not wait by the broker's clock, which may stand still or jump.
            await Task.Delay(WritePoll).ConfigureAwait(false);
        }
    }

    private static RecentIds Read(Partition partition, JournalLog log, TopicSettings settings) =>
        RecentIds.Read(
            new RecentHeaders(log.Journal.Log),
            SinceOf(partition, settings.DedupWindow),
            settings.DedupMaxIds,
            partition.OwnerOf
        );

    private static bool IsAsSet(DedupWindow? window, TopicSettings settings) =>
        window is null
            ? settings.DedupWindow == TimeSpan.Zero
            : window.Window == settings.DedupWindow
                && window.MaxIds == settings.DedupMaxIds
                && window.IsShared == settings.SharedNames;

    private static long SinceOf(Partition partition, TimeSpan window) =>
        UnixMicroseconds.From(partition.Time.Ago(window));

    private static DedupWindow Of(TopicSettings settings, IEnumerable<RememberedId> ids) =>
        Fill(new DedupWindow(settings.DedupWindow, settings.DedupMaxIds, settings.SharedNames), ids);

    private static DedupWindow Of(DedupWindow like, IEnumerable<RememberedId> ids) =>
        Fill(new DedupWindow(like.Window, like.MaxIds, like.IsShared), ids);

    private static DedupWindow Fill(DedupWindow window, IEnumerable<RememberedId> ids)
    {
        foreach (RememberedId id in ids)
            window.Add(id);
        return window;
    }
}
