using LightQ.Storage.Files;

namespace LightQ.Storage.Recovery;

/// <summary>A file read forwards through one buffer, which grows to the longest piece asked for.</summary>
internal sealed class FileWindow(IStorageFile file, byte[] buffer)
{
    private readonly IStorageFile _file = file;
    private byte[] _buffer = buffer;
    private long _start;
    private int _length;

    public FileWindow(IStorageFile file, int bufferBytes)
        : this(file, new byte[bufferBytes])
    {
    }

    /// <summary>The bytes at a position: as many as asked for, fewer only at the end of the file. Valid until the next call.</summary>
    public ReadOnlySpan<byte> Get(long position, int bytes)
    {
        if (position < _start || position + bytes > _start + _length)
        {
            if (bytes > _buffer.Length)
                _buffer = new byte[bytes];
            _length = _file.Read(_buffer, position);
            _start = position;
        }
        int at = (int)(position - _start);
        return _buffer.AsSpan(at, Math.Min(bytes, _length - at));
    }
}
