using System.Collections.Concurrent;
using LightQ.Disruptor;
using LightQ.Protocol.Batches;
using LightQ.Storage.Segments;

namespace LightQ.Storage.Writing;

/// <summary>Gives batches their offsets and puts them into the ring; decides where segments begin.</summary>
/// <remarks>
/// One thread at a time: the caller holds the log's append lock. Never blocks, never touches the disk.
/// </remarks>
internal sealed class LogAppender
{
    private readonly LogState _log;
    private readonly ByteRing _ring;
    private readonly ConcurrentQueue<SegmentRoll> _rolls;
    private readonly TimeProvider _clock;
    private SegmentIndex? _index;
    private long _nextOffset;
    private long _position;
    private long _segmentStart;
    private long _limit;
    private long _ordinal;
    private long _fileBytes;
    private long _lastTime;
    private uint _chainCrc;

    public LogAppender(LogState log, ByteRing ring, ConcurrentQueue<SegmentRoll> rolls, TimeProvider clock)
    {
        _log = log;
        _ring = ring;
        _rolls = rolls;
        _clock = clock;
        LogEnd end = log.Written.Read();
        (_nextOffset, _position, _ordinal, _lastTime, _chainCrc) = (
            end.Offset,
            end.Position,
            end.Ordinal,
            end.AppendTime,
            end.ChainCrc
        );
        if (log.Segments.Last is { } active)
        {
            _segmentStart = active.BasePosition - SegmentHeader.PageSize;
            // A segment without a key takes no more batches.
            _limit = active.Header.Key.IsNone ? _position : active.Limit;
            _fileBytes = active.FileBytes;
            _index = active.Index;
        }
    }

    /// <summary>The offset that the next message gets.</summary>
    public long NextOffset => Volatile.Read(ref _nextOffset);

    /// <summary>The log position of the next batch.</summary>
    public long Position => Volatile.Read(ref _position);

    public AppendResult TryAppend(ReadOnlySpan<byte> batch, out long baseOffset, out long logPosition, uint user)
    {
        baseOffset = logPosition = -1;
        AppendResult result = TryClaim(batch.Length, out RingClaim claim);
        if (result != AppendResult.Appended)
            return result;
        long time = _clock.GetUtcNow().UtcTicks - DateTime.UnixEpoch.Ticks;
        baseOffset = _nextOffset;
        logPosition = Put(claim, batch, Math.Max(_lastTime, time / TimeSpan.TicksPerMicrosecond), _log.Epoch, user);
        return AppendResult.Appended;
    }

    /// <summary>Appends a batch that another log has stamped: it keeps its offset, time and epoch.</summary>
    /// <exception cref="ArgumentException">It is not the one that comes next.</exception>
    public AppendResult TryAppendCopy(in BatchView batch, out long logPosition)
    {
        logPosition = -1;
        if (batch.BaseOffset != _nextOffset || batch.AppendTime < _lastTime)
        {
            throw new ArgumentException(
                $"The batch begins at offset {batch.BaseOffset} and was appended at {batch.AppendTime}; offset "
                    + $"{_nextOffset} comes next, not before {_lastTime}.",
                nameof(batch)
            );
        }
        AppendResult result = TryClaim(batch.Length, out RingClaim claim);
        if (result == AppendResult.Appended)
            logPosition = Put(claim, batch.Bytes, batch.AppendTime, batch.LeaderEpoch, user: 0);
        return result;
    }

    private AppendResult TryClaim(int length, out RingClaim claim)
    {
        switch (_ring.TryClaim(length, out claim))
        {
            case ClaimResult.Full:
                return AppendResult.Full;
            case ClaimResult.TooLarge:
                throw new ArgumentException(
                    $"The batch has {length} bytes; this journal takes {_ring.MaxEntryLength}.",
                    nameof(length)
                );
        }
        if (_position + length <= _limit)
            return AppendResult.Appended;
        if (_log.DiskFull)
        {
            _ring.Abort(claim);
            return AppendResult.DiskFull;
        }
        Roll();
        return AppendResult.Appended;
    }

    /// <returns>The log position behind it.</returns>
    private long Put(in RingClaim claim, ReadOnlySpan<byte> batch, long time, uint epoch, uint user)
    {
        Span<byte> entry = claim.Span;
        batch.CopyTo(entry);
        _lastTime = time;
        long back = _nextOffset - _log.Durable.Offset;
        var stamp = new BatchStamp(
            _nextOffset,
            time,
            epoch,
            _chainCrc,
            (uint)Math.Min(back, uint.MaxValue),
            User: user
        );
        _chainCrc = BatchWriter.Stamp(entry, _log.Key.Sign(_ordinal, _position - _segmentStart, entry.Length, stamp));
        _index?.Note(_nextOffset, time, _position);
        long end = _position + batch.Length;
        Volatile.Write(ref _position, end);
        Volatile.Write(ref _nextOffset, _nextOffset + new BatchView(entry).OffsetSpan);
        _ring.Publish(claim);
        return end;
    }

    private void Roll()
    {
        int bytes = SegmentGrowth.Next(_fileBytes, _log.Options);
        JournalOptions options = _log.Options;
        var header = new SegmentHeader(
            options.TopicId,
            options.Incarnation,
            _ordinal + 1,
            _nextOffset,
            _position,
            _lastTime,
            _log.Epoch,
            _chainCrc,
            _log.Key
        );
        _index = new SegmentIndex(_position, bytes);
        // Before the first batch behind it is published.
        _rolls.Enqueue(new SegmentRoll(header, bytes, _index, options.ProducerSnapshot?.Invoke()));
        _ordinal++;
        _fileBytes = bytes;
        _segmentStart = _position - SegmentHeader.PageSize;
        _limit = _segmentStart + bytes;
        _chainCrc = header.Crc();
    }
}
