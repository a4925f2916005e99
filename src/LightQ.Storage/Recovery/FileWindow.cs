using LightQ.Storage.Files;

namespace LightQ.Storage.Recovery;

/// <summary>
/// A file read forwards through one buffer. Reading on makes the reads longer, jumping ahead makes them short again.
/// </summary>
internal sealed class FileWindow
{
    private readonly IStorageFile _file;
    private readonly int _mostBytes;
    private readonly int _leastBytes;
    private byte[] _buffer;
    private int _readBytes;
    private long _start;
    private int _length;

    /// <param name="file">The file.</param>
    /// <param name="mostBytes">How much is read at once, at most, if not more is asked for.</param>
    public FileWindow(IStorageFile file, int mostBytes) =>
        (_file, _mostBytes, _leastBytes, _buffer) = (file, mostBytes, Math.Min(4096, mostBytes), []);

    /// <param name="file">The file.</param>
    /// <param name="buffer">Lent; its length is read at once, at most.</param>
    public FileWindow(IStorageFile file, byte[] buffer)
        : this(file, buffer.Length) => _buffer = buffer;

    /// <summary>
    /// The bytes at a position: as many as asked for, fewer only at the end of the file. Valid until the next call.
    /// </summary>
    public ReadOnlySpan<byte> Get(long position, int bytes)
    {
        if (position < _start || position + bytes > _start + _length)
        {
            bool readsOn = _length != 0 && position >= _start && position <= _start + _length;
            _readBytes = readsOn ? Math.Min(_readBytes * 4, _mostBytes) : _leastBytes;
            int wanted = Math.Max(_readBytes, bytes);
            if (wanted > _buffer.Length)
                _buffer = new byte[wanted];
            _length = _file.Read(_buffer.AsSpan(0, wanted), position);
            _start = position;
        }
        int at = (int)(position - _start);
        return _buffer.AsSpan(at, Math.Min(bytes, _length - at));
    }
}
