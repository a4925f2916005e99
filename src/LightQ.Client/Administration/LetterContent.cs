namespace LightQ.Client.Administration;

/// <summary>What there is of a dead-lettered message in its letter.</summary>
public enum LetterContent
{
    /// <summary>Key, headers and body.</summary>
    Whole = 1,

    /// <summary>
    /// None of it, as it did not fit the dead-letter topic. The original may still be in its own topic.
    /// </summary>
    Omitted = 2,

    /// <summary>The message came in a batch that cannot be read; the body is that batch.</summary>
    Unreadable = 3,
}
