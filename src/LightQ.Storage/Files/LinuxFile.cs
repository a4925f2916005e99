// Unsafe: buffers are handed to system calls by address.
using System.Runtime.InteropServices;

namespace LightQ.Storage.Files;

/// <summary>A file descriptor and the calls on it, each error checked.</summary>
/// <remarks>The owner disposes it after the last call; a call on a disposed file is refused.</remarks>
internal sealed unsafe class LinuxFile(string path, int descriptor, Action closed) : IStorageFile
{
    private const int SeekEnd = 2;
    private const int SeekData = 3;
    private const int AtEmptyPath = 0x1000;
    private const uint StatBlocks = 0x400;
    private const int StatXSize = 256;
    private const int BlocksField = 0x30;
    private const int BlockUnit = 512;
    private const int ZeroBlock = 256 * 1024;

    private volatile string _path = path;
    private int _descriptor = descriptor;

    public long Length
    {
        get
        {
            long length = Libc.LSeek(Descriptor, 0, SeekEnd);
            return length >= 0 ? length : throw Error("seek");
        }
    }

    private int Descriptor
    {
        get
        {
            ObjectDisposedException.ThrowIf(_descriptor < 0, this);
            return _descriptor;
        }
    }

    public int Read(Span<byte> destination, long position)
    {
        int descriptor = Descriptor,
            done = 0;
        fixed (byte* start = destination)
        {
            while (done < destination.Length)
            {
                nint n = Libc.PRead(descriptor, start + done, destination.Length - done, position + done);
                if (n == 0)
                    break;
                if (n > 0)
                    done += (int)n;
                else if (Marshal.GetLastPInvokeError() != Libc.InterruptedCall)
                    throw Error("read");
            }
        }
        return done;
    }

    public void Write(ReadOnlySpan<byte> source, long position)
    {
        int descriptor = Descriptor,
            done = 0;
        fixed (byte* start = source)
        {
            while (done < source.Length)
            {
                nint n = Libc.PWrite(descriptor, start + done, source.Length - done, position + done);
                if (n >= 0)
                    done += (int)n;
                else if (Marshal.GetLastPInvokeError() != Libc.InterruptedCall)
                    throw Error("write");
            }
        }
    }

    public void Sync()
    {
        while (Libc.FDataSync(Descriptor) != 0)
        {
            // An interrupted call has not looked for errors yet: the next call reports them.
            if (Marshal.GetLastPInvokeError() != Libc.InterruptedCall)
                throw Error(StorageIOException.Sync);
        }
    }

    public void Allocate(long length)
    {
        if (Mutation.SparseSegment)
        {
            SetLength(length);
            return;
        }
        while (Libc.FAllocate(Descriptor, 0, 0, length) != 0)
        {
            int error = Marshal.GetLastPInvokeError();
            if (error == Libc.InterruptedCall)
                continue;
            if (error is not (Libc.NotSupported or Libc.FunctionNotImplemented))
                throw new StorageIOException("fallocate", _path, error);
            WriteZeros(length);
            return;
        }

        // Some file systems report success and reserve nothing.
        if (AllocatedBytes() < length)
            WriteZeros(length);
    }

    public long NextData(long position)
    {
        // Blocks that are reserved and were never written count as a hole.
        long data = Libc.LSeek(Descriptor, position, SeekData);
        if (data >= 0)
            return data;
        return Marshal.GetLastPInvokeError() == Libc.NothingThere ? Math.Max(position, Length) : position;
    }

    public void SetLength(long length)
    {
        while (Libc.FTruncate(Descriptor, length) != 0)
        {
            if (Marshal.GetLastPInvokeError() != Libc.InterruptedCall)
                throw Error("truncate");
        }
    }

    public void DropCached(long position, long length) =>
        _ = Libc.FAdvise(Descriptor, position, length, Libc.AdviseDontNeed); // A hint.

    public FileMapping? TryMap(long length)
    {
        byte* address = Libc.MMap(null, (nint)length, Libc.ProtectRead, Libc.MapShared, Descriptor, 0);
        return address == (byte*)-1 ? null : new LinuxMapping(address, checked((int)length));
    }

    public void IsNow(string path) => _path = path;

    public void Dispose()
    {
        int descriptor = Interlocked.Exchange(ref _descriptor, -1);
        if (descriptor < 0)
            return;
        _ = Libc.Close(descriptor); // Nothing is buffered here; an error of writing was an error of Sync.
        closed();
    }

    private long AllocatedBytes()
    {
        byte* stat = stackalloc byte[StatXSize];
        return Libc.StatX(Descriptor, "", AtEmptyPath, StatBlocks, stat) == 0
            ? *(long*)(stat + BlocksField) * BlockUnit
            : throw Error("stat");
    }

    private void WriteZeros(long length)
    {
        byte[] zeros = new byte[ZeroBlock];
        for (long position = 0; position < length; position += zeros.Length)
            Write(zeros.AsSpan(0, (int)Math.Min(zeros.Length, length - position)), position);
    }

    private StorageIOException Error(string operation) => new(operation, _path, Marshal.GetLastPInvokeError());
}
