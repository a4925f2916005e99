namespace LightQ.Client.Administration;

/// <summary>What became of a dead letter whose message was to be published again.</summary>
/// <param name="Published">Where the new message is; null when the letter was settled before.</param>
/// <param name="Outcome">Whether the letter is settled; <see cref="LetterOutcome.None"/> when it was not to be.</param>
/// <param name="Problem">
/// Why the letter could not be settled, or not stored as settled, though the new message is published; null when there
/// was no such error.
/// </param>
public sealed record RepublishedLetter(RepublishResult? Published, LetterOutcome Outcome, string? Problem);
