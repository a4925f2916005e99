namespace LightQ.Storage.Reading;

/// <summary>Read buffers within a budget. Thread-safe.</summary>
internal sealed class ReadBufferPool(int bufferBytes, long budget)
{
    private readonly Lock _lock = new();
    private readonly Stack<ReadBuffer> _free = new();
    private readonly int _bufferBytes = bufferBytes;
    private readonly long _budget = budget;
    private long _out;

    /// <summary>Whether more than half of the budget is out: no time to read ahead.</summary>
    public bool IsShort => Volatile.Read(ref _out) > _budget / 2;

    /// <summary>Whether no buffer is out: then the next one is always to be had.</summary>
    public bool IsWhole => Volatile.Read(ref _out) == 0;

    /// <summary>A buffer of the usual size, or of a longer batch's; a single one may exceed the budget.</summary>
    public bool TryRent(int bytes, out ReadBuffer? buffer)
    {
        buffer = null;
        int size = Math.Max(bytes, _bufferBytes);
        lock (_lock)
        {
            if (_out != 0 && _out + size > _budget)
                return false;
            _out += size;
            if (size == _bufferBytes)
                _free.TryPop(out buffer);
        }
        buffer ??= new ReadBuffer(size);
        return true;
    }

    public void Return(ReadBuffer buffer)
    {
        lock (_lock)
        {
            _out -= buffer.Bytes.Length;
            if (buffer.Bytes.Length == _bufferBytes)
                _free.Push(buffer);
        }
    }
}
