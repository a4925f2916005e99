// Unsafe: system calls take addresses.
using System.Runtime.InteropServices;

namespace LightQ.Storage.Files;

/// <summary>
/// The Linux system calls behind <see cref="LinuxFile"/>. The managed equivalents ignore some errors of a sync, and
/// cannot sync a directory.
/// </summary>
internal static unsafe partial class Libc
{
    public const int InterruptedCall = 4;
    public const int NothingThere = 6;
    public const int TooManyOpenFiles = 24;
    public const int NotSupported = 95;
    public const int FunctionNotImplemented = 38;

    public const int ReadOnly = 0;
    public const int ReadWriteFlag = 2;
    public const int CreateFlag = 0x40;
    public const int TruncateFlag = 0x200;
    public const int CloseOnExec = 0x80000;

    public const int ProtectRead = 1;
    public const int MapShared = 1;
    public const int AdvisePopulateRead = 22;
    public const int AdviseDontNeed = 4;

    private const string Library = "libc";

    [LibraryImport(Library, EntryPoint = "open", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int Open(string path, int flags, int mode);

    [LibraryImport(Library, EntryPoint = "close", SetLastError = true)]
    public static partial int Close(int descriptor);

    [LibraryImport(Library, EntryPoint = "pread", SetLastError = true)]
    public static partial nint PRead(int descriptor, byte* buffer, nint count, long position);

    [LibraryImport(Library, EntryPoint = "pwrite", SetLastError = true)]
    public static partial nint PWrite(int descriptor, byte* buffer, nint count, long position);

    [LibraryImport(Library, EntryPoint = "fdatasync", SetLastError = true)]
    public static partial int FDataSync(int descriptor);

    [LibraryImport(Library, EntryPoint = "fsync", SetLastError = true)]
    public static partial int FSync(int descriptor);

    [LibraryImport(Library, EntryPoint = "syncfs", SetLastError = true)]
    public static partial int SyncFileSystem(int descriptor);

    [LibraryImport(Library, EntryPoint = "fallocate", SetLastError = true)]
    public static partial int FAllocate(int descriptor, int mode, long position, long length);

    [LibraryImport(Library, EntryPoint = "ftruncate", SetLastError = true)]
    public static partial int FTruncate(int descriptor, long length);

    /// <remarks>Gives the error itself.</remarks>
    [LibraryImport(Library, EntryPoint = "posix_fadvise")]
    public static partial int FAdvise(int descriptor, long position, long length, int advice);

    [LibraryImport(Library, EntryPoint = "lseek", SetLastError = true)]
    public static partial long LSeek(int descriptor, long position, int whence);

    [LibraryImport(Library, EntryPoint = "statx", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int StatX(int directory, string path, int flags, uint mask, byte* result);

    [LibraryImport(Library, EntryPoint = "mmap", SetLastError = true)]
    public static partial byte* MMap(
        byte* address,
        nint length,
        int protection,
        int flags,
        int descriptor,
        long position
    );

    [LibraryImport(Library, EntryPoint = "munmap", SetLastError = true)]
    public static partial int MUnmap(byte* address, nint length);

    [LibraryImport(Library, EntryPoint = "getrlimit", SetLastError = true)]
    private static partial int GetResourceLimit(int resource, ulong* softAndHard);

    /// <summary>How many descriptors the process may have.</summary>
    public static long MaxDescriptors()
    {
        const int NumberOfFiles = 7;
        ulong* softAndHard = stackalloc ulong[2];
        return GetResourceLimit(NumberOfFiles, softAndHard) == 0
            ? (long)Math.Min(*softAndHard, int.MaxValue)
            : int.MaxValue;
    }

    [LibraryImport(Library, EntryPoint = "madvise", SetLastError = true)]
    public static partial int MAdvise(byte* address, nint length, int advice);
}
