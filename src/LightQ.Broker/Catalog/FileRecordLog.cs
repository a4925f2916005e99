using LightQ.Scheduling;
using LightQ.Storage;
using LightQ.Storage.State;

namespace LightQ.Broker.Catalog;

/// <summary>The records of one broker's catalog: a small journal, replayed at start.</summary>
/// <remarks>
/// Every change is on disk before the call returns. One that the disk refuses does not count, unless it takes something
/// away; and what is on the disk then is made good by writing everything that counts into a new file, again and again
/// until that works. Thread-safe; calls block on the disk.
/// </remarks>
internal sealed class FileRecordLog : IRecordLog, IHousekept
{
    private static readonly TimeSpan RetryAfter = TimeSpan.FromMilliseconds(500);

    private readonly CatalogTables _tables;
    private readonly JournalEnvironment _environment;
    private readonly Action<JournalFailure?> _failureChanged;
    private readonly RecordJournal _journal;
    private volatile JournalFailure? _failure;
    private bool _disposed;
    private long _compactAt;

    /// <param name="directory">Where it is.</param>
    /// <param name="environment">Whose files and housekeeping it uses.</param>
    /// <param name="tables">Get every record.</param>
    /// <param name="failureChanged">
    /// Called when <see cref="Failure"/> begins, and with null when it is over; the tables are locked.
    /// </param>
    /// <param name="compactBytes">
    /// The journal is written anew when it is this large, and later whenever it has doubled since: by then half of it
    /// is history.
    /// </param>
    public FileRecordLog(
        string directory,
        JournalEnvironment environment,
        CatalogTables tables,
        Action<JournalFailure?> failureChanged,
        long compactBytes
    )
    {
        _tables = tables;
        _environment = environment;
        _failureChanged = failureChanged;
        _compactAt = compactBytes;
        _journal = RecordJournal.Open(
            directory,
            environment,
            bytes => tables.Apply(CatalogRecord.Read(bytes), isLocal: true)
        );
        CompactIfLong();
    }

    /// <summary>Bytes of the journal.</summary>
    public long Bytes => _journal.Bytes;

    /// <inheritdoc cref="RecordJournal.Rebuilt"/>
    public string? Rebuilt => _journal.Rebuilt;

    /// <inheritdoc/>
    public bool IsShared => false;

    /// <inheritdoc/>
    public ulong Applied => 0;

    /// <inheritdoc/>
    public JournalFailure? Failure => _failure;

    /// <inheritdoc/>
    public bool Change(Func<IReadOnlyList<CatalogRecord>> make, bool takesAway, Action? applied = null)
    {
        lock (_tables.Lock)
        {
            IReadOnlyList<CatalogRecord> records = make();
            foreach (CatalogRecord record in records)
                Store(record, takesAway);
            if (records.Count != 0)
                applied?.Invoke();
            return records.Count != 0;
        }
    }

    /// <inheritdoc/>
    public ValueTask<bool> ChangeAsync(
        Func<IReadOnlyList<CatalogRecord>> make,
        bool takesAway,
        Action? applied = null
    ) => ValueTask.FromResult(Change(make, takesAway, applied));

    /// <inheritdoc/>
    public void CatchUp()
    {
        // Nobody else writes it.
    }

    /// <inheritdoc/>
    public Task CatchUpAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <inheritdoc/>
    public void Follow(Action news)
    {
        // Nobody else writes it.
    }

    /// <inheritdoc/>
    public ValueTask StopFollowingAsync() => ValueTask.CompletedTask;

    /// <summary>Closes it.</summary>
    /// <exception cref="IOException">What counts could not be stored to the end.</exception>
    public void Dispose()
    {
        _environment.EndHousekeeping(this);
        lock (_tables.Lock)
        {
            _disposed = true;
            try
            {
                if (_failure is not null)
                    WriteAnew(_tables.Live());
            }
            finally
            {
                _journal.Dispose();
            }
        }
    }

    TimeSpan? IHousekept.Look(DateTimeOffset now)
    {
        lock (_tables.Lock)
        {
            if (_disposed || _failure is null)
                return null;
            try
            {
                WriteAnew(_tables.Live());
                return null;
            }
            catch (Exception error) when (error is IOException or UnauthorizedAccessException)
            {
                SetFailure(error);
                return RetryAfter;
            }
        }
    }

    private void Store(CatalogRecord record, bool takesAway)
    {
        try
        {
            Write(record);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            bool isUncertain = _journal.HasFailed;
            if (takesAway || isUncertain)
                SetFailure(error);
            if (!takesAway)
                throw UnstoredException.Refused(error, isUncertain);
            _tables.Apply(record, isLocal: true);
            throw UnstoredException.InForce(error);
        }
        _tables.Apply(record, isLocal: true);
    }

    /// <summary>
    /// Puts a record on the disk: behind the others, or in a new file with everything that counts, when the old one
    /// lacks something or may hold too much.
    /// </summary>
    private void Write(CatalogRecord record)
    {
        if (_failure is null)
        {
            try
            {
                CompactIfLong(); // Before the append: the change does not count yet.
                _journal.Append(record.Write());
                return;
            }
            catch (IOException error) when (_journal.HasFailed)
            {
                SetFailure(error); // The new file below ends the failure.
            }
        }
        WriteAnew(_tables.Live().Append(record));
    }

    private void WriteAnew(IEnumerable<CatalogRecord> records)
    {
        _journal.Compact(records.Select(r => (ReadOnlyMemory<byte>)r.Write()));
        SetFailure(null);
    }

    private void SetFailure(Exception? error)
    {
        JournalFailure? before = _failure;
        _failure = error is null ? null : JournalFailure.Of("storing the catalog", error);
        if ((_failure is null) != (before is null)) // Report its begin and its end only.
            _failureChanged(_failure);
        if (_failure is not null && !_disposed)
            _environment.RequestHousekeeping(this, RetryAfter);
    }

    private void CompactIfLong()
    {
        if (_journal.Bytes <= _compactAt)
            return;
        // On a full disk a topic can be deleted to make space.
        _ = _journal.TryCompact(_tables.Live().Select(r => (ReadOnlyMemory<byte>)r.Write()));
        _compactAt = Math.Max(_compactAt, 2 * _journal.Bytes);
    }
}
