namespace LightQ.Storage;

/// <summary>Why a journal stopped for good.</summary>
/// <param name="Reason">What failed, for people.</param>
/// <param name="Exception">The error.</param>
public sealed record JournalFailure(string Reason, Exception Exception);
