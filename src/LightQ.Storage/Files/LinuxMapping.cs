// Unsafe: maps and unmaps by address.
namespace LightQ.Storage.Files;

/// <summary>A mapping made with <c>mmap</c>.</summary>
internal sealed unsafe class LinuxMapping(byte* address, int length) : FileMapping(address, length)
{
    private static readonly long PageMask = Environment.SystemPageSize - 1;
    private int _disposed;

    public override void Populate(long position, long length)
    {
        long start = position & ~PageMask;
        // A hint: old kernels refuse it.
        _ = Libc.MAdvise(Address + start, (nint)(position + length - start), Libc.AdvisePopulateRead);
    }

    protected override void Dispose(bool disposing)
    {
        if (Interlocked.Exchange(ref _disposed, 1) == 0)
            _ = Libc.MUnmap(Address, Length);
    }
}
