using LightQ.Protocol.Batches;
using LightQ.Storage.Recovery;
using LightQ.Storage.Segments;

namespace LightQ.Storage.Inspection;

/// <summary>Walks the batches of a segment, and on behind damage.</summary>
internal sealed class LogWalk(Segment segment, BatchTally tally)
{
    private const int WindowBytes = 1 << 20;

    private readonly Segment _segment = segment;
    private readonly BatchTally _tally = tally;
    private readonly FileWindow _window = new(segment.File, WindowBytes);

    /// <summary>What is damaged.</summary>
    public List<LogHole> Holes { get; } = [];

    /// <summary>Walks to a place that is known; what does not lead there is a hole.</summary>
    public LogEnd RunTo(LogEnd start, LogEnd target)
    {
        LogEnd at = start;
        while (true)
        {
            long limit = Math.Min(target.Position, _segment.Limit);
            at = Scan(at, limit);
            if (at.Position == target.Position)
            {
                if (at.Offset == target.Offset && at.ChainCrc == target.ChainCrc)
                    return at;
                at = BeforeLast(at);
            }
            else if (TrySkip(at, limit, target.Offset, out LogEnd behind))
            {
                at = behind;
                continue;
            }
            Add(new LogHole(at, target.Position, target.Offset, target.ChainCrc));
            return target with { AppendTime = at.AppendTime };
        }
    }

    /// <summary>Walks to the last valid batch.</summary>
    /// <param name="start">Where to begin.</param>
    /// <param name="offsetLimit">An offset that is known to be in a later segment.</param>
    /// <param name="goesOn">Whether valid batches behind a place belong to the log.</param>
    public LogEnd RunToEnd(LogEnd start, long offsetLimit, Func<LogEnd, bool> goesOn)
    {
        LogEnd at = Scan(start, _segment.Limit);
        while (goesOn(at) && TrySkip(at, _segment.Limit, offsetLimit, out LogEnd behind))
            at = Scan(behind, _segment.Limit);
        return at;
    }

    private LogEnd Scan(LogEnd at, long limit)
    {
        _tally.Begin(at);
        LogEnd reached = BatchScan.Run(_window, _segment, at, limit, payloads: true, _tally);
        _tally.Settle(reached);
        return reached;
    }

    /// <summary>
    /// Everything is valid by itself, but the end is not the one that the next segment refers to: the last batch is
    /// another one.
    /// </summary>
    private LogEnd BeforeLast(LogEnd at)
    {
        if (_tally.LastLength == 0)
            return at;
        _tally.DropLast();
        return _tally.LastStart;
    }

    private bool TrySkip(LogEnd at, long limit, long offsetLimit, out LogEnd behind)
    {
        bool isWhole =
            BatchScan.TryReadHeader(_window, _segment, at.Position, limit, out BatchView header)
            && header.BaseOffset == at.Offset
            && header.PreviousCrc == at.ChainCrc
            && header.NextOffset <= offsetLimit;
        if (isWhole)
        {
            behind = new LogEnd(
                at.Position + header.Length,
                header.NextOffset,
                Math.Max(at.AppendTime, header.AppendTime),
                at.Ordinal,
                header.HeaderCrc
            );
        }
        else if (!BatchSearch.TryFind(_window, _segment, at, limit, offsetLimit, out behind))
        {
            return false;
        }

        Add(new LogHole(at, behind.Position, behind.Offset, behind.ChainCrc));
        return true;
    }

    private void Add(LogHole hole)
    {
        if (Holes.Count > 0 && Holes[^1].EndPosition == hole.Start.Position)
        {
            Holes[^1] = Holes[^1] with
            {
                EndPosition = hole.EndPosition,
                NextOffset = hole.NextOffset,
                NextCrc = hole.NextCrc,
            };
        }
        else
        {
            Holes.Add(hole);
        }
    }
}
