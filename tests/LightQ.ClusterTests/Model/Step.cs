using System.Text;

namespace LightQ.ClusterTests.Model;

/// <summary>One step of one owner.</summary>
/// <param name="Kind">What happens.</param>
/// <param name="Owner">To whom, by index.</param>
/// <param name="Index">Which of its appends, or which producer.</param>
internal readonly record struct Step(StepKind Kind, byte Owner, byte Index)
{
    public static Step Of(StepKind kind, int owner, int index = 0) => new(kind, (byte)owner, (byte)index);

    /// <summary>What happened, for a person who follows a trace.</summary>
    public string Describe(World before, World after)
    {
        char name = Model.Owner.NameOf(Owner);
        switch (Kind)
        {
            case StepKind.SendData or StepKind.SendSnapshot:
                Append sent = after.Appends[Owner][^1];
                return $"{name} sends {sent.Entry}, to be stored behind {sent.Expected}";
            case StepKind.SendClaim:
                Append claim = after.Appends[Owner][^1];
                return $"{name} has read up to {before.Log.Length} (snapshot {after.Owners[Owner].Snapshot}, "
                    + $"{after.Owners[Owner].Taken}, next offset {after.Owners[Owner].Next}) and sends a {claim.Entry}, "
                    + $"to be stored behind {claim.Expected}";
            case StepKind.Arrive:
                string verb = after.Log.Length > before.Log.Length ? "stores" : "refuses";
                return $"the stream {verb} {before.Appends[Owner][Index].Entry} of {name}"
                    + (verb == "stores" ? $" as {after.Log.Length}" + Refusals(before, after, Owner) : "");
            case StepKind.Hear:
                Append heard = before.Appends[Owner][Index];
                return $"{name} hears that {heard.Entry} is "
                    + (
                        heard.State is AppendState.Stored
                            ? $"stored as {heard.At}"
                            : $"refused, the end is at {before.Log.Length}"
                    )
                    + Consequence(before, after);
            case StepKind.AckDuplicate:
                return $"{name} is sent {Numbers.NameOf(Index, before.FirstUnacked(Index))} again, knows it"
                    + Consequence(before, after);
            default:
                return $"{name} has no answer to {before.Appends[Owner][Index].Entry} and sends it again, to be stored "
                    + $"behind {after.Appends[Owner][^1].Expected}";
        }
    }

    private static string Refusals(World before, World after, int own)
    {
        var text = new StringBuilder();
        for (int owner = 0; owner < before.Owners.Length; owner++)
        {
            foreach (Append append in before.Appends[owner])
            {
                if (append.State is not AppendState.Sent || owner == own || after.Appends[owner].Any(append.IsSent))
                    continue;
                text.Append($", so it will refuse {append.Entry} of {Model.Owner.NameOf(owner)}");
            }
        }

        return text.ToString();
    }

    private string Consequence(World before, World after)
    {
        var parts = new List<string>();
        Owner was = before.Owners[Owner],
            isNow = after.Owners[Owner];
        if (was.Phase != isNow.Phase)
            parts.Add(isNow.Phase is OwnerPhase.Owner ? "is the owner" : "stops");
        for (int producer = 0; producer < Numbers.Producers; producer++)
        {
            int acked = after.Acked(producer) & ~before.Acked(producer);
            for (int number = 1; acked != 0; number++, acked >>= 1)
            {
                if ((acked & 1) != 0)
                    parts.Add($"acks {Numbers.NameOf(producer, number)}");
            }
        }

        if (after.Appends[Owner].Length > 0 && after.Appends[Owner][^1] is { State: AppendState.Sent } again)
        {
            if (!before.Appends[Owner].Contains(again))
                parts.Add($"sends it again, to be stored behind {again.Expected}");
        }

        return parts.Count == 0 ? "" : " and " + string.Join(", ", parts);
    }
}
