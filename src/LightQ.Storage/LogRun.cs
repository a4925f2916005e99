namespace LightQ.Storage;

/// <summary>Whole batches next to each other, read in place: from a mapped segment or a pooled buffer.</summary>
/// <remarks>Valid until the reader that gave it is advanced, released or disposed.</remarks>
/// <param name="Memory">The batches. Pinned or native: pinning it costs nothing.</param>
/// <param name="FirstOffset">
/// Offset of the first message; below the offset that was sought when that one is inside the batch.
/// </param>
/// <param name="NextOffset">One behind the offset of the last message.</param>
public readonly record struct LogRun(ReadOnlyMemory<byte> Memory, long FirstOffset, long NextOffset)
{
    /// <summary>The batches.</summary>
    public ReadOnlySpan<byte> Span => Memory.Span;

    /// <summary>Bytes.</summary>
    public int Length => Memory.Length;
}
