using System.Buffers.Binary;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Records;
using LightQ.Storage.Files;
using LightQ.Storage.Recovery;
using LightQ.Storage.Segments;

namespace LightQ.Storage.State;

/// <summary>
/// A small durable log of opaque records, for the broker's own state: replayed at open, compacted by writing a new
/// file.
/// </summary>
/// <remarks>
/// The file is a segment like a topic's, named by its generation; every record is a batch of one. A new generation is
/// complete and synced before it gets its name, so that either the old one or the new one is there, whole. Where it
/// ends is noted in a file beside its directory, see <see cref="RecordEnd"/>. Thread-safe; calls block on the disk.
/// </remarks>
/// <example>
/// <code>
/// using RecordJournal catalog = RecordJournal.Open(path, environment, record => apply(record));
/// catalog.Append(change);         // on the disk when it returns
/// catalog.Compact(snapshot);
/// </code>
/// </example>
public sealed class RecordJournal : IDisposable
{
    /// <summary>The name of a new journal's file.</summary>
    public static readonly string FirstFileName = SegmentName.Of(1, SegmentName.Log);

    private const int FirstBytes = 64 * 1024;
    private const int ScanBytes = 64 * 1024;
    private const int MaxRecordBytes = 64 * 1024 * 1024;

    private readonly string _directory;
    private readonly IFileSystem _files;
    private readonly Lock _lock = new();
    private readonly RecordEndFile _noted;
    private Segment _segment;
    private LogEnd _end;
    private long _durableOffset;
    private long _fileBytes;
    private byte[] _batch = new byte[4096];
    private Exception? _failure;
    private bool _marked;
    private bool _disposed;

    private RecordJournal(string directory, IFileSystem files, RecordEndFile noted, Segment segment, LogEnd end)
    {
        _directory = directory;
        _files = files;
        _noted = noted;
        _segment = segment;
        _end = end;
        _durableOffset = end.Offset;
        _fileBytes = segment.FileBytes;
    }

    /// <summary>
    /// Whether something could not be put on the disk that a start may find or may not: until <see cref="Compact"/> has
    /// made it good, nothing can be appended.
    /// </summary>
    public bool HasFailed
    {
        get
        {
            lock (_lock)
                return _failure is not null;
        }
    }

    /// <summary>Bytes of all records since the last compaction, with their headers.</summary>
    public long Bytes
    {
        get
        {
            lock (_lock)
                return _end.Position - _segment.BasePosition;
        }
    }

    /// <summary>Whether there was none, and this one has begun without records.</summary>
    public bool IsNew { get; private init; }

    /// <summary>
    /// What opening it has made anew because it was not as it had been left, for people; null for nothing.
    /// </summary>
    public string? Rebuilt { get; private init; }

    /// <summary>Opens or makes the journal of a directory.</summary>
    /// <param name="directory">Its directory, its own.</param>
    /// <param name="environment">Whose file system it uses.</param>
    /// <param name="replay">Gets every record, oldest first, before this returns.</param>
    /// <exception cref="JournalCorruptException">Records that had been durable are damaged or missing.</exception>
    public static RecordJournal Open(string directory, JournalEnvironment environment, RecordReplay replay)
    {
        ArgumentException.ThrowIfNullOrEmpty(directory);
        ArgumentNullException.ThrowIfNull(environment);
        ArgumentNullException.ThrowIfNull(replay);
        IFileSystem files = environment.Files;
        files.CreateDirectory(directory);
        var shape = new JournalOptions { Directory = directory, TopicId = Guid.Empty };
        (List<Segment> generations, List<long> blank) = SegmentFiles.Find(shape, files);
        if (blank.Count > 0)
        {
            throw new JournalCorruptException(
                directory,
                SegmentName.Of(blank[0], SegmentName.Log),
                0,
                0,
                0,
                "the header page is not valid"
            );
        }

        var noted = new RecordEndFile(files, directory);
        if (generations.Count == 0)
        {
            if (noted.Last?.FindLoss(null, null) is { } loss)
                throw Gone(directory, noted.Last.Value, loss);
            LogEnd empty = default;
            Segment made = Make(files, directory, 1, ref empty, FirstBytes, []);
            files.SyncDirectory(directory);
            return new RecordJournal(directory, files, noted, made, empty) { IsNew = true }.NoteEnd();
        }
        Segment newest = generations[^1];
        newest.EndPosition = newest.Limit;
        List<ReadOnlyMemory<byte>>? keyless = newest.Header.Key.IsNone ? [] : null;
        try
        {
            LogEnd end = Replay(
                directory,
                newest,
                keyless is null
                    ? replay
                    : record =>
                    {
                        replay(record);
                        keyless.Add(record.ToArray());
                    },
                noted.Last
            );
            // A process killed after the rename may have left a name that is not on the disk.
            files.SyncDirectory(directory);
            foreach (Segment old in generations[..^1])
                files.Delete(old.Path);
            RecordJournal journal = new RecordJournal(directory, files, noted, newest, end)
            {
                Rebuilt = RecordEnd.FindLack(directory, noted.Last, end.Offset),
            }.NoteEnd();
            if (keyless is not null)
                // An older version wrote it. With a full disk the next start does this.
                _ = journal.TryCompact(keyless);
            return journal;
        }
        catch
        {
            newest.Retire();
            throw;
        }
    }

    /// <summary>
    /// The content of the file <see cref="FirstFileName"/> of a journal with these records that was closed.
    /// </summary>
    public static byte[] EncodeFile(IEnumerable<ReadOnlyMemory<byte>> records)
    {
        ArgumentNullException.ThrowIfNull(records);
        using var content = new MemoryStream();
        byte[] page = new byte[SegmentHeader.PageSize];
        SegmentHeader header = HeaderOf(1, default);
        var end = new LogEnd(0, 0, 0, 1, header.Write(page));
        content.Write(page);
        byte[] batch = new byte[4096];
        foreach (ReadOnlyMemory<byte> record in records)
            content.Write(batch, 0, Encode(header, end, out end, ref batch, 0, record.Span, BatchKind.Data));
        if (end.Offset != 0)
            content.Write(batch, 0, Encode(header, end, out end, ref batch, end.Offset, [], BatchKind.Control));
        return content.ToArray();
    }

    /// <summary>Appends a record and returns when it is on the disk.</summary>
    /// <exception cref="IOException">
    /// It may or may not be stored, if the journal <see cref="HasFailed"/> now; otherwise it is not.
    /// </exception>
    public void Append(ReadOnlySpan<byte> record)
    {
        lock (_lock)
        {
            WriteRecord(record);
            SyncRecords();
        }
    }

    /// <summary>
    /// Appends a record without waiting for the disk; <see cref="Sync"/> or the next <see cref="Append"/> makes it
    /// durable.
    /// </summary>
    /// <exception cref="IOException">As with <see cref="Append"/>.</exception>
    public void Write(ReadOnlySpan<byte> record)
    {
        lock (_lock)
            WriteRecord(record);
    }

    /// <summary>Returns when everything written is on the disk.</summary>
    /// <exception cref="IOException">As with <see cref="Append"/>.</exception>
    public void Sync()
    {
        lock (_lock)
            SyncRecords();
    }

    /// <summary>
    /// Replaces everything by these records, in a new file: all or nothing, whatever happens. What had failed before is
    /// over then.
    /// </summary>
    /// <exception cref="IOException">
    /// The old records stay; if the journal <see cref="HasFailed"/> now, a start may find the new ones. If it had
    /// failed before, it has still.
    /// </exception>
    public void Compact(IEnumerable<ReadOnlyMemory<byte>> records)
    {
        ArgumentNullException.ThrowIfNull(records);
        lock (_lock)
        {
            ObjectDisposedException.ThrowIf(_disposed, this);
            LogEnd end = _end;
            Segment next = MakeNext(ref end, records);
            Segment old = _segment;
            _segment = next;
            _end = end;
            _durableOffset = end.Offset;
            _fileBytes = next.File.Length;
            _failure = null;
            old.Retire();
            MakeSoleGeneration(old.Path);
            NoteEnd();
        }
    }

    private Segment MakeNext(ref LogEnd end, IEnumerable<ReadOnlyMemory<byte>> records)
    {
        long generation = _segment.Header.Ordinal + 1;
        try
        {
            return Make(_files, _directory, generation, ref end, FirstBytes, records);
        }
        catch (IOException error)
        {
            // If it kept its name, it would count at the next start instead of what is appended to this one.
            if (_files.Exists(PathOf(_directory, generation)))
                _failure ??= error;
            throw;
        }
    }

    /// <summary>Puts the name of a new generation on the disk, and removes the one before.</summary>
    /// <exception cref="IOException">A power cut may leave either of them: nothing is appended to either.</exception>
    private void MakeSoleGeneration(string before)
    {
        try
        {
            _files.SyncDirectory(_directory);
        }
        catch (IOException error)
        {
            _failure = Mutation.UnsyncedName ? null : error;
            throw;
        }
        try
        {
            _files.Delete(before);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            // The newest generation counts; the next start removes those before it.
        }
    }

    /// <summary>Like <see cref="Compact"/>, for whom history merely costs space.</summary>
    /// <returns>
    /// False if the disk is full or the process has no descriptor left: the old records stay, and more can be appended
    /// to them.
    /// </returns>
    /// <exception cref="IOException">Another failure; the old records stay.</exception>
    public bool TryCompact(IEnumerable<ReadOnlyMemory<byte>> records)
    {
        try
        {
            Compact(records);
            return true;
        }
        catch (IOException error)
            when (StorageIOException.IsDiskFull(error) || error is StorageIOException { IsOutOfDescriptors: true })
        {
            return false;
        }
    }

    /// <summary>Syncs and closes the file.</summary>
    public void Dispose()
    {
        lock (_lock)
        {
            if (_disposed)
                return;
            try
            {
                if (_failure is null)
                {
                    SyncRecords();
                    MarkEnd();
                    _noted.Sync();
                }
            }
            finally
            {
                _disposed = true;
                _noted.Dispose();
                _segment.Retire();
            }
        }
    }

    /// <summary>
    /// Puts a batch without records behind the last record: if that is ever damaged, the mark shows that it had been
    /// durable.
    /// </summary>
    private void MarkEnd()
    {
        bool fits = _segment.FilePosition(_end.Position) + BatchLayout.HeaderSize <= _fileBytes;
        if (_marked || _end.Offset == _segment.BaseOffset || !fits)
            return;
        try
        {
            Put(_segment, ref _end, ref _fileBytes, ref _batch, _durableOffset, record: [], BatchKind.Control);
            SyncRecords();
        }
        catch (IOException error)
        {
            _failure = error; // Every record is on the disk already.
        }
    }

    private void WriteRecord(ReadOnlySpan<byte> record)
    {
        ThrowIfUnusable();
        try
        {
            Put(_segment, ref _end, ref _fileBytes, ref _batch, _durableOffset, record);
            _marked = false;
        }
        catch (IOException error) when (!StorageIOException.IsDiskFull(error))
        {
            _failure = error;
            throw;
        }
    }

    private void SyncRecords()
    {
        ThrowIfUnusable();
        if (_durableOffset == _end.Offset)
            return;
        try
        {
            _segment.File.Sync();
            _durableOffset = _end.Offset;
        }
        catch (IOException error)
        {
            _failure = error;
            throw;
        }
        NoteEnd();
    }

    /// <summary>Notes that everything up to the end is on the disk, beside the journal.</summary>
    private RecordJournal NoteEnd()
    {
        _noted.Note(RecordEnd.Of(_end));
        return this;
    }

    private static JournalCorruptException Gone(string directory, in RecordEnd noted, string loss) =>
        new(
            directory,
            SegmentName.Of(noted.Generation, SegmentName.Log),
            0,
            0,
            noted.Offset - 1,
            $"{loss}. Put it back; without it, nothing that it said counts, and to begin so, remove "
                + $"'{RecordEnd.PathOf(directory)}' too"
        );

    private void ThrowIfUnusable()
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        if (_failure is not null)
            throw new IOException($"The journal in '{_directory}' failed earlier: {_failure.Message}", _failure);
    }

    /// <summary>Writes one record as a batch at the end, in a file that is made longer when it has to be.</summary>
    private static void Put(
        Segment segment,
        ref LogEnd end,
        ref long fileBytes,
        ref byte[] batch,
        long durableOffset,
        ReadOnlySpan<byte> record,
        BatchKind kind = BatchKind.Data
    )
    {
        int length = Encode(segment.Header, end, out LogEnd next, ref batch, durableOffset, record, kind);
        long position = segment.FilePosition(end.Position);
        if (position + length > fileBytes)
        {
            long grown = Math.Max(fileBytes * 2, position + length + FirstBytes);
            segment.File.Allocate(grown);
            fileBytes = grown;
        }
        segment.File.Write(batch.AsSpan(0, length), position);
        end = next;
    }

    /// <summary>Makes the batch of one record.</summary>
    /// <returns>Its length.</returns>
    private static int Encode(
        in SegmentHeader header,
        in LogEnd end,
        out LogEnd next,
        ref byte[] batch,
        long durableOffset,
        ReadOnlySpan<byte> record,
        BatchKind kind
    )
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(record.Length, MaxRecordBytes, nameof(record));
        int needed = BatchLayout.HeaderSize + RecordWriter.SizeOf(record.Length) + BatchLayout.Alignment;
        if (batch.Length < needed)
            batch = new byte[needed * 2];
        int recordBytes = kind == BatchKind.Data ? RecordWriter.Write(batch.AsSpan(BatchLayout.HeaderSize), record) : 0;
        long time = Math.Max(end.AppendTime, UnixMicroseconds.From(TimeProvider.System.GetUtcNow()));
        int length = BatchWriter.Complete(
            batch,
            recordBytes,
            kind == BatchKind.Data ? 1 : 0,
            default,
            time,
            kind,
            offsetSpan: 1
        );
        uint back = (uint)Math.Min(end.Offset - durableOffset, uint.MaxValue);
        long filePosition = end.Position - header.BasePosition + SegmentHeader.PageSize;
        BatchStamp stamp = header.Key.Sign(
            header.Ordinal,
            filePosition,
            length,
            new BatchStamp(end.Offset, time, 1, end.ChainCrc, back)
        );
        uint crc = BatchWriter.Stamp(batch.AsSpan(0, length), stamp);
        next = new LogEnd(end.Position + length, end.Offset + 1, time, end.Ordinal, crc);
        return length;
    }

    private static string PathOf(string directory, long generation) =>
        Path.Combine(directory, SegmentName.Of(generation, SegmentName.Log));

    private static SegmentHeader HeaderOf(long generation, in LogEnd end) =>
        new(Guid.Empty, 1, generation, end.Offset, end.Position, end.AppendTime, 1, end.ChainCrc, LogKey.Create());

    /// <summary>
    /// Makes a generation that is complete and synced before it has its name, which is for the caller to sync.
    /// </summary>
    private static Segment Make(
        IFileSystem files,
        string directory,
        long generation,
        ref LogEnd end,
        long fileBytes,
        IEnumerable<ReadOnlyMemory<byte>> records
    )
    {
        string path = PathOf(directory, generation);
        string temporary = path + SegmentName.Temporary;
        SegmentHeader header = HeaderOf(generation, end);
        IStorageFile file = files.Open(temporary, OpenMode.Create);
        try
        {
            file.Allocate(fileBytes);
            byte[] page = new byte[SegmentHeader.PageSize];
            uint crc = header.Write(page);
            file.Write(page, 0);
            var segment = new Segment(files, path, header, fileBytes, file);
            end = end with { Ordinal = generation, ChainCrc = crc };
            byte[] batch = new byte[4096];
            long firstOffset = end.Offset;
            foreach (ReadOnlyMemory<byte> record in records)
                Put(segment, ref end, ref fileBytes, ref batch, firstOffset, record.Span);
            file.Sync();
            files.Rename(temporary, path);
            file.IsNow(path);
            return segment;
        }
        catch
        {
            file.Dispose();
            files.Delete(temporary);
            throw;
        }
    }

    /// <summary>Finds where the records of a generation end, cuts a torn tail, and hands every record out.</summary>
    /// <exception cref="JournalCorruptException">Records that had been durable are damaged.</exception>
    internal static LogEnd Replay(string directory, Segment segment, RecordReplay replay, RecordEnd? noted = null)
    {
        var window = new FileWindow(segment.File, ScanBytes);
        var start = new LogEnd(
            segment.BasePosition,
            segment.BaseOffset,
            segment.Header.PreviousTime,
            segment.Header.Ordinal,
            segment.Crc
        );
        LogTail tail = LogTail.Find(window, segment, start);
        // A record that is lost is no gap: what follows builds on it.
        LogEnd end = tail.Damaged is [var first, ..] ? first.Start : tail.End;
        if (tail.DurableOffset > end.Offset)
        {
            throw new JournalCorruptException(
                directory,
                Path.GetFileName(segment.Path),
                segment.FilePosition(end.Position),
                end.Offset,
                tail.DurableOffset - 1,
                "a record is not valid, and one behind it had been durable"
            );
        }
        uint? crcAtNote = end.Offset == noted?.Offset ? end.ChainCrc : null;
        for (long position = segment.BasePosition; position < end.Position; )
        {
            int length = BinaryPrimitives.ReadInt32LittleEndian(
                window.Get(segment.FilePosition(position), sizeof(int))
            );
            var batch = new BatchView(window.Get(segment.FilePosition(position), length));
            if (batch.BaseOffset == noted?.Offset)
                crcAtNote = batch.PreviousCrc;
            try
            {
                foreach (RecordView record in batch.Records)
                    replay(record.Body);
            }
            catch (ProtocolException e)
            {
                throw new JournalCorruptException(
                    directory,
                    Path.GetFileName(segment.Path),
                    segment.FilePosition(position),
                    batch.BaseOffset,
                    end.Offset - 1,
                    e.Message.TrimEnd('.')
                );
            }
            position += length;
        }
        if (noted?.FindLoss(end, crcAtNote) is { } loss)
        {
            throw new JournalCorruptException(
                directory,
                Path.GetFileName(segment.Path),
                segment.FilePosition(end.Position),
                end.Offset,
                noted.Value.Offset - 1,
                loss
            );
        }
        TailRepair.Cut(segment.File, segment.FilePosition(end.Position), tail.UsedEnd);
        return end;
    }
}
