// Unsafe: a system call fills a buffer given by address.
using LightQ.Storage.Files;
using Xunit;

namespace LightQ.Tests.Storage;

public sealed class PlatformFileTests
{
    [Fact]
    public unsafe void An_allocated_file_has_all_its_blocks()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Blocks are counted on Linux only.");
        const int Length = 8 * 1024 * 1024,
            StatBlocks = 0x400,
            StatXSize = 256,
            BlocksField = 0x30,
            CurrentDirectory = -100;
        string directory = Directory.CreateTempSubdirectory("lightq-files-").FullName,
            path = Path.Combine(directory, "file");
        using (IStorageFile file = PlatformFileSystem.Choose().Open(path, OpenMode.Create))
        {
            file.Allocate(Length);
            byte* stat = stackalloc byte[StatXSize];
            Assert.Equal(0, Libc.StatX(CurrentDirectory, path, 0, StatBlocks, stat));
            Assert.True(
                *(long*)(stat + BlocksField) * 512 >= Length,
                "The file is sparse: a write or a mapped read could find the disk full."
            );
            Assert.Equal(Length, file.Length);
        }
        Directory.Delete(directory, recursive: true);
    }

    [Fact]
    public void An_error_names_the_file_as_it_is_called_by_now()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Other systems' files are the runtime's.");
        string directory = Directory.CreateTempSubdirectory("lightq-files-").FullName,
            made = Path.Combine(directory, "file.tmp"),
            path = Path.Combine(directory, "file");
        IFileSystem files = PlatformFileSystem.Choose();
        files.Open(made, OpenMode.Create).Dispose();
        using (IStorageFile file = files.Open(made, OpenMode.Read))
        {
            files.Rename(made, path);
            file.IsNow(path);
            // Opened for reading.
            StorageIOException error = Assert.Throws<StorageIOException>(() => file.Write([1], 0));
            Assert.Contains($"'{path}'", error.Message, StringComparison.Ordinal);
            Assert.DoesNotContain(directory, error.Summary, StringComparison.Ordinal);
        }
        Directory.Delete(directory, recursive: true);
    }
}
