namespace LightQ.Storage.Backups;

/// <summary>What is in memory as a whole.</summary>
public static class BackupSinkExtensions
{
    /// <summary>Writes a file that is in memory.</summary>
    public static async ValueTask WriteFileAsync(
        this IBackupSink sink,
        string path,
        ReadOnlyMemory<byte> content,
        CancellationToken cancellationToken
    )
    {
        const int ChunkBytes = 64 * 1024;
        ArgumentNullException.ThrowIfNull(sink);
        await sink.BeginFileAsync(path, content.Length, cancellationToken).ConfigureAwait(false);
        for (int at = 0; at < content.Length; at += ChunkBytes)
        {
            await sink.WriteAsync(content.Slice(at, Math.Min(ChunkBytes, content.Length - at)), cancellationToken)
                .ConfigureAwait(false);
        }
    }
}
