namespace LightQ.Storage.Backups;

/// <summary>
/// Where a backup goes: one file after the other, each announced with its length and then written in full.
/// </summary>
public interface IBackupSink
{
    /// <summary>Begins a file.</summary>
    /// <param name="path">Where it belongs in the data directory, with <c>/</c>.</param>
    /// <param name="length">Bytes that follow.</param>
    /// <param name="cancellationToken">Gives up.</param>
    ValueTask BeginFileAsync(string path, long length, CancellationToken cancellationToken);

    /// <summary>Adds to the file that was begun. The memory is the caller's again when this is done.</summary>
    ValueTask WriteAsync(ReadOnlyMemory<byte> bytes, CancellationToken cancellationToken);
}
