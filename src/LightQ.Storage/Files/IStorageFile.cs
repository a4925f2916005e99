namespace LightQ.Storage.Files;

/// <summary>
/// An open file. Reads and writes name their position and are thread-safe; nothing is buffered in the process.
/// </summary>
internal interface IStorageFile : IDisposable
{
    /// <summary>The file's length in bytes.</summary>
    long Length { get; }

    /// <summary>Reads until the span is full or the file ends.</summary>
    /// <returns>Bytes read.</returns>
    int Read(Span<byte> destination, long position);

    /// <summary>Writes all of the span into the page cache.</summary>
    void Write(ReadOnlySpan<byte> source, long position);

    /// <summary>
    /// Puts everything written so far on the disk (<c>fdatasync</c>). An error is final: the kernel may have dropped
    /// the pages.
    /// </summary>
    void Sync();

    /// <summary>
    /// Gives the file real blocks and that length, so that no later write or mapped read below it lacks space.
    /// </summary>
    void Allocate(long length);

    /// <summary>
    /// Where the next bytes are that may not be zero; the file's length if there are none. May be too early, never too
    /// late.
    /// </summary>
    long NextData(long position) => position;

    /// <summary>Cuts the file, or grows it without blocks.</summary>
    void SetLength(long length);

    /// <summary>
    /// Lets go of what the system caches of a range, where it does as it is told: the next read then comes from the
    /// disk.
    /// </summary>
    void DropCached(long position, long length)
    {
        // Systems without such a call: reads may come from the cache.
    }

    /// <summary>It has another name: errors show that one from now on.</summary>
    void IsNow(string path)
    {
        // Systems whose errors name no file.
    }

    /// <summary>Maps the file's first bytes for reading; null where that is not possible.</summary>
    FileMapping? TryMap(long length);
}
