namespace LightQ.Broker.Replication;

/// <summary>What became of an append to a replicated stream.</summary>
public enum AppendOutcome
{
    /// <summary>A majority of the replicas has it, at the sequence that was expected.</summary>
    Stored = 1,

    /// <summary>The stream had another last sequence than expected. The entry is not stored.</summary>
    Refused = 2,

    /// <summary>No answer: the entry may be stored, now or later, or not.</summary>
    Unknown = 3,

    /// <summary>
    /// The engine is at a limit of its own. Whether the entry is stored is not known; the same entry, sent again for
    /// the same sequence, finds out.
    /// </summary>
    Full = 4,
}

/// <summary>The answer to an append.</summary>
/// <param name="Outcome">What became of it.</param>
/// <param name="Sequence">Where it is stored; 0 unless <see cref="AppendOutcome.Stored"/>.</param>
/// <param name="Reason">What the engine said; null when it is stored.</param>
public readonly record struct EntryAppend(AppendOutcome Outcome, ulong Sequence, string? Reason)
{
    /// <summary>It is stored.</summary>
    public static EntryAppend Stored(ulong sequence) => new(AppendOutcome.Stored, sequence, Reason: null);

    /// <summary>It is not stored.</summary>
    public static EntryAppend Refused(string reason) => new(AppendOutcome.Refused, 0, reason);

    /// <summary>The engine has no room.</summary>
    /// <param name="reason">What it said, with its figures.</param>
    public static EntryAppend Full(string reason) => new(AppendOutcome.Full, 0, reason);

    /// <summary>Nobody knows.</summary>
    public static EntryAppend Unknown(string reason) => new(AppendOutcome.Unknown, 0, reason);
}
