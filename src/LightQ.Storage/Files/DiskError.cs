using System.Globalization;

namespace LightQ.Storage.Files;

/// <summary>
/// What went wrong at the disk, for clients: no paths, which are the server's business and stand in its log.
/// </summary>
public static class DiskError
{
    /// <summary>Says what failed and why, without a point at the end.</summary>
    public static string Describe(Exception error) =>
        error switch
        {
            StorageIOException io => io.Summary,
            JournalCorruptException damage =>
                $"the log is damaged: {damage.Detail}; offsets {damage.FirstOffset} to {damage.LastOffset} are lost "
                    + $"or unreachable. Stop the broker, and 'lightq journal repair', with the directory that its log "
                    + $"names, says what can be mended",
            JournalMissingException =>
                "the log's files are gone: put them back while the broker is stopped, where its log says that they "
                    + "were, or delete the topic and lose its messages",
            JournalFormatException =>
                "a file of the log is of another version or belongs to another topic; the broker's log says which",
            InsufficientMemoryException => "there is no memory for it",
            UnauthorizedAccessException => "the broker may not use a file that it needs",
            FileNotFoundException or DirectoryNotFoundException => "a file that it needs is not there",
            _ when IsFull(error) => "no space is left",
            _ => string.Create(CultureInfo.InvariantCulture, $"the disk refused (error {error.HResult & 0xFFFF})"),
        };

    /// <summary>Whether it was for want of space, the user's quota included: that passes.</summary>
    public static bool IsFull(Exception error) => StorageIOException.IsDiskFull(error);
}
