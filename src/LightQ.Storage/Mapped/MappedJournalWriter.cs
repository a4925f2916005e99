// Unsafe: batches are stored at addresses of a mapped file.
using System.Runtime.CompilerServices;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Storage.Files;
using LightQ.Storage.Recovery;
using LightQ.Storage.Segments;

namespace LightQ.Storage.Mapped;

/// <summary>
/// A journal that one thread appends to by storing into its mapped segments; readers in any process see each batch at
/// once.
/// </summary>
/// <remarks>
/// <para>
/// The files are those of <see cref="Journal"/>, which opens them as its own, and so does this what a journal has left.
/// There is no broker, no thread and no system call between an append and its reader, and no sync either: what is
/// appended survives the end of the process (<see cref="Durability.Written"/>), and the end of the system only up to
/// the last segment that is full, or once the writer is disposed.
/// </para>
/// <para>
/// What tells a reader how far it may read is the log itself. The word behind the last batch is always zero: it is made
/// so before that batch appears, and a batch appears when its first eight bytes (length and checksum) are stored, in
/// one piece and behind all others. So a length that is not zero means a whole batch. Behind the last batch of a
/// segment the header page of the next one appears in the same way, last its magic.
/// </para>
/// <para>
/// One thread at a time. Segments are full-grown from the first on and made and touched ahead, on a pool thread; when
/// the next one is not ready, or a full one is synced (a later segment is proof of the earlier), an append waits for
/// the disk. Nothing expires. A disk that fails under a mapping ends the process.
/// </para>
/// </remarks>
public sealed unsafe class MappedJournalWriter : IDisposable
{
    private readonly JournalOptions _options;
    private readonly IFileSystem _files;
    private readonly DataDirectoryLock _lock;
    private readonly SegmentSource _source;
    private readonly RecoveredLog _log;
    private readonly uint _epoch;
    private MappedSegment? _segment;
    private Task<MappedSegment>? _next;
    private LogEnd _end;
    private LogEnd _durable;
    private long _basePosition;
    private long _limit;
    private uint _headerCrc;
    private bool _failed;

    private MappedJournalWriter(JournalOptions options, IFileSystem files, DataDirectoryLock held)
    {
        (_options, _files, _lock) = (options, files, held);
        _source = new SegmentSource(options, files);
        _log = JournalRecovery.Run(options, files, visitor: null);
        if (!_log.IsEpochKept)
            throw StorageIOException.DiskFull(options.Directory);
        _epoch = _log.Epochs[^1].Epoch;
        _end = _durable = _log.End;
        WriteCheckpoint(clean: false);
        if (_log.Segments is [.., var last])
        {
            _segment = new MappedSegment(last.Path, writable: true);
            // A segment without a key takes no more batches.
            _headerCrc = last.Crc;
            (_basePosition, _limit) = (last.BasePosition, last.Header.Key.IsNone ? _end.Position : last.Limit);
            EndAt(_end.Position);
        }
        else
        {
            Roll();
        }
        foreach (Segment segment in _log.Segments)
            segment.Retire(); // Recovery opened it; the writer maps its segments itself.
    }

    /// <summary>The offset that the next message gets.</summary>
    public long NextOffset => _end.Offset;

    /// <summary>Below it, messages are on the disk.</summary>
    public long DurableOffset => _durable.Offset;

    /// <summary>Makes or recovers the journal in a directory, and takes it for this writer.</summary>
    /// <param name="options">
    /// How it is kept; its ring, its retention, its flush and read levels mean nothing here.
    /// </param>
    /// <exception cref="DataDirectoryException">Another writer has it.</exception>
    /// <exception cref="JournalCorruptException">
    /// Bytes that had been durable are damaged; nothing was changed.
    /// </exception>
    /// <exception cref="JournalFormatException">
    /// A file is of another version or of another topic; nothing was changed.
    /// </exception>
    /// <exception cref="IOException">The directory cannot be read or written, or the disk is full.</exception>
    public static MappedJournalWriter Open(JournalOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        IFileSystem files = PlatformFileSystem.Choose();
        files.CreateDirectory(options.Directory);
        DataDirectoryLock held = DataDirectoryLock.Acquire(options.Directory);
        try
        {
            return new MappedJournalWriter(options, files, held);
        }
        catch
        {
            held.Dispose();
            throw;
        }
    }

    /// <summary>Stamps a batch, in place, and puts it into the log. Readers see it before this returns.</summary>
    /// <param name="batch">One whole and valid batch.</param>
    /// <returns>The offset of its first message.</returns>
    /// <exception cref="ArgumentException">
    /// It is longer than <see cref="JournalOptions.MaxBatchBytes"/>, or not as long as it says.
    /// </exception>
    /// <exception cref="InvalidOperationException">
    /// An append before has failed, which is final, or the writer is disposed.
    /// </exception>
    /// <exception cref="IOException">There is no room for another segment, or the disk refused.</exception>
    public long Append(Span<byte> batch)
    {
        if (_segment is null || _failed)
            throw new InvalidOperationException("The journal takes no more: it is closed, or a write has failed.");
        if (batch.Length > _options.MaxBatchBytes || batch.Length != new BatchView(batch).Length)
        {
            throw new ArgumentException(
                $"The batch has {batch.Length} bytes; it must have those it says, and this journal takes "
                    + $"{_options.MaxBatchBytes}.",
                nameof(batch)
            );
        }

        if (_end.Position + batch.Length > _limit)
            Roll();
        long offset = _end.Offset;
        long time = Math.Max(_end.AppendTime, UnixMicroseconds.From(TimeProvider.System.GetUtcNow()));
        long position = _end.Position;
        var stamp = new BatchStamp(
            offset,
            time,
            _epoch,
            _end.ChainCrc,
            (uint)Math.Min(offset - _durable.Offset, uint.MaxValue)
        );
        uint crc = BatchWriter.Stamp(batch, _log.Key.Sign(_end.Ordinal, FilePosition(position), batch.Length, stamp));
        byte* place = At(position);
        batch[sizeof(ulong)..].CopyTo(new Span<byte>(place + sizeof(ulong), batch.Length - sizeof(ulong)));
        EndAt(position + batch.Length);
        Volatile.Write(ref *(ulong*)place, Unsafe.ReadUnaligned<ulong>(ref batch[0]));
        _end = _end with
        {
            Position = position + batch.Length,
            Offset = offset + new BatchView(batch).OffsetSpan,
            AppendTime = time,
            ChainCrc = crc,
        };
        if (_next is null && _end.Position - _basePosition > (_limit - _basePosition) / 2)
            PrepareNext();
        return offset;
    }

    /// <summary>Syncs and closes; the next start scans nothing.</summary>
    /// <exception cref="IOException">The disk refused.</exception>
    public void Dispose()
    {
        if (_segment is null)
            return;
        try
        {
            if (!_failed)
            {
                _segment.Sync();
                _durable = _end;
                WriteCheckpoint(clean: true);
            }
        }
        finally
        {
            Abandon();
        }
    }

    /// <summary>Ends as a killed process would: for tests.</summary>
    internal void Abandon()
    {
        _segment?.Dispose();
        _segment = null;
        if (_next is not null)
            DropNext();
        _source.Dispose();
        _lock.Dispose();
    }

    private byte* At(long position) => _segment!.At(FilePosition(position));

    private long FilePosition(long position) => position - _basePosition + SegmentHeader.PageSize;

    /// <summary>Readers stop there: what an older file has left behind it is not seen.</summary>
    private void EndAt(long position)
    {
        if (position < _limit)
            *(ulong*)At(position) = 0;
    }

    private void Roll()
    {
        if (_next is null)
            PrepareNext();
        Task<MappedSegment> prepared = _next!;
        _next = null; // If it could not be made, the next append tries again.
        MappedSegment next = prepared.GetAwaiter().GetResult();
        _failed = true; // Stays true if a step below fails: the header page may be there or not.
        if (_segment is not null)
        {
            Note(_segment, SegmentExtent.NextAt, next.FileBytes, _headerCrc);
            _segment.Sync();
            _durable = _end;
            _segment.Dispose();
        }
        var header = new SegmentHeader(
            _options.TopicId,
            _options.Incarnation,
            _end.Ordinal + 1,
            _end.Offset,
            _end.Position,
            _end.AppendTime,
            _epoch,
            _end.ChainCrc,
            _log.Key
        );
        Span<byte> page = stackalloc byte[SegmentHeader.Size];
        uint crc = header.Write(page);
        (_segment, _basePosition, _limit) = (
            next,
            _end.Position,
            _end.Position + next.FileBytes - SegmentHeader.PageSize
        );
        EndAt(_end.Position);
        Note(next, SegmentExtent.LengthAt, next.FileBytes, crc);
        page[sizeof(ulong)..].CopyTo(new Span<byte>(next.At(sizeof(ulong)), SegmentHeader.Size - sizeof(ulong)));
        Volatile.Write(ref *(ulong*)next.At(0), Unsafe.ReadUnaligned<ulong>(ref page[0]));
        _end = _end with { Ordinal = header.Ordinal, ChainCrc = _headerCrc = crc };
        _failed = false;
    }

    /// <summary>Puts a part of a <see cref="SegmentExtent"/> into a mapped file.</summary>
    private static void Note(MappedSegment segment, int at, long fileBytes, uint headerCrc) =>
        SegmentExtent.WritePart(new Span<byte>(segment.At(at), SegmentExtent.PartSize), fileBytes, headerCrc);

    private void PrepareNext()
    {
        long ordinal = _end.Ordinal + 1;
        int bytes = SegmentGrowth.Next(_options.SegmentBytes, _options);
        _next = Task.Run(() =>
        {
            if (!_source.HasRoom(bytes))
                throw StorageIOException.DiskFull(_options.Directory);
            _source.Take(ordinal, bytes).Dispose();
            var segment = new MappedSegment(PathOf(ordinal), writable: true);
            segment.Populate();
            return segment;
        });
    }

    /// <summary>
    /// Leaves no file that was made for nothing; the error of one that could not be made no longer counts.
    /// </summary>
    private void DropNext()
    {
        Task<MappedSegment> next = _next!;
        _next = null;
        ((IAsyncResult)next).AsyncWaitHandle.WaitOne();
        if (next.IsCompletedSuccessfully)
            next.Result.Dispose();
        _files.Delete(PathOf(_end.Ordinal + 1));
    }

    private void WriteCheckpoint(bool clean) =>
        _log.Checkpoints.Write(
            new Checkpoint(0, _options.Incarnation, _log.StartOffset, _durable, _epoch, clean, _log.Key)
        );

    private string PathOf(long ordinal) => Path.Combine(_options.Directory, SegmentName.Of(ordinal, SegmentName.Log));
}
