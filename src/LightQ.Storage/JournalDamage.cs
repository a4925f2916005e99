namespace LightQ.Storage;

/// <summary>Damage that was found in a journal while it was open. Readers get a gap there.</summary>
/// <param name="File">The segment's name.</param>
/// <param name="FirstOffset">The first offset that cannot be read.</param>
/// <param name="LastOffset">The last offset that cannot be read.</param>
/// <param name="Bytes">
/// Bytes of the segment that are not what was written; 0 when reading them again gave the right ones.
/// </param>
/// <param name="Detail">What is wrong.</param>
public sealed record JournalDamage(string File, long FirstOffset, long LastOffset, long Bytes, string Detail)
{
    /// <summary>The detail of damage that was seen in the bytes.</summary>
    internal const string OtherBytes = "the bytes there are not what was written";

    /// <summary>Whether any of the offsets from one to another are hit.</summary>
    public bool Touches(long firstOffset, long lastOffset) => FirstOffset <= lastOffset && firstOffset <= LastOffset;
}
