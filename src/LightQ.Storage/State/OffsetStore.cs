using LightQ.Scheduling;
using LightQ.Storage.Files;

namespace LightQ.Storage.State;

/// <summary>Positions of consumer groups: kept in memory, logged in the background, the last value wins.</summary>
/// <remarks>
/// Thread-safe. <see cref="Set"/> never touches the disk: a position that moves a thousand times between two flushes is
/// logged once.
/// </remarks>
/// <example>
/// <code>
/// using OffsetStore offsets = OffsetStore.Open(path, environment);
/// offsets.Set(new OffsetKey("billing", topicId, 0), offset: 42);
/// offsets.Flush();                // or leave it to housekeeping
/// </code>
/// </example>
public sealed class OffsetStore : IDisposable, IHousekept
{
    private const int RecordBytes = 256 * 1024;
    private const int CompactAtLeast = 1 << 20;
    private const int CompactFactor = 8;

    private static readonly TimeSpan RetryAfter = TimeSpan.FromMilliseconds(500);

    private readonly JournalEnvironment _environment;
    private readonly RecordJournal _journal;
    private readonly Action<JournalFailure?> _failureChanged;
    private readonly Lock _lock = new();
    private readonly Lock _flushLock = new();
    private readonly Dictionary<OffsetKey, Position> _positions;
    private HashSet<OffsetKey> _changed = [];
    private HashSet<OffsetKey> _flushing = [];

    /// <summary>Removed, and a start may still find them.</summary>
    private readonly HashSet<OffsetKey> _forgotten = [];
    private long _liveBytes;
    private byte[] _record = new byte[4096];
    private volatile JournalFailure? _failure;
    private volatile bool _disposed;

    private OffsetStore(
        JournalEnvironment environment,
        RecordJournal journal,
        Dictionary<OffsetKey, Position> positions,
        Action<JournalFailure?> failureChanged
    )
    {
        _failureChanged = failureChanged;
        _environment = environment;
        _journal = journal;
        _positions = positions;
        foreach ((OffsetKey key, Position position) in positions)
            _liveBytes += OffsetEntry.SizeOf(key, position.State.Length);
    }

    /// <summary>All keys now.</summary>
    public IReadOnlyList<OffsetKey> Keys
    {
        get
        {
            lock (_lock)
                return [.. _positions.Keys];
        }
    }

    /// <summary>How many there are.</summary>
    public int Count
    {
        get
        {
            lock (_lock)
                return _positions.Count;
        }
    }

    /// <summary>
    /// Why the positions on the disk stay behind those here; null while they follow. It is tried again all the time.
    /// </summary>
    public JournalFailure? Failure => _failure;

    /// <summary>Whether there was none, and this one has begun without positions.</summary>
    public bool IsNew => _journal.IsNew;

    /// <inheritdoc cref="RecordJournal.Rebuilt"/>
    public string? Rebuilt => _journal.Rebuilt;

    /// <summary>Opens or makes the store in a directory.</summary>
    /// <param name="directory">Its directory, its own.</param>
    /// <param name="environment">Whose file system and housekeeping it uses.</param>
    /// <param name="failureChanged">
    /// Called when <see cref="Failure"/> begins, and with null when it is over. Must not block, and must not throw.
    /// </param>
    /// <exception cref="JournalCorruptException">Positions that had been durable are damaged.</exception>
    public static OffsetStore Open(
        string directory,
        JournalEnvironment environment,
        Action<JournalFailure?>? failureChanged = null
    )
    {
        ArgumentNullException.ThrowIfNull(environment);
        var positions = new Dictionary<OffsetKey, Position>();
        RecordJournal journal = RecordJournal.Open(
            directory,
            environment,
            record =>
            {
                while (record.Length > 0)
                {
                    (OffsetKey key, long offset, byte[] state) = OffsetEntry.Read(ref record);
                    if (offset < 0)
                    {
                        positions.Remove(key);
                    }
                    else
                    {
                        positions[key] = new Position
                        {
                            Offset = offset,
                            State = state,
                            Kept = offset,
                        }; // Opening syncs what it finds.
                    }
                }
            }
        );
        var store = new OffsetStore(environment, journal, positions, failureChanged ?? (static _ => { }));
        store.CompactIfLong(CompactFactor / 2);
        return store;
    }

    /// <summary>Sets a position. Never touches the disk.</summary>
    /// <param name="key">The group and partition.</param>
    /// <param name="offset">The next offset to deliver.</param>
    /// <param name="state">What else belongs to it, opaque; for example what was settled beyond the offset.</param>
    public void Set(in OffsetKey key, long offset, ReadOnlySpan<byte> state = default)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        lock (_lock)
        {
            if (!_positions.TryGetValue(key, out Position? position))
            {
                _positions[key] = position = new Position();
                _liveBytes += OffsetEntry.SizeOf(key, 0);
            }
            position.Offset = offset;
            if (!state.SequenceEqual(position.State))
            {
                _liveBytes += state.Length - position.State.Length;
                position.State = state.ToArray();
            }
            NoteChange(key);
        }
    }

    /// <summary>Gets a position.</summary>
    public bool TryGet(in OffsetKey key, out long offset, out ReadOnlyMemory<byte> state)
    {
        lock (_lock)
        {
            bool found = _positions.TryGetValue(key, out Position? position);
            offset = position?.Offset ?? -1;
            state = position?.State ?? [];
            return found;
        }
    }

    /// <summary>
    /// Gets the lowest position that a start would find, whatever ends the process or the machine now.
    /// </summary>
    /// <param name="key">The group and partition.</param>
    /// <param name="offset">The position; -1 when a start may find none.</param>
    /// <returns>Whether one is certain to be found.</returns>
    public bool TryGetKept(in OffsetKey key, out long offset)
    {
        lock (_lock)
        {
            offset = -1;
            if (_positions.TryGetValue(key, out Position? position))
                offset = Mutation.UnsyncedPosition ? position.Offset : position.Kept;
            return offset >= 0;
        }
    }

    /// <summary>Whether a start may find a position of a topic that was removed.</summary>
    public bool IsForgetting(Guid topicId)
    {
        lock (_lock)
            return _forgotten.Count != 0 && _forgotten.Any(key => key.TopicId == topicId);
    }

    /// <summary>Forgets a position.</summary>
    public bool Remove(in OffsetKey key)
    {
        lock (_lock)
        {
            if (!_positions.Remove(key, out Position? position))
                return false;
            _forgotten.Add(key);
            _liveBytes -= OffsetEntry.SizeOf(key, position.State.Length);
            NoteChange(key);
            return true;
        }
    }

    /// <summary>A position as a record of such a journal.</summary>
    public static ReadOnlyMemory<byte> Encode(in OffsetKey key, long offset, ReadOnlySpan<byte> state)
    {
        byte[] entry = new byte[OffsetEntry.SizeOf(key, state.Length)];
        OffsetEntry.Write(entry, key, offset, state);
        return entry;
    }

    /// <summary>All positions now, as the records of a journal that holds nothing else.</summary>
    public IReadOnlyList<(OffsetKey Key, ReadOnlyMemory<byte> Record)> Capture()
    {
        var records = new List<(OffsetKey, ReadOnlyMemory<byte>)>();
        lock (_lock)
        {
            foreach ((OffsetKey key, Position position) in _positions)
            {
                records.Add((key, Encode(key, position.Offset, position.State)));
            }
        }
        return records;
    }

    /// <summary>Writes what changed and returns when it is on the disk.</summary>
    /// <exception cref="IOException">The disk refuses. Positions stay in memory, and it is tried again.</exception>
    public void Flush()
    {
        lock (_flushLock)
        {
            lock (_lock)
            {
                if (_changed.Count == 0 && _failure is null)
                    return;
                (_changed, _flushing) = (_flushing, _changed);
            }
            try
            {
                Store();
                NoteKept(_flushing);
                CompactIfLong(CompactFactor);
                if (_failure is not null)
                    SetFailure(null);
            }
            catch (Exception error) when (error is IOException or UnauthorizedAccessException)
            {
                lock (_lock)
                    _changed.UnionWith(_flushing);
                SetFailure(JournalFailure.Of("storing the positions of groups", error));
                _environment.Housekeeping.Request(this, RetryAfter);
                throw;
            }
            finally
            {
                _flushing.Clear();
            }
        }
    }

    /// <summary>Flushes and closes.</summary>
    /// <exception cref="IOException">The disk refuses; it is closed all the same.</exception>
    public void Dispose()
    {
        if (_disposed)
            return;
        _disposed = true;
        _environment.Housekeeping.Remove(this);
        lock (_flushLock)
        {
            try
            {
                Flush();
            }
            finally
            {
                _journal.Dispose();
            }
        }
    }

    TimeSpan? IHousekept.Look(DateTimeOffset now)
    {
        if (_disposed)
            return null;
        try
        {
            Flush();
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            // SetFailure reported it; housekeeping tries again.
        }
        catch (ObjectDisposedException) when (_disposed)
        {
            // Disposed between the check and the flush, by the thread that flushed last.
        }
        return null;
    }

    private void SetFailure(JournalFailure? failure)
    {
        bool isNews = (_failure is null) != (failure is null); // Not another error of the same trouble.
        _failure = failure;
        if (isNews)
            _failureChanged(failure);
    }

    /// <summary>Logs what is flushed; all positions, in a new file, when the one before cannot be trusted.</summary>
    private void Store()
    {
        if (!_journal.HasFailed)
        {
            try
            {
                WriteFlushing();
                return;
            }
            catch (IOException error) when (_journal.HasFailed && !Mutation.NoNewFile)
            {
                // The new file below ends the failure.
                SetFailure(JournalFailure.Of("storing the positions of groups", error));
            }
        }
        else if (Mutation.NoNewFile)
        {
            return;
        }
        Compact();
    }

    private void NoteChange(in OffsetKey key)
    {
        if (_changed.Count == 0)
            _environment.Housekeeping.Request(this, TimeSpan.Zero);
        _changed.Add(key);
    }

    private void WriteFlushing()
    {
        int length = 0;
        foreach (OffsetKey key in _flushing)
        {
            length = Encode(key, length);
            if (length < RecordBytes)
                continue;
            _journal.Write(_record.AsSpan(0, length));
            length = 0;
        }
        if (length > 0)
            _journal.Write(_record.AsSpan(0, length));
        _journal.Sync();
    }

    private int Encode(in OffsetKey key, int at)
    {
        lock (_lock)
        {
            bool found = _positions.TryGetValue(key, out Position? position);
            position?.Encode();
            byte[] state = position?.State ?? [];
            int size = OffsetEntry.SizeOf(key, state.Length);
            if (at + size > _record.Length)
                Array.Resize(ref _record, (at + size) * 2);
            return at + OffsetEntry.Write(_record.AsSpan(at), key, found ? position!.Offset : -1, state);
        }
    }

    private void CompactIfLong(int factor)
    {
        lock (_lock)
        {
            if (_journal.Bytes < Math.Max(CompactAtLeast, _liveBytes * factor))
                return;
        }
        Compact();
    }

    private void Compact()
    {
        IReadOnlyList<(OffsetKey Key, ReadOnlyMemory<byte> Record)> all;
        lock (_lock)
        {
            all = Capture();
            foreach (Position position in _positions.Values)
                position.Encode();
        }
        _journal.Compact(all.Select(position => position.Record));
        NoteKept(all.Select(position => position.Key));
    }

    /// <summary>What was encoded of these keys is what a start finds.</summary>
    private void NoteKept(IEnumerable<OffsetKey> keys)
    {
        lock (_lock)
        {
            foreach (OffsetKey key in keys)
            {
                if (_positions.TryGetValue(key, out Position? position))
                    position.Kept = position.Encoded;
            }
            // A removal that came after its record was written is stored once more.
            _forgotten.RemoveWhere(key => !_changed.Contains(key));
        }
    }

    private sealed class Position
    {
        public long Offset { get; set; }

        public byte[] State { get; set; } = [];

        /// <summary>What was last encoded to be stored; -1 for nothing.</summary>
        public long Encoded { get; private set; } = -1;

        /// <summary>The lowest that a start may find; -1 when it may find none.</summary>
        public long Kept { get; set; } = -1;

        /// <summary>It is about to be stored: from now on a start may find it.</summary>
        public void Encode()
        {
            Encoded = Offset;
            Kept = Math.Min(Kept, Offset);
        }
    }
}
