using System.Buffers;
using LightQ.Protocol.Checksums;

namespace LightQ.Storage.Spilling;

/// <summary>
/// Runs that wait for one reader, in order: copied into memory, written to temporary files by the store's thread, and
/// read back by it.
/// </summary>
/// <remarks>
/// One thread at a time adds, one at a time takes; neither ever waits for the disk. A run that is taken before it was
/// written never reaches the disk. While one run is with the reader, the next is read.
/// </remarks>
public sealed class SpillQueue : IDisposable
{
    private readonly Lock _lock = new();
    private readonly SpillStore _store;
    private readonly uint _owner;
    private readonly Action _ready;
    private readonly Action<Exception> _failed;
    private readonly Queue<SpilledRun> _runs = new();
    private readonly Queue<SpilledRun> _unwritten = new();
    private readonly HashSet<SpillFile> _files = [];
    private SpilledRun? _wanted;
    private SpilledRun? _lent;
    private SpillFile? _last;
    private long _bytes;
    private bool _isDue;
    private bool _hasFailed;
    private bool _isDisposed;

    internal SpillQueue(SpillStore store, Action ready, Action<Exception> failed, uint owner)
    {
        _store = store;
        _owner = owner;
        _ready = ready;
        _failed = failed;
    }

    /// <summary>Bytes that were added and not yet taken.</summary>
    public long Bytes => Volatile.Read(ref _bytes);

    /// <summary>Adds a copy of a run.</summary>
    /// <param name="run">Whole batches.</param>
    /// <param name="firstOffset">Offset of the first message.</param>
    /// <param name="nextOffset">One behind the offset of the last message.</param>
    public SpillResult TryAdd(ReadOnlySpan<byte> run, long firstOffset, long nextOffset)
    {
        lock (_lock)
        {
            if (_hasFailed || _isDisposed)
                return SpillResult.Ended;
            if (_bytes + run.Length > _store.Options.MaxQueueBytes)
                return SpillResult.QueueFull;
            if (_store.TryReserve(_owner, run.Length) is { } full)
                return full;
            byte[]? buffer = _store.Memory.TryRent(run.Length);
            if (buffer is null)
            {
                _store.Release(_owner, run.Length);
                return SpillResult.DiskBehind;
            }
            run.CopyTo(buffer);
            var spilled = new SpilledRun(buffer, run.Length, firstOffset, nextOffset);
            _runs.Enqueue(spilled);
            _unwritten.Enqueue(spilled);
            Volatile.Write(ref _bytes, _bytes + run.Length);
            BecomeDue();
            return SpillResult.Kept;
        }
    }

    /// <summary>Takes the oldest run; the one before is given back.</summary>
    /// <param name="run">The run, lent until the next call of this or <see cref="Release"/>.</param>
    /// <param name="gap">The run's offsets, when the disk did not give back what was written to it.</param>
    /// <returns>
    /// Pending when it has to be read first; Gap when it is lost, and the next call goes on behind it; AtEnd when the
    /// queue is empty.
    /// </returns>
    public ReadResult TryTake(out LogRun run, out LogGap gap)
    {
        (run, gap) = (default, default);
        lock (_lock)
        {
            ReleaseLent();
            if (_hasFailed || _isDisposed)
                return ReadResult.Failed;
            if (!_runs.TryPeek(out SpilledRun? oldest))
                return ReadResult.AtEnd;
            if (oldest.Buffer is null)
            {
                Want(oldest);
                return ReadResult.Pending;
            }
            _runs.Dequeue();
            Volatile.Write(ref _bytes, _bytes - oldest.Length);
            _store.Release(_owner, oldest.Length);
            if (_runs.TryPeek(out SpilledRun? next) && next.Buffer is null)
                Want(next);
            if (oldest.IsLost)
            {
                Drop(oldest);
                gap = new LogGap(oldest.FirstOffset, oldest.NextOffset - 1, GapReason.Corrupt);
                return ReadResult.Gap;
            }
            _lent = oldest;
            run = new LogRun(oldest.Memory, oldest.FirstOffset, oldest.NextOffset);
            return ReadResult.Run;
        }
    }

    /// <summary>Gives back the run that was taken.</summary>
    public void Release()
    {
        lock (_lock)
            ReleaseLent();
    }

    /// <summary>
    /// Drops everything but the run that is taken, which is still to be released; the files are removed by the store's
    /// thread.
    /// </summary>
    public void Dispose()
    {
        lock (_lock)
        {
            if (_isDisposed)
                return;
            _isDisposed = true;
            foreach (SpilledRun run in _runs)
                Drop(run);
            _runs.Clear();
            _unwritten.Clear();
            _wanted = null;
            _store.Release(_owner, _bytes);
            Volatile.Write(ref _bytes, 0);
            if (!_isDue && _files.Count != 0)
                BecomeDue();
        }
    }

    /// <summary>One turn on the store's thread: reads a run that is wanted, writes one that is not written.</summary>
    /// <returns>Whether there is more to do.</returns>
    internal bool Work()
    {
        SpilledRun? toRead,
            toWrite;
        lock (_lock)
        {
            toRead = _wanted;
            toWrite = _isDisposed ? null : NextUnwritten();
        }
        try
        {
            if (toRead is not null)
                ReadBack(toRead);
            if (toWrite is not null)
                Write(toWrite);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            Fail(e, toWrite);
        }
        bool isOver;
        lock (_lock)
            isOver = _isDisposed || _hasFailed;
        if (isOver)
            RemoveFiles();
        lock (_lock)
            return _isDue = _isDisposed ? _files.Count != 0 : _wanted is not null || _unwritten.Count != 0;
    }

    private SpilledRun? NextUnwritten()
    {
        while (_unwritten.TryDequeue(out SpilledRun? run))
        {
            if (run.IsTaken || run == _lent)
                continue;
            run.IsWriting = true;
            return run;
        }
        return null;
    }

    private void ReadBack(SpilledRun run)
    {
        SpillFile file = run.File!;
        byte[] buffer = ArrayPool<byte>.Shared.Rent(run.Length);
        Span<byte> bytes = buffer.AsSpan(0, run.Length);
        bool isLost = file.File.Read(bytes, run.Position) != run.Length || Crc32C.Compute(bytes) != run.Crc;
        if (--file.Runs == 0)
            Remove(file);
        lock (_lock)
        {
            if (_isDisposed)
            {
                ArrayPool<byte>.Shared.Return(buffer);
                return;
            }
            (run.Buffer, run.IsReadBack, run.IsLost) = (buffer, true, isLost);
            _wanted = null;
        }
        _ready();
    }

    private void Write(SpilledRun run)
    {
        ReadOnlySpan<byte> bytes = run.Memory.Span;
        if (_last is null || _last.Length >= _store.Options.FileBytes)
        {
            _last = _store.CreateFile();
            _files.Add(_last);
        }
        SpillFile file = _last;
        (run.Position, run.Crc) = (file.Length, Crc32C.Compute(bytes));
        file.File.Write(bytes, file.Length);
        lock (_lock)
        {
            bool isWanted = !run.IsTaken && run != _lent && !_isDisposed;
            EndWriting(run, keepsBuffer: run == _lent);
            if (!isWanted)
                return; // The next run takes its place in the file.
            run.File = file;
            file.Length += run.Length;
            file.Runs++;
        }
    }

    private void Remove(SpillFile file)
    {
        _files.Remove(file);
        if (_last == file)
            _last = null;
        _store.Remove(file);
    }

    private void RemoveFiles()
    {
        foreach (SpillFile file in _files)
            _store.Remove(file);
        _files.Clear();
        _last = null;
    }

    private void Fail(Exception reason, SpilledRun? writing)
    {
        lock (_lock)
        {
            if (writing is { IsWriting: true })
                EndWriting(writing, keepsBuffer: !_isDisposed && !writing.IsTaken);
            if (_hasFailed || _isDisposed)
                return;
            _hasFailed = true;
            _unwritten.Clear();
            _wanted = null;
        }
        _store.Options.OnFailed(reason);
        _failed(reason);
    }

    /// <summary>Only the reader has the buffer again, or nothing has. The caller holds the lock.</summary>
    private void EndWriting(SpilledRun run, bool keepsBuffer)
    {
        run.IsWriting = false;
        if (keepsBuffer)
            return;
        _store.Memory.Return(run.Buffer!);
        run.Buffer = null;
    }

    private void Want(SpilledRun run)
    {
        _wanted = run;
        BecomeDue();
    }

    private void ReleaseLent()
    {
        if (_lent is null)
            return;
        _lent.IsTaken = true;
        Drop(_lent);
        _lent = null;
    }

    private void Drop(SpilledRun run)
    {
        if (run.Buffer is null || run.IsWriting)
            return; // A buffer that is being written is freed after the write.
        if (run.IsReadBack)
            ArrayPool<byte>.Shared.Return(run.Buffer);
        else
            _store.Memory.Return(run.Buffer);
        run.Buffer = null;
    }

    private void BecomeDue()
    {
        if (_isDue)
            return;
        _isDue = true;
        _store.Schedule(this);
    }
}
