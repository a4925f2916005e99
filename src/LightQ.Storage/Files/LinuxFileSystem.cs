using System.Runtime.InteropServices;

namespace LightQ.Storage.Files;

/// <summary>Files by system call on Linux.</summary>
internal sealed class LinuxFileSystem : DirectoryOperations
{
    private const int OwnerOnly = 0x180; // rw-------

    public override IStorageFile Open(string path, OpenMode mode)
    {
        int flags = Libc.CloseOnExec | mode switch
        {
            OpenMode.Read => Libc.ReadOnly,
            OpenMode.ReadWrite => Libc.ReadWriteFlag,
            OpenMode.OpenOrCreate => Libc.ReadWriteFlag | Libc.CreateFlag,
            _ => Libc.ReadWriteFlag | Libc.CreateFlag | Libc.TruncateFlag,
        };
        int descriptor;
        while ((descriptor = Libc.Open(path, flags, OwnerOnly)) < 0)
        {
            int error = Marshal.GetLastPInvokeError();
            if (error != Libc.InterruptedCall)
                throw new StorageIOException("open", path, error);
        }
        return new LinuxFile(path, descriptor);
    }

    public override void SyncDirectory(string path)
    {
        int descriptor = Libc.Open(path, Libc.ReadOnly | Libc.CloseOnExec, 0);
        if (descriptor < 0)
            throw new StorageIOException("open", path, Marshal.GetLastPInvokeError());
        int result = Libc.FSync(descriptor), error = Marshal.GetLastPInvokeError();
        _ = Libc.Close(descriptor);
        if (result != 0)
            throw new StorageIOException("fsync", path, error);
    }
}
