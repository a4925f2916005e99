using Microsoft.Win32.SafeHandles;

namespace LightQ.Storage.Files;

/// <summary>A file through <see cref="RandomAccess"/>. It has no mapping: readers then use reads.</summary>
internal sealed class PortableFile(SafeFileHandle handle) : IStorageFile
{
    private const int ZeroBlock = 256 * 1024;
    private readonly SafeFileHandle _handle = handle;

    public long Length => RandomAccess.GetLength(_handle);

    public int Read(Span<byte> destination, long position)
    {
        int done = 0;
        while (done < destination.Length)
        {
            int n = RandomAccess.Read(_handle, destination[done..], position + done);
            if (n == 0)
                break;
            done += n;
        }
        return done;
    }

    public void Write(ReadOnlySpan<byte> source, long position) => RandomAccess.Write(_handle, source, position);

    public void Sync() => RandomAccess.FlushToDisk(_handle);

    public void Allocate(long length)
    {
        byte[] zeros = new byte[ZeroBlock];
        for (long position = Length; position < length; position += zeros.Length)
            Write(zeros.AsSpan(0, (int)Math.Min(zeros.Length, length - position)), position);
    }

    public void SetLength(long length) => RandomAccess.SetLength(_handle, length);

    public FileMapping? TryMap(long length) => null;

    public void Dispose() => _handle.Dispose();
}
