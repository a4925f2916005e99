using System.Diagnostics;
using System.Runtime.InteropServices;

namespace LightQ.Storage.Files;

/// <summary>
/// Files by system call on Linux, within half of the descriptors that the process may have: the rest is for
/// connections.
/// </summary>
internal sealed class LinuxFileSystem : DirectoryOperations
{
    private const int OwnerOnly = 0x180; // rw-------
    private static readonly TimeSpan DescriptorPatience = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan DescriptorPause = TimeSpan.FromMilliseconds(10);

    private readonly long _limit = Libc.MaxDescriptors() / 2;
    private int _open;

    public override bool IsCrowded => Volatile.Read(ref _open) > _limit;

    public override IStorageFile Open(string path, OpenMode mode)
    {
        int flags =
            Libc.CloseOnExec
            | mode switch
            {
                OpenMode.Read => Libc.ReadOnly,
                OpenMode.ReadWrite => Libc.ReadWriteFlag,
                OpenMode.OpenOrCreate => Libc.ReadWriteFlag | Libc.CreateFlag,
                _ => Libc.ReadWriteFlag | Libc.CreateFlag | Libc.TruncateFlag,
            };
        int descriptor = OpenDescriptor(path, flags);
        Interlocked.Increment(ref _open);
        return new LinuxFile(path, descriptor, () => Interlocked.Decrement(ref _open));
    }

    public override void SyncDirectory(string path)
    {
        int descriptor = OpenDescriptor(path, Libc.ReadOnly | Libc.CloseOnExec);
        int error = Sync(descriptor, Libc.FSync);
        if (error != 0)
            throw new StorageIOException(StorageIOException.SyncDirectory, path, error);
    }

    public override bool TrySyncAll(string directory)
    {
        int descriptor = OpenDescriptor(directory, Libc.ReadOnly | Libc.CloseOnExec);
        int error = Sync(descriptor, Libc.SyncFileSystem);
        return error == 0 ? true : throw new StorageIOException(StorageIOException.SyncAll, directory, error);
    }

    /// <summary>Syncs and closes.</summary>
    /// <returns>The error, or 0.</returns>
    private static int Sync(int descriptor, Func<int, int> call)
    {
        int error;
        do error = call(descriptor) == 0 ? 0 : Marshal.GetLastPInvokeError();
        while (error == Libc.InterruptedCall);
        _ = Libc.Close(descriptor);
        return error;
    }

    /// <summary>Opens; without a descriptor left it waits for housekeeping to close what is not in use.</summary>
    private static int OpenDescriptor(string path, int flags)
    {
        for (long began = Stopwatch.GetTimestamp(); ; )
        {
            int descriptor = Libc.Open(path, flags, OwnerOnly);
            if (descriptor >= 0)
                return descriptor;
            int error = Marshal.GetLastPInvokeError();
            bool mayPass = error == Libc.TooManyOpenFiles && Stopwatch.GetElapsedTime(began) < DescriptorPatience;
            if (mayPass)
                Thread.Sleep(DescriptorPause);
            else if (error != Libc.InterruptedCall)
                throw new StorageIOException("open", path, error);
        }
    }
}
