using System.Buffers.Binary;

namespace LightQ.Protocol.Batches;

/// <summary>When a batch's messages are delivered and when they are of no use any more, in unix microseconds. <c>default</c>: at once, and never.</summary>
/// <param name="DueAt">When they are due; 0 for at once.</param>
/// <param name="ExpiresAt">When they expire; 0 for never.</param>
public readonly record struct BatchTiming(long DueAt, long ExpiresAt)
{
    /// <summary>Bytes of a header that says so.</summary>
    public int HeaderLength => BatchLayout.HeaderSize + (DueAt != 0 ? BatchExtension.Size : 0) + (ExpiresAt != 0 ? BatchExtension.Size : 0);

    internal uint Flags => (DueAt != 0 ? BatchLayout.HasDueTime : 0) | (ExpiresAt != 0 ? BatchLayout.HasExpiry : 0);

    internal void Write(Span<byte> extensions)
    {
        if (DueAt != 0)
        {
            Write(extensions, BatchExtension.DueTime, DueAt);
            extensions = extensions[BatchExtension.Size..];
        }
        if (ExpiresAt != 0)
            Write(extensions, BatchExtension.Expiry, ExpiresAt);
    }

    internal static void Write(Span<byte> extension, byte id, long value)
    {
        (extension[0], extension[1]) = (id, sizeof(long));
        BinaryPrimitives.WriteInt64LittleEndian(extension[2..], value);
    }
}
