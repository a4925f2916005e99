namespace LightQ.Storage;

/// <summary>A durable log of batches: appended through a ring, written and synced in groups, read in place.</summary>
public sealed class Journal : IAsyncDisposable
{
    private Journal(JournalOptions options) => Options = options;

    /// <summary>The settings.</summary>
    public JournalOptions Options { get; }

    /// <summary>Told about progress.</summary>
    public IJournalListener? Listener { get; set; }

    /// <summary>True: the listener is also told when bytes are written, not only when they are durable.</summary>
    public bool NotifyWritten { get; set; }

    /// <summary>The first offset that can be read.</summary>
    public long StartOffset => throw new NotImplementedException();

    /// <summary>The offset that the next message gets.</summary>
    public long EndOffset => throw new NotImplementedException();

    /// <summary>Below it, messages are in the page cache.</summary>
    public long WrittenOffset => throw new NotImplementedException();

    /// <summary>Below it, messages are on the disk.</summary>
    public long DurableOffset => throw new NotImplementedException();

    /// <summary>Below it, messages can be read.</summary>
    public long ReadableOffset => throw new NotImplementedException();

    /// <summary>Log position below which bytes are in the page cache; compares with what <see cref="TryAppend"/> gave.</summary>
    public long WrittenPosition => throw new NotImplementedException();

    /// <summary>Log position below which bytes are on the disk; compares with what <see cref="TryAppend"/> gave.</summary>
    public long DurablePosition => throw new NotImplementedException();

    /// <summary>Rises on every start after an unclean stop.</summary>
    public uint LeaderEpoch => throw new NotImplementedException();

    /// <summary>Which life of the topic this is.</summary>
    public ulong Incarnation => Options.Incarnation;

    /// <summary>Bytes of batches between start and end.</summary>
    public long StoredBytes => throw new NotImplementedException();

    /// <summary>Whether appending is refused for want of disk space.</summary>
    public bool DiskFull => throw new NotImplementedException();

    /// <summary>Why the journal stopped for good; null while it works.</summary>
    public JournalFailure? Failure => throw new NotImplementedException();

    /// <summary>Makes or recovers the journal in a directory.</summary>
    public static Journal Open(JournalOptions options, JournalEnvironment environment, IRecoveredBatchVisitor? visitor = null) =>
        throw new NotImplementedException(new Journal(options).Options.Directory);

    /// <summary>Copies a producer's batch into the ring and stamps it. Never blocks.</summary>
    public AppendResult TryAppend(ReadOnlySpan<byte> batch, out long baseOffset, out long logPosition) =>
        throw new NotImplementedException();

    /// <summary>Wakes the writer: once after all the batches of a receive.</summary>
    public void Signal() => throw new NotImplementedException();

    /// <summary>Makes offsets below a point unreadable and removes the files that are no longer needed.</summary>
    public void TruncateBefore(long offset) => throw new NotImplementedException();

    /// <summary>Changes how much is kept; null is no limit.</summary>
    public void SetRetention(long? bytes, TimeSpan? age) => throw new NotImplementedException();

    /// <summary>Gives the ring's memory back when it is empty. Call it under the append lock.</summary>
    public bool TryReleaseMemory() => throw new NotImplementedException();

    /// <summary>Drains, syncs and closes; the next start scans nothing.</summary>
    public Task CloseAsync() => throw new NotImplementedException();

    /// <summary>Stops at once and removes the journal's files.</summary>
    public Task DeleteAsync() => throw new NotImplementedException();

    /// <summary>As <see cref="CloseAsync"/>.</summary>
    public ValueTask DisposeAsync() => new(CloseAsync());
}
