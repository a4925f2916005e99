namespace LightQ.Storage.Spilling;

/// <summary>
/// One run of a <see cref="SpillQueue"/>, in memory or in a file. Guarded by the queue's lock, but for where it lies,
/// which is the spill thread's.
/// </summary>
internal sealed class SpilledRun(byte[] buffer, int length, long firstOffset, long nextOffset)
{
    /// <summary>Bytes.</summary>
    public int Length { get; } = length;

    /// <summary>Offset of the first message.</summary>
    public long FirstOffset { get; } = firstOffset;

    /// <summary>One behind the offset of the last message.</summary>
    public long NextOffset { get; } = nextOffset;

    /// <summary>The bytes; null while they are in the file alone.</summary>
    public byte[]? Buffer { get; set; } = buffer;

    /// <summary>
    /// Whether the buffer was filled from the file, and so is outside the bound of what the disk has not taken.
    /// </summary>
    public bool IsReadBack { get; set; }

    /// <summary>Whether the file did not give back what was written to it.</summary>
    public bool IsLost { get; set; }

    /// <summary>Whether the spill thread uses the buffer now.</summary>
    public bool IsWriting { get; set; }

    /// <summary>Whether the reader no longer needs the buffer.</summary>
    public bool IsTaken { get; set; }

    /// <summary>The file, once it was written.</summary>
    public SpillFile? File { get; set; }

    /// <summary>Where in it.</summary>
    public long Position { get; set; }

    /// <summary>CRC-32C of the bytes as they were written.</summary>
    public uint Crc { get; set; }

    /// <summary>The bytes.</summary>
    public ReadOnlyMemory<byte> Memory => Buffer.AsMemory(0, Length);
}
