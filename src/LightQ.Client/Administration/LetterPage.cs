namespace LightQ.Client.Administration;

/// <summary>A page of a group's dead letters.</summary>
/// <param name="Letters">The letters, in the order of their offsets; none is possible before the last page.</param>
/// <param name="NextOffset">
/// <see cref="LetterListOptions.StartOffset"/> of the next page, also when this is the last: later there may be more.
/// </param>
/// <param name="IsLast">Whether no letter was behind this page when it was made.</param>
/// <param name="DeadLetterTopic">The topic that the letters are in, in its partition 0.</param>
public sealed record LetterPage(
    IReadOnlyList<DeadLetterInfo> Letters,
    long NextOffset,
    bool IsLast,
    string DeadLetterTopic
);
