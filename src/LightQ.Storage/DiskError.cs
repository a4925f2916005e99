using LightQ.Storage.Files;

namespace LightQ.Storage;

/// <summary>What went wrong at the disk, for clients: no paths, which are the server's business and stand in its log.</summary>
public static class DiskError
{
    /// <summary>Says what failed and why, without a point at the end.</summary>
    public static string Describe(Exception error) => error switch
    {
        StorageIOException io => io.Summary,
        JournalCorruptException damage => $"the log is damaged: {damage.Detail}; offsets {damage.FirstOffset} to {damage.LastOffset} are lost or unreachable until it is repaired. The broker's log says where",
        JournalMissingException => "the log's files are gone: they can be put back while the broker is stopped, or the topic deleted. The broker's log says where they were",
        JournalFormatException => "a file of the log is of another version or belongs to another topic. The broker's log says which",
        UnauthorizedAccessException => "the broker may not use a file that it needs. Its log says which",
        InsufficientMemoryException => "there is no memory for it",
        _ when IsFull(error) => "no space is left",
        _ => "the disk refused. The broker's log says more",
    };

    /// <summary>Whether it was for want of space, the user's quota included: that passes.</summary>
    public static bool IsFull(Exception error) => StorageIOException.IsDiskFull(error);
}
