using System.Text.Json;
using System.Text.Json.Serialization;

namespace LightQ.Broker.Replication;

/// <summary>
/// Remembers beside a journal how far of the stream it goes, so that a later takeover begins to read there. The file
/// never says more than what the journal has synced.
/// </summary>
/// <remarks>
/// It is replaced as a whole, after 16 MiB or 1,024 entries and when the journal is closed: a broker that is killed
/// reads no more of them again, and small entries take as long as their number. What it says is compared with the
/// stream before it is used. Any thread.
/// </remarks>
/// <param name="path">The file.</param>
/// <param name="stream">The stream's name: a mark of another one says nothing.</param>
/// <param name="synced">One behind the last offset that the journal has synced.</param>
internal sealed class MarkFile(string path, string stream, Func<long> synced)
{
    private const long WrittenEvery = 16 * 1024 * 1024;

    /// <summary>An entry counts as so many bytes at least.</summary>
    private const long BytesOfEntry = WrittenEvery / 1024;

    private readonly Lock _lock = new();
    private StreamMark? _latest = Read(path, stream);
    private StreamMark? _waiting;
    private long _bytes;
    private bool _isWaiting;
    private bool _isClosed;
    private Task _writing = Task.CompletedTask;

    /// <summary>The last mark that was noted, or read when the file was opened; null for none.</summary>
    public StreamMark? Latest
    {
        get
        {
            lock (_lock)
                return _latest;
        }
    }

    /// <summary>The journal has everything up to a mark, if not synced yet.</summary>
    /// <param name="mark">The mark.</param>
    /// <param name="bytes">Bytes since the mark before, of one entry.</param>
    public void Note(in StreamMark mark, long bytes)
    {
        lock (_lock)
        {
            _latest = mark;
            _bytes += Math.Max(bytes, BytesOfEntry);
            if (_waiting is not null || _bytes < WrittenEvery)
                return;
            (_waiting, _bytes) = (mark, 0);
            Volatile.Write(ref _isWaiting, true);
        }
    }

    /// <summary>The journal may have synced more.</summary>
    public void OnProgress()
    {
        if (!Volatile.Read(ref _isWaiting))
            return;
        lock (_lock)
        {
            if (_isClosed || _waiting is not { } mark || mark.NextOffset > synced() || !_writing.IsCompleted)
                return;
            _waiting = null;
            Volatile.Write(ref _isWaiting, false);
            _writing = Task.Run(() => Write(mark));
        }
    }

    /// <summary>The journal is closed: the last mark is written, if all that it stands for is synced.</summary>
    public async Task CloseAsync()
    {
        StreamMark? latest = await EndAsync().ConfigureAwait(false);
        if (latest is { } mark && mark.NextOffset <= synced())
            Write(mark);
    }

    /// <summary>The journal is about to be deleted, or the stream has something else: nothing is remembered.</summary>
    public async Task DeleteAsync()
    {
        await EndAsync().ConfigureAwait(false);
        File.Delete(path);
    }

    /// <summary>The stream has something else there: it is forgotten until the next is noted.</summary>
    public void Forget()
    {
        lock (_lock)
        {
            (_latest, _waiting) = (null, null);
            Volatile.Write(ref _isWaiting, false);
        }
    }

    private static StreamMark? Read(string path, string stream)
    {
        try
        {
            return
                File.Exists(path)
                && JsonSerializer.Deserialize(File.ReadAllBytes(path), MarkJson.Default.StoredMark) is { } stored
                && stored.Stream == stream
                ? stored.Mark
                : null;
        }
        catch (Exception e) when (e is JsonException or IOException or UnauthorizedAccessException)
        {
            return null; // Then the stream is read from its front.
        }
    }

    private async Task<StreamMark?> EndAsync()
    {
        Task writing;
        StreamMark? latest;
        lock (_lock)
        {
            (_isClosed, writing, latest) = (true, _writing, _latest);
            (_latest, _waiting) = (null, null);
        }
        await writing.ConfigureAwait(false);
        return latest;
    }

    private void Write(StreamMark mark)
    {
        string temporary = $"{path}.new";
        try
        {
            using (var file = new FileStream(temporary, FileMode.Create, FileAccess.Write))
            {
                file.Write(
                    JsonSerializer.SerializeToUtf8Bytes(new StoredMark(stream, mark), MarkJson.Default.StoredMark)
                );
                file.Flush(flushToDisk: true);
            }
            File.Move(temporary, path, overwrite: true);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // The one before stays, which says less. A disk that takes nothing is the journal's to report.
        }
    }
}

/// <summary>What the file holds.</summary>
/// <param name="Stream">The stream's name.</param>
/// <param name="Mark">How far the journal goes.</param>
internal sealed record StoredMark(string Stream, StreamMark Mark);

/// <summary>The file's format.</summary>
[JsonSerializable(typeof(StoredMark))]
internal sealed partial class MarkJson : JsonSerializerContext;
