namespace LightQ.Disruptor;

/// <summary>The result of claiming room in a <see cref="ByteRing"/>. Claiming never blocks.</summary>
public enum ClaimResult
{
    /// <summary>The room belongs to the caller until it is published or aborted.</summary>
    Claimed,

    /// <summary>
    /// A gate, or an entry that another producer has not published yet, still holds the bytes. Try again later.
    /// </summary>
    Full,

    /// <summary>The entry is longer than <see cref="ByteRing.MaxEntryLength"/>; it will never fit.</summary>
    TooLarge,
}
