using System.Collections.Immutable;

namespace LightQ.ClusterTests.Model;

/// <summary>
/// What must hold in every state. The stream only grows, and what lies before an entry decides whether it is valid: so
/// a promise is checked when it is made, and the valid entries when one more is stored, and both hold ever after.
/// </summary>
internal static class Checker
{
    /// <summary>The valid entries have every batch once, a producer's in order, at offsets without a hole.</summary>
    public static Violation OfLog(ImmutableArray<Entry> log, Dropped dropped, int parts)
    {
        var seen = default(Numbers);
        int next = 0;
        foreach (Entry entry in Batches(log, dropped, parts))
        {
            if (entry.Number <= seen[entry.Producer])
                return Violation.Duplicated;
            if (entry.Number > seen[entry.Producer] + 1)
                return Violation.Reordered;
            if (entry.Offset != next)
                return Violation.NotDense;
            seen = seen.With(entry.Producer, entry.Number);
            next++;
        }

        return Violation.None;
    }

    /// <summary>What an owner delivers and acks is what the valid entries have at that offset.</summary>
    public static Violation OfDelivered(ImmutableArray<Entry> log, Entry delivered, Dropped dropped, int parts)
    {
        bool isStored = false;
        foreach (Entry entry in Batches(log, dropped, parts))
        {
            bool isSame = entry.Producer == delivered.Producer && entry.Number == delivered.Number;
            if (entry.Offset == delivered.Offset && !isSame)
                return Violation.Diverged;
            isStored |= isSame && entry.Offset == delivered.Offset;
        }

        return isStored ? Violation.None : Violation.Lost;
    }

    /// <summary>What an owner acks as a duplicate is among the valid entries.</summary>
    public static Violation OfAcked(ImmutableArray<Entry> log, int producer, int number, Dropped dropped, int parts)
    {
        int stored = Batches(log, dropped, parts).Count(entry => entry.Producer == producer && entry.Number <= number);
        return stored == number ? Violation.None : Violation.Lost;
    }

    /// <summary>An owner's view is what the entries before its claim say.</summary>
    public static Violation OfView(ImmutableArray<Entry> log, int claim, Owner owner, Dropped dropped, int parts)
    {
        var reader = new LogReader(dropped, parts);
        for (int i = 0; i < claim - 1; i++)
            reader.Take(log[i], i + 1);
        return reader.Next == owner.Next && reader.Table == owner.Taken ? Violation.None : Violation.WrongView;
    }

    private static List<Entry> Batches(ImmutableArray<Entry> log, Dropped dropped, int parts)
    {
        var batches = new List<Entry>();
        var reader = new LogReader(dropped, parts);
        for (int i = 0; i < log.Length; i++)
        {
            if (reader.Take(log[i], i + 1) && log[i].Kind is EntryKind.Data)
                batches.Add(log[i]);
        }

        return batches;
    }
}
