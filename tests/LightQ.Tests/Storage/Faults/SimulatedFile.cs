namespace LightQ.Tests.Storage.Faults;

/// <summary>A file's content: what reads see, what is on the disk, and the changes between the two.</summary>
internal sealed class SimulatedFile
{
    private readonly List<(long Position, byte[]? Data)> _unsynced = [];
    private byte[] _current;
    private byte[] _durable;
    private bool _currentIsOwn;
    private bool _lostPages;

    public SimulatedFile(byte[] content) => _current = _durable = content;

    /// <summary>What reads see. Valid until the next change.</summary>
    public ReadOnlySpan<byte> Current => _current;

    public void Write(long position, byte[] data)
    {
        _unsynced.Add((position, data));
        int end = (int)position + data.Length;
        if (end > _current.Length)
            Resize(ref _current, end);
        else if (!_currentIsOwn)
            _current = (byte[])_current.Clone();
        _currentIsOwn = true;
        data.CopyTo(_current, position);
    }

    public void SetLength(long length)
    {
        _unsynced.Add((length, null));
        Resize(ref _current, (int)length);
        _currentIsOwn = true;
    }

    public void Sync()
    {
        if (_lostPages)
        {
            _durable = After(_durable, _unsynced, _ => true, sectorBytes: 4096);
        }
        else
        {
            _durable = _current;
            _currentIsOwn = false;
        }
        _unsynced.Clear();
    }

    public void FailSync()
    {
        _lostPages = true;
        _unsynced.Clear();
    }

    public SimulatedFile Clone()
    {
        _currentIsOwn = false;
        var copy = new SimulatedFile(_current) { _durable = _durable, _lostPages = _lostPages };
        copy._unsynced.AddRange(_unsynced);
        return copy;
    }

    /// <summary>Changes what is on the disk behind everybody's back.</summary>
    public void Damage(Func<byte[], byte[]> damage)
    {
        _current = _durable = damage((byte[])_current.Clone());
        _currentIsOwn = false;
        _unsynced.Clear();
    }

    /// <summary>What is on the disk after a power cut.</summary>
    public byte[] Crash(CrashKind kind, Random random)
    {
        if (kind == CrashKind.SyncedOnly || _unsynced.Count == 0)
            return _durable;
        double kept = random.Next(4) switch
        {
            0 => 0.1,
            1 => 0.5,
            2 => 0.9,
            _ => 0.98,
        };
        return After(_durable, _unsynced, _ => random.NextDouble() < kept, random.Next(2) == 0 ? 512 : 4096);
    }

    /// <summary>Content after changes of which each sector has some, up to the first that it has not.</summary>
    /// <remarks>
    /// The length is a change like a sector's. When a cut did not happen, nothing behind it did: blocks are freed
    /// before they are used again.
    /// </remarks>
    private static byte[] After(
        byte[] content,
        List<(long Position, byte[]? Data)> changes,
        Func<long, bool> has,
        int sectorBytes
    )
    {
        byte[] result = (byte[])content.Clone();
        var stopped = new HashSet<long>();
        int length = content.Length;
        bool lengthStopped = false;
        foreach ((long position, byte[]? data) in changes)
        {
            int end = (int)position + (data?.Length ?? 0);
            bool changesLength = data is null ? end != length : end > length;
            if (changesLength && !lengthStopped)
            {
                lengthStopped = !has(-1);
                if (lengthStopped && end < length)
                    break;
                if (!lengthStopped)
                    length = end;
            }
            if (data is null)
            {
                if (!lengthStopped && end < result.Length)
                    result.AsSpan(end).Clear();
                continue;
            }
            if (end > result.Length)
                Resize(ref result, end);
            for (int at = (int)position; at < end; )
            {
                long sector = at / sectorBytes;
                int bytes = Math.Min(end, (int)(sector + 1) * sectorBytes) - at;
                if (!stopped.Contains(sector) && !has(sector))
                    stopped.Add(sector);
                if (!stopped.Contains(sector))
                    data.AsSpan(at - (int)position, bytes).CopyTo(result.AsSpan(at));
                at += bytes;
            }
        }
        if (length != result.Length)
            Resize(ref result, length);
        return result;
    }

    private static void Resize(ref byte[] content, int length)
    {
        byte[] resized = new byte[length];
        content.AsSpan(0, Math.Min(content.Length, length)).CopyTo(resized);
        content = resized;
    }
}
