using LightQ.Broker.Logs;
using LightQ.Broker.Topics;
using LightQ.Protocol;
using LightQ.Storage;
using LightQ.Storage.Recovery;

namespace LightQ.Broker.Deduplication;

/// <summary>Gives a partition the window that its topic's settings ask for, and fills it from the log: at the start, and when the settings change.</summary>
internal static class DedupSwitch
{
    private static readonly TimeSpan WritePoll = TimeSpan.FromMilliseconds(1), LongestWait = TimeSpan.FromSeconds(30);

    /// <summary>The log is open and nothing has been appended: what it has of the window's time is remembered.</summary>
    /// <exception cref="IOException">The disk refuses to read; the log is closed again.</exception>
    public static void Begin(Partition partition)
    {
        TopicSettings settings = partition.Topic.Settings;
        if (settings.DedupWindow == TimeSpan.Zero)
            return;
        partition.Dedup = new DedupWindow(settings.DedupWindow, settings.DedupMaxIds);
        if (partition.Log is not JournalLog log || Mutation.NoDedupRecovery)
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

    /// <summary>The settings have changed. A window that is new or longer holds, when this returns, from what the log has.</summary>
    /// <exception cref="IOException">The disk refuses to read; what is appended from now on is remembered all the same.</exception>
    public static void Change(Partition partition, TopicSettings settings)
    {
        if (partition.Refusal is not null)
            return;
        bool isWider;
        long end;
        lock (partition.AppendLock)
        {
            DedupWindow? before = partition.Dedup;
            if (before?.Window == settings.DedupWindow && before.MaxIds == settings.DedupMaxIds)
                return;
            partition.Dedup = settings.DedupWindow == TimeSpan.Zero ? null : Of(settings, before?.Ids() ?? []);
            isWider = partition.Dedup is not null && (before is null || settings.DedupWindow > before.Window || settings.DedupMaxIds > before.MaxIds);
            end = partition.Log.EndOffset;
        }
        if (!isWider || partition.Log is not JournalLog log)
            return; // What is in a ring only is not looked at again.
        WaitUntilWritten(partition, log, end);
        RecentIds found = Read(partition, log, settings);
        lock (partition.AppendLock)
        {
            // What was appended meanwhile is remembered already; so is what retention has removed from the log.
            partition.Dedup = Of(settings, found.Ids.Concat(partition.Dedup!.Ids()).OrderBy(id => id.Time));
        }
        partition.AttendToIds();
    }

    private static void WaitUntilWritten(Partition partition, JournalLog log, long end)
    {
        long began = partition.Time.GetTimestamp();
        log.Flush();
        while (log.Journal.WrittenOffset < end && log.Failure is null)
        {
            if (partition.Time.GetElapsedTime(began) > LongestWait)
                throw new BrokerException(ErrorCode.Internal, $"The topic '{partition.Topic.Name}' remembers the ids of what is published from now on: the disk does not take what came before.");
            Thread.Sleep(WritePoll);
        }
    }

    private static RecentIds Read(Partition partition, JournalLog log, TopicSettings settings) => RecentIds.Read(
        new RecentHeaders(log.Journal.Log), UnixMicroseconds.From(partition.Time.GetUtcNow() - settings.DedupWindow), settings.DedupMaxIds);

    private static DedupWindow Of(TopicSettings settings, IEnumerable<RememberedId> ids)
    {
        var window = new DedupWindow(settings.DedupWindow, settings.DedupMaxIds);
        foreach (RememberedId id in ids)
            window.Add(id);
        return window;
    }
}
