namespace LightQ.Disruptor;

/// <summary>The outcome of asking a <see cref="ByteRing"/> for room. Asking never blocks.</summary>
public enum ClaimResult
{
    /// <summary>The room is the caller's until it is published or aborted.</summary>
    Claimed,

    /// <summary>
    /// A gate, or an entry that another producer has not published yet, still holds the bytes. Try again later.
    /// </summary>
    Full,

    /// <summary>The entry is longer than <see cref="ByteRing.MaxEntryLength"/>; it will never fit.</summary>
    TooLarge,
}
