using System.Globalization;
using LightQ.Broker.Topics;

namespace LightQ.Broker.Groups;

/// <summary>
/// Says why a group gets nothing: what is true of it now that keeps deliveries back. Guesses nothing.
/// </summary>
internal static class GroupExplanation
{
    /// <summary>The reasons on one partition; none when a member could be sent something at once.</summary>
    public static IEnumerable<GroupReason> Explain(Group group, string? deadLetterFailure)
    {
        Partition partition = group.Partition;
        GroupFigures figures = group.Figures();
        if (partition.Log.Failure is { } failure)
            yield return Because(GroupHold.TopicFailed, $"the topic has failed: {failure}");
        if (figures.DeadLettersWaiting > 0 && deadLetterFailure is not null)
        {
            yield return Because(
                GroupHold.DeadLetters,
                $"{figures.DeadLettersWaiting} ranges of messages wait for the dead-letter topic: {deadLetterFailure}"
            );
        }

        if (figures.Members.Count == 0)
            yield return Because(GroupHold.NoMembers, "the group has no members on this partition");
        if (group.IsPaused)
            yield return Because(GroupHold.Paused, "the group is paused; 'lightq group resume' resumes it");
        foreach (GroupReason reason in Members(group, figures))
            yield return reason;
        if (Standstill(group, figures) is { } standstill)
            yield return standstill;
        foreach (GroupReason reason in Messages(partition, figures))
            yield return reason;

        GroupReason Because(GroupHold hold, string text) => new(hold, partition.Index, null, null, text);
    }

    /// <summary>Why a partition delivers nothing whose groups are not even loaded.</summary>
    public static IEnumerable<GroupReason> Refusals(Partition partition)
    {
        if (partition.Refusal is { } refusal)
        {
            yield return new GroupReason(
                GroupHold.TopicFailed,
                partition.Index,
                null,
                null,
                $"the partition could not be opened: {refusal.Reason}"
            );
        }
    }

    /// <summary>
    /// Members hold messages and have completed none for longer than a lock: whether they will is not the broker's to
    /// know.
    /// </summary>
    private static GroupReason? Standstill(Group group, GroupFigures figures)
    {
        Partition partition = group.Partition;
        if (
            figures.Lowest is not { } lowest
            || figures.Idle is not { } idle
            || idle < partition.Topic.Settings.Delivery.LockDuration
        )
        {
            return null;
        }

        return new GroupReason(
            GroupHold.Locked,
            partition.Index,
            lowest.Connection,
            figures.FirstLockEnd,
            $"the group has completed nothing for {Span(idle)}; the lowest message that is held is offset "
                + $"{lowest.Offset}, by connection {lowest.Connection}"
        );
    }

    private static IEnumerable<GroupReason> Members(Group group, GroupFigures figures)
    {
        bool isHandingOver = figures.Members.Any(m => !m.IsAssigned && m.InFlight > 0);
        foreach (MemberFigures member in figures.Members)
        {
            if (!member.IsAssigned)
            {
                yield return Because(
                    member,
                    GroupHold.NotAssigned,
                    member.InFlight > 0
                        ? $"another member owns the partition now; this one still holds {member.InFlight} messages"
                        : "another member owns the partition"
                );
            }
            else if (isHandingOver)
            {
                yield return Because(
                    member,
                    GroupHold.HandingOver,
                    "the member that had the partition before still holds messages of it",
                    figures.FirstLockEnd
                );
            }

            if (member.Credit <= 0)
            {
                yield return Because(
                    member,
                    GroupHold.NoCredit,
                    "it has no credit: its program has not taken what it was sent"
                );
            }

            if (member.IsAlone)
            {
                yield return Because(
                    member,
                    GroupHold.InFlight,
                    "its consumer works alone on a message that was in hand when two connections were lost; it gets "
                        + "others once that is settled",
                    figures.FirstLockEnd
                );
            }

            if (member.MaxInFlight != 0 && member.InFlight >= member.MaxInFlight)
            {
                yield return Because(
                    member,
                    GroupHold.InFlight,
                    $"it holds {member.InFlight} messages, as many as it asked for at most",
                    figures.FirstLockEnd
                );
            }
        }

        GroupReason Because(MemberFigures member, GroupHold hold, string text, DateTimeOffset? until = null) =>
            new(
                hold,
                group.Partition.Index,
                member.Connection,
                until,
                $"connection {member.Connection}: {text}{Until(until)}"
            );
    }

    private static IEnumerable<GroupReason> Messages(Partition partition, GroupFigures figures)
    {
        if (figures.IsReading)
            yield return Because(GroupHold.Reading, "messages are being read from the disk");
        if (figures.HasTooManyPieces)
        {
            yield return Because(
                GroupHold.TooManyPieces,
                "the unsettled messages lie in too many pieces; the earlier messages must be settled first"
            );
        }

        if (figures.RedeliveriesReady > 0 || figures.Next < figures.End)
            yield break;
        if (figures.InFlight > 0)
        {
            yield return Because(
                GroupHold.Locked,
                $"{(figures.InFlight == 1 ? "1 message is" : $"{figures.InFlight} messages are")} with members"
                    + Until(figures.FirstLockEnd),
                figures.FirstLockEnd
            );
        }

        if (figures.RedeliveriesDelayed > 0)
        {
            yield return Because(
                GroupHold.Delayed,
                $"{figures.RedeliveriesDelayed} ranges of messages wait for redelivery{Until(figures.NextRedelivery)}",
                figures.NextRedelivery
            );
        }

        if (partition.Log.EndOffset > figures.End)
        {
            yield return Because(
                GroupHold.NotDurable,
                $"{partition.Log.EndOffset - figures.End} messages were appended and are not yet as safe as consumers "
                    + $"need them to be"
            );
        }
        else if (figures.Lag == 0)
        {
            yield return Because(GroupHold.NothingLeft, $"all messages below offset {figures.End} are settled");
        }

        GroupReason Because(GroupHold hold, string text, DateTimeOffset? until = null) =>
            new(hold, partition.Index, null, until, text);
    }

    private static string Span(TimeSpan time) =>
        time.TotalHours >= 1 ? string.Create(CultureInfo.InvariantCulture, $"{time.TotalHours:0.0} h")
        : time.TotalMinutes >= 1 ? string.Create(CultureInfo.InvariantCulture, $"{time.TotalMinutes:0.0} min")
        : string.Create(CultureInfo.InvariantCulture, $"{time.TotalSeconds:0} s");

    private static string Until(DateTimeOffset? time) =>
        time is { } until ? $", until {until.ToString("u", CultureInfo.InvariantCulture)} at first" : "";
}
