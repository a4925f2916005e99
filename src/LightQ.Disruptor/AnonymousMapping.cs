// Unsafe: the system calls take and return addresses.
using System.Runtime.InteropServices;

namespace LightQ.Disruptor;

/// <summary>Private anonymous memory on Linux: reserved at once, paid for page by page when written.</summary>
internal static unsafe partial class AnonymousMapping
{
    private const int ReadWrite = 0x1 | 0x2;
    private const int PrivateAnonymousNoReserve = 0x02 | 0x20 | 0x4000;
    private const int DontNeed = 4;

    public static byte* Reserve(int bytes)
    {
        void* address = Map(null, (nuint)bytes, ReadWrite, PrivateAnonymousNoReserve, -1, 0);
        return address != (void*)-1
            ? (byte*)address
            : throw new InsufficientMemoryException(
                $"The system refused to reserve {bytes} bytes: {Marshal.GetLastPInvokeErrorMessage()}."
            );
    }

    public static bool Discard(byte* address, int bytes) => Advise(address, (nuint)bytes, DontNeed) == 0;

    public static void Release(byte* address, int bytes) => _ = Unmap(address, (nuint)bytes);

    [LibraryImport("libc", EntryPoint = "mmap", SetLastError = true)]
    private static partial void* Map(void* address, nuint length, int protection, int flags, int file, nint offset);

    [LibraryImport("libc", EntryPoint = "munmap", SetLastError = true)]
    private static partial int Unmap(void* address, nuint length);

    [LibraryImport("libc", EntryPoint = "madvise", SetLastError = true)]
    private static partial int Advise(void* address, nuint length, int advice);
}
