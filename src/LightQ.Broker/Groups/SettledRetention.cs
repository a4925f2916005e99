using System.Collections.Concurrent;
using System.Collections.Immutable;
using LightQ.Broker.DeadLetters;
using LightQ.Broker.Topics;
using LightQ.Scheduling;
using LightQ.Storage;

namespace LightQ.Broker.Groups;

/// <summary>
/// Retention of topics that remove messages when all groups have settled them. Runs in housekeeping only. Thread-safe.
/// </summary>
/// <remarks>
/// What counts of a group is the lower of its position and of what a start would find of it on the disk, whatever ends
/// the broker: so no group ever stands behind the log's start. A group counts on every partition of its topic, also
/// where it has not been yet. A dead letter holds its original until it is redriven, which needs the original:
/// published from the letter it would come to all groups again, and be another message.
/// </remarks>
internal sealed class SettledRetention(
    GroupRegistry groups,
    GroupStore store,
    DeadLetterOffice deadLetters,
    JournalEnvironment environment,
    Func<BrokerOptions> options
) : IHousekept
{
    /// <summary>When to look again for what nothing reports: letters that were deleted.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(1),
        RetryAfter = TimeSpan.FromMilliseconds(500);

    private readonly ConcurrentDictionary<Partition, byte> _noted = new();

    /// <summary>See <see cref="JournalOptions.SettledBefore"/>.</summary>
    public long SettledBefore(Partition partition)
    {
        bool isSettled = partition.Topic.Settings.Retention == Retention.Settled,
            isServed = groups.IsServed(partition.Topic);
        if (!isServed && isSettled)
            Note(partition, RetryAfter); // The broker is starting.
        if (!isServed)
            return 0;
        if (!isSettled)
        {
            partition.NoteGrowth(options(), hold: null);
            return 0;
        }
        RetentionHold hold = Find(partition);
        if (hold.IsPassing)
            Note(partition, RetryAfter);
        else
            partition.NoteGrowth(options(), hold);
        if (hold.IsDeadLetter)
            Note(partition, Patience);
        return hold.Offset;
    }

    /// <summary>The group that keeps most of a partition; without a group, everything is kept for none.</summary>
    public RetentionHold Find(Partition partition)
    {
        Topic topic = partition.Topic;
        var unknown = new RetentionHold(0, "", IsPassing: true);
        // In this order: a partition that is owned from now on has groups that the topic may not have had.
        if (partition.Refusal is not null)
            return unknown;
        ImmutableHashSet<string> names = groups.AllNamesOf(topic);
        if (names.IsEmpty)
            return default(RetentionHold) with { Group = "" };
        if (topic.IsBroken || store.IsForgetting(topic))
            return unknown;
        // In this order: a redriven message is in its group before its letter counts as done, and a letter is stored
        // before its original counts as settled.
        Dictionary<string, long> redriven = names.ToDictionary(
            name => name,
            name => store.TryGetKept(Redrive.PlaceOf(partition), Redrive.NameOf(name), out long letter) ? letter : 0
        );
        var lowest = new RetentionHold(long.MaxValue, "");
        foreach (string name in names)
        {
            RetentionHold hold = HoldOf(partition, name);
            if (hold.Offset < lowest.Offset)
                lowest = hold;
        }
        if (deadLetters.LettersOf(topic, () => Note(partition, TimeSpan.Zero)) is not { } letters)
            return lowest;
        foreach ((string name, long next) in redriven)
        {
            if (!letters.TryFind(partition, name, next, out long first))
                return unknown;
            if (first < lowest.Offset)
                lowest = new RetentionHold(first, name, IsDeadLetter: true);
        }
        return lowest;
    }

    /// <summary>
    /// What keeps most of a topic, and how many messages that is; null where nothing is kept, and for other topics.
    /// </summary>
    public (RetentionHold Hold, long Messages)? FindWorst(Topic topic)
    {
        (RetentionHold Hold, long Messages) worst = default;
        if (topic.Settings.Retention != Retention.Settled || topic.IsBroken)
            return null;
        foreach (Partition partition in topic.Partitions.Where(p => p.Refusal is null))
        {
            RetentionHold hold = Find(partition);
            if (hold is { Group: "", IsPassing: true })
                continue;
            long messages = partition.Log.ReadableOffset - Math.Max(hold.Offset, partition.Log.StartOffset);
            if (messages > worst.Messages)
                worst = (hold, messages);
        }
        return worst.Messages == 0 ? null : worst;
    }

    /// <summary>Has a partition looked at when what its groups have settled is on the disk, or later.</summary>
    public void Note(Partition partition, TimeSpan within)
    {
        _noted.TryAdd(partition, 0);
        environment.RequestHousekeeping(this, within);
    }

    TimeSpan? IHousekept.Look(DateTimeOffset now)
    {
        try
        {
            store.FlushDisk();
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            return RetryAfter; // The store reports why.
        }
        catch (ObjectDisposedException)
        {
            return null; // The broker has stopped meanwhile.
        }
        bool isLeft = false;
        foreach (Partition partition in _noted.Keys)
        {
            if (partition.Log is not { } log)
            {
                isLeft = true; // The partition is just being opened.
                continue;
            }
            _noted.TryRemove(partition, out _);
            log.RequestLook();
        }
        return isLeft ? RetryAfter : null;
    }

    /// <summary>In front of which offset a group has settled everything, also after a kill or a power cut.</summary>
    private RetentionHold HoldOf(Partition partition, string name)
    {
        long settled = Math.Max(0, partition.FindGroup(name)?.Committed ?? 0);
        long kept = store.TryGetKept(partition, name, out long found) ? found : 0;
        return new RetentionHold(Math.Min(settled, kept), name, IsPassing: kept < settled);
    }
}
