namespace LightQ.Storage.State;

/// <summary>A small durable log of opaque records, for the broker's own state: replayed at open, compacted by writing a new file.</summary>
public sealed class RecordJournal : IDisposable
{
    /// <summary>Opens or makes the journal of a directory.</summary>
    /// <param name="directory">Its directory.</param>
    /// <param name="environment">Whose file system it uses.</param>
    /// <param name="replay">Gets every record, oldest first.</param>
    /// <exception cref="JournalCorruptException">Records that had been durable are damaged.</exception>
    public static RecordJournal Open(string directory, JournalEnvironment environment, RecordReplay replay) => throw new NotImplementedException();

    /// <summary>Bytes of all records since the last compaction.</summary>
    public long Bytes => throw new NotImplementedException();

    /// <summary>Appends a record and returns when it is on the disk. Thread-safe.</summary>
    public void Append(ReadOnlySpan<byte> record) => throw new NotImplementedException();

    /// <summary>Replaces everything by these records: all or nothing, whatever happens.</summary>
    public void Compact(IEnumerable<ReadOnlyMemory<byte>> records) => throw new NotImplementedException();

    /// <summary>Closes the file.</summary>
    public void Dispose() => throw new NotImplementedException();
}
