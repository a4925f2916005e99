using System.Buffers;

namespace LightQ.Storage.Spilling;

/// <summary>Pooled memory for copies of runs, bounded for all that take from it. Thread-safe; never waits.</summary>
/// <param name="maxBytes">Most bytes lent at a time.</param>
public sealed class RunMemory(long maxBytes)
{
    private long _used;

    /// <summary>Bytes lent now.</summary>
    public long Used => Volatile.Read(ref _used);

    /// <summary>Lends at least <paramref name="length"/> bytes.</summary>
    /// <returns>Null when that would pass the bound.</returns>
    public byte[]? TryRent(int length)
    {
        if (Used + length > maxBytes)
            return null;
        byte[] buffer = ArrayPool<byte>.Shared.Rent(length);
        if (Interlocked.Add(ref _used, buffer.Length) <= maxBytes)
            return buffer;
        Return(buffer);
        return null;
    }

    /// <summary>Takes back what was lent.</summary>
    public void Return(byte[] buffer)
    {
        Interlocked.Add(ref _used, -buffer.Length);
        ArrayPool<byte>.Shared.Return(buffer);
    }
}
