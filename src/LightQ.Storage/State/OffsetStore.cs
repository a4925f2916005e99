namespace LightQ.Storage.State;

/// <summary>Positions of consumer groups: kept in memory, logged in the background, the last value wins. Thread-safe.</summary>
public sealed class OffsetStore : IDisposable
{
    /// <summary>Opens or makes the store in a directory.</summary>
    public static OffsetStore Open(string directory, JournalEnvironment environment) => throw new NotImplementedException();

    /// <summary>Sets a position. Never touches the disk; the environment's housekeeping writes what changed.</summary>
    /// <param name="key">Whose.</param>
    /// <param name="offset">The next offset to deliver.</param>
    /// <param name="state">What else belongs to it, opaque; for example what was settled beyond the offset.</param>
    public void Set(in OffsetKey key, long offset, ReadOnlySpan<byte> state = default) => throw new NotImplementedException();

    /// <summary>Gets a position.</summary>
    public bool TryGet(in OffsetKey key, out long offset, out ReadOnlyMemory<byte> state) => throw new NotImplementedException();

    /// <summary>Forgets a position.</summary>
    public bool Remove(in OffsetKey key) => throw new NotImplementedException();

    /// <summary>All keys now.</summary>
    public IReadOnlyList<OffsetKey> Keys => throw new NotImplementedException();

    /// <summary>Writes what changed and returns when it is on the disk.</summary>
    public void Flush() => throw new NotImplementedException();

    /// <summary>Flushes and closes.</summary>
    public void Dispose() => throw new NotImplementedException();
}
