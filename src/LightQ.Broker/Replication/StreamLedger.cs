namespace LightQ.Broker.Replication;

/// <summary>
/// What an owner knows of its stream, and compares with what the engine says of it: the last sequence, the first entry,
/// which is a claim and stays, and how many entries there are.
/// </summary>
/// <remarks>
/// Only owners purge, and one of them is told how many entries went. So a stream that lacks more has lost them. An
/// owner that ends purges once more, so that the count says nothing in the first seconds of the next one. Thread-safe.
/// </remarks>
internal sealed class StreamLedger(TimeProvider time)
{
    /// <summary>The purge of the owner before may come so late; see <c>RunSender.TrimAsync</c>.</summary>
    private static readonly TimeSpan Grace = TimeSpan.FromSeconds(5);

    private readonly Lock _lock = new();
    private ulong _last;
    private ulong? _missing; // Entries in front of the last that are not stored; null until they are counted.
    private long _began;
    private int _purges; // That have begun or ended.
    private bool _isPurging;

    /// <summary>The last sequence that is known to be stored, and how often something was purged.</summary>
    public (ulong Last, int Purges) Stand
    {
        get
        {
            lock (_lock)
                return (_last, _purges);
        }
    }

    /// <summary>The stream is owned from a claim on.</summary>
    public void Begin(ulong claim)
    {
        lock (_lock)
            (_last, _missing, _began) = (claim, null, time.GetTimestamp());
    }

    /// <summary>An append was stored.</summary>
    public void OnStored(ulong sequence)
    {
        lock (_lock)
            _last = sequence;
    }

    /// <summary>A purge begins.</summary>
    public void BeginPurge()
    {
        lock (_lock)
            (_isPurging, _purges) = (true, _purges + 1);
    }

    /// <summary>It has ended.</summary>
    /// <param name="removed">The entries that went; null where that is not known.</param>
    public void EndPurge(ulong? removed)
    {
        lock (_lock)
        {
            (_isPurging, _purges) = (false, _purges + 1);
            _missing = removed is { } count ? _missing + count : null;
        }
    }

    /// <summary>What the stream lacks; null when it is whole, as far as that can be told.</summary>
    /// <param name="before"><see cref="Stand"/> before the engine was asked.</param>
    /// <param name="report">What it said.</param>
    public string? FindLoss(in (ulong Last, int Purges) before, in StreamReport report)
    {
        if (!report.IsThere)
            return "the engine has no such stream any more";
        if (report.Bounds.Last < before.Last)
            return $"it ends at entry {report.Bounds.Last}, and {before.Last} had been stored";
        if (report.Bounds.First > 1)
        {
            return report.Bounds.First > report.Bounds.Last
                ? $"all of its {report.Bounds.Last} entries were removed"
                : $"it begins at entry {report.Bounds.First} and not at 1";
        }
        return report.Entries is { } entries ? FindMissing(before.Purges, report, entries) : null;
    }

    private string? FindMissing(int purges, in StreamReport report, ulong entries)
    {
        ulong missing = report.Bounds.Last - Math.Min(report.Bounds.Last, entries);
        lock (_lock)
        {
            if (_isPurging || _purges != purges)
                return null;
            if (_missing is not { } known || time.GetElapsedTime(_began) < Grace)
            {
                _missing = missing;
                return null;
            }
            if (missing <= known)
                return null;
        }
        string altered = report.Altered is { } setting ? $" (the stream's {setting})" : "";
        return $"{missing - _missing} entries were removed that no broker has removed{altered}";
    }
}
