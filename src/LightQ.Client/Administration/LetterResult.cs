namespace LightQ.Client.Administration;

/// <summary>What became of one dead letter.</summary>
/// <param name="Offset">Its offset in the dead-letter topic.</param>
/// <param name="Outcome">What became of it.</param>
public sealed record LetterResult(long Offset, LetterOutcome Outcome);
