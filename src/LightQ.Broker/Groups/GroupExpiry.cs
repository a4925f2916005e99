using LightQ.Broker.Topics;
using LightQ.Protocol;
using LightQ.Scheduling;
using LightQ.Storage.Files;

namespace LightQ.Broker.Groups;

/// <summary>
/// Ends groups that nobody uses: that have had no member, and settled nothing, for as long as a setting says. So a
/// group that was made once and is forgotten holds no place and no messages for ever.
/// </summary>
/// <remarks>
/// Housekeeping looks now and then, and notes meanwhile of groups with members that they are used: so a kill does not
/// make them old. By a clock of which it is not sure nothing ends (<see cref="SteadyClock.SureAgo"/>).
/// </remarks>
internal sealed class GroupExpiry(LightQBroker broker, HousekeepingSchedule schedule) : IHousekept
{
    private const int LooksPerExpiry = 8;
    private static readonly TimeSpan LongestPause = TimeSpan.FromHours(1),
        ShortestPause = TimeSpan.FromMilliseconds(500);

    /// <summary>How long until it looks again.</summary>
    private TimeSpan Pause
    {
        get
        {
            TimeSpan part = broker.Options.GroupExpiry / LooksPerExpiry;
            return part == TimeSpan.Zero || part > LongestPause ? LongestPause
                : part < ShortestPause ? ShortestPause
                : part;
        }
    }

    /// <summary>Begins; the topics are there.</summary>
    public void Begin() => schedule.Request(this, Pause);

    TimeSpan? IHousekept.Look(DateTimeOffset now)
    {
        TimeSpan expiry = broker.Options.GroupExpiry;
        if (expiry != TimeSpan.Zero && !Mutation.NoGroupExpiry)
        {
            long before = UnixMicroseconds.From(broker.Clock.SureAgo(expiry));
            foreach (Topic topic in broker.Topics)
                EndUnused(topic, before, expiry);
        }
        return Pause;
    }

    private void EndUnused(Topic topic, long before, TimeSpan expiry)
    {
        foreach (string name in broker.Groups.NamesOf(topic))
        {
            if (broker.Groups.TryEndUnused(topic, name, before))
                broker.Options.StorageEvents?.OnGroupEnded(topic, name, expiry);
        }
    }
}
