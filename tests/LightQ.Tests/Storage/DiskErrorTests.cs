using LightQ.Storage;
using LightQ.Storage.Files;
using Xunit;

namespace LightQ.Tests.Storage;

/// <summary>What clients are told of an error of the disk.</summary>
public sealed class DiskErrorTests
{
    private const string Directory = "/srv/lightq/topics/0123",
        File = Directory + "/00000000000000000001.seg";

    [Theory]
    [InlineData(5, false, "fdatasync failed: Input/output error (error 5)")]
    [InlineData(28, true, "fdatasync failed: No space left on device (error 28)")]
    [InlineData(122, true, "fdatasync failed: Disk quota exceeded (error 122)")]
    public void An_error_of_a_system_call_is_told_with_its_name_and_without_its_file(
        int error,
        bool isFull,
        string told
    )
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Errors have other numbers elsewhere.");
        var exception = new StorageIOException(StorageIOException.Sync, File, error);
        Assert.Contains(File, exception.Message, StringComparison.Ordinal);
        Assert.Equal((told, isFull), (DiskError.Describe(exception), DiskError.IsFull(exception)));
    }

    [Fact]
    public void No_error_is_told_with_a_path()
    {
        Exception[] errors =
        [
            new JournalCorruptException(Directory, Path.GetFileName(File), 4096, 10, 12, "a batch is not valid"),
            new JournalMissingException(Directory),
            new JournalFormatException($"'{File}' has format version 9; this program knows version 2."),
            new UnauthorizedAccessException($"Access to the path '{File}' is denied."),
            new FileNotFoundException($"Could not find file '{File}'.", File),
            new DirectoryNotFoundException($"Could not find a part of the path '{File}'."),
            new IOException($"The file '{File}' already exists.", 17),
        ];
        Assert.All(errors, e => Assert.DoesNotContain("/", DiskError.Describe(e), StringComparison.Ordinal));
        Assert.Contains("offsets 10 to 12", DiskError.Describe(errors[0]), StringComparison.Ordinal);
        Assert.Contains("error 17", DiskError.Describe(errors[^1]), StringComparison.Ordinal);
    }
}
