using LightQ.Storage;
using LightQ.Storage.Files;
using Xunit;

namespace LightQ.Tests.Storage;

public sealed class DataDirectoryLockTests
{
    [Fact]
    public void A_second_lock_on_a_directory_is_refused_and_names_it()
    {
        string directory = Directory.CreateTempSubdirectory("lightq-lock-").FullName;
        using (DataDirectoryLock.Acquire(directory))
        {
            DataDirectoryException error = Assert.Throws<DataDirectoryException>(() =>
                DataDirectoryLock.Acquire(directory)
            );
            Assert.Contains(directory, error.Message, StringComparison.Ordinal);
            Assert.Contains("another broker", error.Message, StringComparison.Ordinal);
        }
        DataDirectoryLock.Acquire(directory).Dispose();
        Directory.Delete(directory, recursive: true);
    }

    [Fact]
    public void A_path_that_cannot_be_a_directory_is_refused_and_names_it()
    {
        string file = Path.GetTempFileName();
        DataDirectoryException error = Assert.Throws<DataDirectoryException>(() =>
            DataDirectoryLock.Acquire(Path.Combine(file, "data"))
        );
        Assert.Contains(file, error.Message, StringComparison.Ordinal);
        File.Delete(file);
    }
}
