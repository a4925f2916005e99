namespace LightQ.Broker.Groups;

/// <summary>What keeps messages of a topic that removes them when all groups have settled them.</summary>
/// <param name="Offset">The first offset that is kept for it.</param>
/// <param name="Group">Which group; empty when there is none, or when it cannot be told yet.</param>
/// <param name="IsDeadLetter">
/// Whether the group has settled that offset, and a dead letter of it was not redriven.
/// </param>
/// <param name="IsPassing">
/// Whether it is over without the group: what it has settled is not on the disk yet, or not all that is to be asked is
/// known.
/// </param>
public readonly record struct RetentionHold(
    long Offset,
    string Group,
    bool IsDeadLetter = false,
    bool IsPassing = false
);
