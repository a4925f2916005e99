using System.Collections.Immutable;

namespace LightQ.ClusterTests.Model;

/// <summary>
/// The steps of owners, stream and producers. What is slow, paused, cut off or dead is whoever takes no step: every
/// order of the steps is tried, and every one may be the last of its owner.
/// </summary>
internal sealed class Machine(Bounds bounds, Dropped dropped)
{
    private const int MostResent = 1;

    /// <summary>All that can happen next.</summary>
    public void Enabled(World world, List<Step> steps)
    {
        steps.Clear();
        if (world.Owners.Length <= bounds.Claims)
            steps.Add(Step.Of(StepKind.SendClaim, world.Owners.Length));
        for (int owner = 0; owner < world.Owners.Length; owner++)
        {
            if (world.Owners[owner].Phase is OwnerPhase.Owner)
                OfOwner(world, owner, steps);
            OfAppends(world, owner, steps);
        }
    }

    public Outcome Take(World world, Step step)
    {
        Outcome outcome = step.Kind switch
        {
            StepKind.SendData => new(SendData(world, step.Owner, step.Index)),
            StepKind.SendSnapshot => new(SendSnapshot(world, step.Owner)),
            StepKind.SendClaim => SendClaim(world),
            StepKind.Arrive => Arrive(world, step.Owner, step.Index),
            StepKind.Hear => Hear(world, step.Owner, step.Index),
            StepKind.AckDuplicate => AckDuplicate(world, step.Owner, step.Index),
            _ => new(SendAgain(world, step.Owner, step.Index, world.Log.Length)),
        };
        bool isEnough = bounds.IsLiteral || dropped.HasFlag(Dropped.Condition);
        return isEnough || outcome.Violation is not Violation.None ? outcome : Refuse(outcome);
    }

    private void OfOwner(World world, int index, List<Step> steps)
    {
        Owner owner = world.Owners[index];
        bool hasRoom = UnderWay(world.Appends[index]) < bounds.Window;
        for (int producer = 0; producer < Numbers.Producers; producer++)
        {
            // A producer sends what is not acked; one that begins with a later batch than the next is refused.
            int first = world.FirstUnacked(producer);
            int next = owner.Taken[producer] + 1;
            if (hasRoom && !owner.IsInSnapshot && next <= bounds.Batches(producer) && first <= next)
                steps.Add(Step.Of(StepKind.SendData, index, producer));
            if (first <= owner.Committed[producer])
                steps.Add(Step.Of(StepKind.AckDuplicate, index, producer));
        }

        if (hasRoom && (owner.IsInSnapshot || world.SnapshotsLeft > 0))
            steps.Add(Step.Of(StepKind.SendSnapshot, index));
    }

    private void OfAppends(World world, int index, List<Step> steps)
    {
        ImmutableArray<Append> appends = world.Appends[index];
        bool isFirst = true,
            isFirstSent = true;
        for (int i = 0; i < appends.Length; i++)
        {
            if (appends[i].State is AppendState.Sent)
            {
                if ((isFirstSent || bounds.IsLiteral) && (Fits(world, appends[i]) || bounds.IsLiteral))
                    steps.Add(Step.Of(StepKind.Arrive, index, i));
                isFirstSent = false;
            }
            else if (isFirst || dropped.HasFlag(Dropped.Prefix))
            {
                // With R2 it takes the answers in the order of its appends.
                if (appends[i].State is AppendState.Stored || IsHeard(world, index, i))
                    steps.Add(Step.Of(StepKind.Hear, index, i));
            }

            isFirst &= appends[i].IsUnheard;
        }

        if (dropped.HasFlag(Dropped.Stop) && world.Owners[index].Phase is OwnerPhase.Owner)
        {
            int last = appends.Length - 1;
            if (CanSendAgain(world, index) && appends[last].State is AppendState.Sent or AppendState.Stored)
                steps.Add(Step.Of(StepKind.SendAgain, index, last));
        }
    }

    private bool Fits(World world, Append append) =>
        dropped.HasFlag(Dropped.Condition) || append.Expected == world.Log.Length;

    /// <summary>
    /// Whether it matters that an owner hears of a refusal. With R1 and R2 it does nothing more then, and that is also
    /// what an owner does that takes no more steps.
    /// </summary>
    private bool IsHeard(World world, int index, int at) =>
        bounds.IsLiteral
        || world.Appends[index][at].Entry.Kind is EntryKind.Claim
        || dropped.HasFlag(Dropped.Prefix)
        || (dropped.HasFlag(Dropped.Stop) && CanSendAgain(world, index));

    private bool IsLooseClaim(Append append) =>
        dropped.HasFlag(Dropped.PositionOfClaim) && append.Entry.Kind is EntryKind.Claim;

    private static World SendData(World world, int index, int producer)
    {
        Owner owner = world.Owners[index];
        int number = owner.Taken[producer] + 1;
        return Send(
            world,
            index,
            owner with
            {
                Next = (byte)(owner.Next + 1),
                Taken = owner.Taken.With(producer, number),
            },
            Entry.Data(owner.Epoch, owner.Next, producer, number)
        );
    }

    private World SendSnapshot(World world, int index)
    {
        Owner owner = world.Owners[index];
        int part = owner.IsInSnapshot ? 1 : 0;
        Numbers table = bounds.Parts == 1 ? owner.Taken : default(Numbers).With(part, owner.Taken[part]);
        World sent = Send(
            world,
            index,
            owner with
            {
                IsInSnapshot = part < bounds.Parts - 1,
            },
            Entry.Snapshot(owner.Epoch, owner.Next, part, owner.Snapshot, table)
        );
        return part == 1 ? sent : sent with { SnapshotsLeft = (byte)(world.SnapshotsLeft - 1) };
    }

    private static World Send(World world, int index, Owner owner, Entry entry) =>
        world.With(
            index,
            owner with
            {
                Last = (byte)(owner.Last + 1),
            },
            world.Appends[index].Add(Append.Of(entry, owner.Last))
        );

    private Outcome SendClaim(World world)
    {
        LogReader read = LogReader.TakeOver(world.Log, dropped, bounds.Parts);
        int epoch = world.Log.Last(entry => entry.Kind is EntryKind.Claim).Epoch + 1;
        int end = world.Log.Length;
        var owner = new Owner(
            OwnerPhase.Claiming,
            (byte)epoch,
            (byte)read.Next,
            read.Table,
            read.Table,
            (byte)read.Snapshot,
            (byte)(end + 1),
            false
        );
        World claimed = world with
        {
            Owners = world.Owners.Add(owner),
            Appends = world.Appends.Add([Append.Of(Entry.Claim(epoch, read.Next, read.Snapshot), end)]),
        };
        return new(claimed, read.Snapshot != 0 ? Reached.FromSnapshot : Reached.Nothing);
    }

    private Outcome Arrive(World world, int index, int at)
    {
        Append append = world.Appends[index][at];
        ImmutableArray<Append> appends = world.Appends[index];
        if (!Fits(world, append))
        {
            return new(
                world with
                {
                    Appends = world.Appends.SetItem(
                        index,
                        append.IsUnheard
                            ? appends.RemoveAt(at)
                            : appends.SetItem(at, append with { State = AppendState.Refused })
                    ),
                },
                append.Entry.Kind is EntryKind.Claim ? Reached.ClaimRefused : Reached.Nothing
            );
        }

        Reached reached = OfStored(world, index, append.Entry);
        if (appends.Take(at).Any(other => other.State is AppendState.Refused))
            reached |= Reached.StoredBehindRefused;
        Append stored = append with { State = AppendState.Stored, At = (byte)(world.Log.Length + 1) };
        World after = world with
        {
            Log = world.Log.Add(append.Entry),
            Appends = world.Appends.SetItem(
                index,
                append.IsUnheard ? appends.RemoveAt(at) : appends.SetItem(at, stored)
            ),
        };
        return new(after, reached, Checker.OfLog(after.Log, dropped, bounds.Parts));
    }

    /// <summary>
    /// What expects an end that has gone by can only be refused: the stream may as well do it at once, since it changes
    /// nothing but what the owner hears, some time.
    /// </summary>
    private Outcome Refuse(Outcome outcome)
    {
        World world = outcome.World;
        Reached reached = outcome.Reached;
        int end = world.Log.Length;
        for (int index = 0; index < world.Owners.Length; index++)
        {
            ImmutableArray<Append> appends = world.Appends[index];
            if (appends.Any(append => append.State is AppendState.Sent && append.Expected < end))
            {
                if (appends[0] is { Entry.Kind: EntryKind.Claim })
                    reached |= Reached.ClaimRefused;
                appends =
                [
                    .. appends
                        .Where(append => append.Expected >= end || !append.IsUnheard)
                        .Select(append =>
                            append.State is AppendState.Sent && append.Expected < end
                                ? append with
                                {
                                    State = AppendState.Refused,
                                }
                                : append
                        ),
                ];
            }

            appends = Forget(appends);
            if (appends != world.Appends[index])
                world = world.With(index, world.Owners[index], appends);
            if (world.Owners[index].Phase is not OwnerPhase.Over && IsAtItsEnd(world, index))
                world = Retire(world, index);
        }

        return outcome with
        {
            World = world,
            Reached = reached,
        };
    }

    /// <summary>With R2 no answer behind a refusal matters: it is all the same whether it is a refusal as well.</summary>
    private ImmutableArray<Append> Forget(ImmutableArray<Append> appends)
    {
        if (dropped.HasFlag(Dropped.Prefix))
            return appends;
        bool isRefused = false;
        for (int i = 0; i < appends.Length; i++)
        {
            isRefused |= appends[i].State is AppendState.Refused;
            if (isRefused && appends[i].State is AppendState.Stored)
                appends = appends.SetItem(i, appends[i] with { State = AppendState.Refused, At = 0 });
        }

        return appends;
    }

    /// <summary>
    /// Whether nothing that it has sent can be committed any more, and nothing that it may still send can be stored.
    /// What it had acked as duplicates from now on, it could have acked before.
    /// </summary>
    private bool IsAtItsEnd(World world, int index)
    {
        if ((dropped & (Dropped.Stop | Dropped.Prefix)) != 0)
            return false;
        Owner owner = world.Owners[index];
        ImmutableArray<Append> appends = world.Appends[index];
        int first = FirstHeard(appends);
        if (first >= 0 && appends[first].State is not AppendState.Refused)
            return false;
        if (owner.Phase is OwnerPhase.Claiming)
            return !dropped.HasFlag(Dropped.ReplayBeforeClaim);
        int room = bounds.Window - UnderWay(appends);
        return room == 0 || owner.Last + room - 1 < world.Log.Length;
    }

    /// <summary>It does nothing more; what it has sent may still arrive.</summary>
    private static World Retire(World world, int index) =>
        world.With(
            index,
            Owner.Gone,
            [
                .. world
                    .Appends[index]
                    .Where(append => append.State is AppendState.Sent)
                    .Select(append => append with { IsUnheard = true }),
            ]
        );

    private Outcome Hear(World world, int index, int at)
    {
        Owner owner = world.Owners[index];
        Append append = world.Appends[index][at];
        bool isStored =
            append.State is AppendState.Stored
            && (append.At == append.Expected + 1 || dropped.HasFlag(Dropped.Position) || IsLooseClaim(append));
        if (!isStored)
            return new(Refused(world, index, at));

        Reached reached = world.Log.Skip(append.At).Any(entry => entry.Kind is EntryKind.Claim)
            ? Reached.LateAnswer
            : Reached.Nothing;
        if (owner.Phase is OwnerPhase.Claiming)
        {
            if (world.Owners.Any(other => other.Phase is OwnerPhase.Owner))
                reached |= Reached.TwoOwners;
            Owner confirmed = owner with { Phase = OwnerPhase.Owner, Last = append.At };
            return new(
                world.With(index, confirmed, world.Appends[index].RemoveAt(at)),
                reached,
                Checker.OfView(world.Log, append.At, owner, dropped, bounds.Parts)
            );
        }

        Outcome committed = Commit(world, index, at);
        return committed with { World = Tidy(committed.World, index), Reached = committed.Reached | reached };
    }

    /// <summary>Delivers a batch and acks it; a snapshot that is whole can be named from now on.</summary>
    private Outcome Commit(World world, int index, int at)
    {
        Owner owner = world.Owners[index];
        Append append = world.Appends[index][at];
        ImmutableArray<Append> rest = world.Appends[index].RemoveAt(at);
        Entry entry = append.Entry;
        if (entry.Kind is EntryKind.Snapshot)
        {
            byte snapshot = entry.Part == bounds.Parts - 1 ? append.At : owner.Snapshot;
            return new(world.With(index, owner with { Snapshot = snapshot }, rest));
        }

        int number = Math.Max(entry.Number, owner.Committed[entry.Producer]);
        World after = world
            .With(index, owner with { Committed = owner.Committed.With(entry.Producer, number) }, rest)
            .WithAcked(entry.Producer, 1 << (entry.Number - 1));
        return new(after, OfAcked(after), Checker.OfDelivered(world.Log, entry, dropped, bounds.Parts));
    }

    private Outcome AckDuplicate(World world, int index, int producer)
    {
        int known = world.Owners[index].Committed[producer];
        World after = world.WithAcked(producer, (1 << known) - 1);
        Violation violation = Checker.OfAcked(world.Log, producer, known, dropped, bounds.Parts);
        return new(after, OfAcked(after) | Reached.DuplicateAcked, violation);
    }

    private World Refused(World world, int index, int at)
    {
        Owner owner = world.Owners[index];
        Dropped again = owner.Phase is OwnerPhase.Claiming ? Dropped.ReplayBeforeClaim : Dropped.Stop;
        if (dropped.HasFlag(again) && CanSendAgain(world, index))
            return SendAgain(world, index, at, world.Log.Length);
        if (dropped.HasFlag(Dropped.Prefix) && owner.Phase is not OwnerPhase.Claiming)
        {
            owner = owner with { Phase = OwnerPhase.Listening };
            return Tidy(world.With(index, owner, world.Appends[index].RemoveAt(at)), index);
        }

        return Retire(world, index);
    }

    /// <summary>Sends it behind this end; the one that was sent before may still arrive.</summary>
    private static World SendAgain(World world, int index, int at, int end)
    {
        Append append = world.Appends[index][at];
        ImmutableArray<Append> appends =
            append.State is AppendState.Sent
                ? world.Appends[index].SetItem(at, append with { IsUnheard = true })
                : world.Appends[index].RemoveAt(at);
        return world.With(
            index,
            world.Owners[index] with
            {
                Last = (byte)(end + 1),
            },
            appends.Add(Append.Of(append.Entry, end))
        ) with
        {
            Resent = (byte)(world.Resent + 1),
        };
    }

    /// <summary>One that only listened, and has nothing to listen for, is gone.</summary>
    private static World Tidy(World world, int index) =>
        world.Owners[index].Phase is OwnerPhase.Listening && FirstHeard(world.Appends[index]) < 0
            ? world.With(index, Owner.Gone, world.Appends[index])
            : world;

    private static bool CanSendAgain(World world, int index) =>
        world.Resent < MostResent
        && world.Owners[index].Phase is OwnerPhase.Owner or OwnerPhase.Claiming
        && UnderWay(world.Appends[index]) == 1
        && !world.Appends[index][^1].IsUnheard;

    private static int UnderWay(ImmutableArray<Append> appends) => appends.Count(append => !append.IsUnheard);

    private static int FirstHeard(ImmutableArray<Append> appends)
    {
        for (int i = 0; i < appends.Length; i++)
        {
            if (!appends[i].IsUnheard)
                return i;
        }

        return -1;
    }

    private Reached OfStored(World before, int index, Entry entry)
    {
        if (entry.Kind is EntryKind.Claim)
        {
            Reached claimed = Reached.Nothing;
            for (int owner = 0; owner < index; owner++)
            {
                if (before.Appends[owner].Any(append => append.State is AppendState.Sent))
                    claimed |= Reached.ClaimAgainstLiveOwner;
            }

            return before.Log[^1] is { Kind: EntryKind.Snapshot, Part: 0 } && bounds.Parts == 2
                ? claimed | Reached.HalfSnapshot
                : claimed;
        }

        var reader = new LogReader(Dropped.Nothing, bounds.Parts);
        for (int i = 0; i < before.Log.Length; i++)
            reader.Take(before.Log[i], i + 1);
        int epoch = reader.Epoch;
        int known = reader.Table[entry.Producer];
        if (reader.Take(entry, before.Log.Length + 1))
            return Reached.Nothing;
        Reached isVoid = entry.Epoch < epoch ? Reached.Intruder : Reached.HoleInEpoch;
        if (entry.Kind is EntryKind.Snapshot)
            return isVoid | Reached.VoidSnapshot;
        return entry.Number <= known ? isVoid | Reached.VoidTwin : isVoid;
    }

    private Reached OfAcked(World world) =>
        world.Owners.Length > 1
        && world.FirstUnacked(0) > bounds.BatchesOfP
        && world.FirstUnacked(1) > bounds.BatchesOfQ
            ? Reached.AllAcked
            : Reached.Nothing;
}
