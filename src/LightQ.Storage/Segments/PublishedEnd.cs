namespace LightQ.Storage.Segments;

/// <summary>An end that one thread moves and others read as a whole.</summary>
/// <remarks>
/// A sequence lock: odd while it is being changed. Position and offset alone are plain volatile reads.
/// </remarks>
internal sealed class PublishedEnd(LogEnd initial)
{
    private int _version;
    private long _position = initial.Position;
    private long _offset = initial.Offset;
    private long _appendTime = initial.AppendTime;
    private long _ordinal = initial.Ordinal;
    private uint _chainCrc = initial.ChainCrc;

    public long Position => Volatile.Read(ref _position);

    public long Offset => Volatile.Read(ref _offset);

    public long AppendTime => Volatile.Read(ref _appendTime);

    public LogEnd Read()
    {
        var spin = new SpinWait();
        while (true)
        {
            int before = Volatile.Read(ref _version);
            if ((before & 1) == 0)
            {
                var end = new LogEnd(
                    Volatile.Read(ref _position),
                    Volatile.Read(ref _offset),
                    Volatile.Read(ref _appendTime),
                    Volatile.Read(ref _ordinal),
                    Volatile.Read(ref _chainCrc)
                );
                if (Volatile.Read(ref _version) == before)
                    return end;
            }
            spin.SpinOnce(sleep1Threshold: -1);
        }
    }

    public void Write(in LogEnd end)
    {
        Interlocked.Increment(ref _version); // A full fence: no store below becomes visible before it.
        _appendTime = end.AppendTime;
        _ordinal = end.Ordinal;
        _chainCrc = end.ChainCrc;
        Volatile.Write(ref _offset, end.Offset);
        Volatile.Write(ref _position, end.Position);
        Volatile.Write(ref _version, _version + 1);
    }
}
