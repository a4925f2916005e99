using LightQ.Storage.Files;
using LightQ.Storage.Recovery;
using LightQ.Storage.Segments;
using LightQ.Storage.Writing;

namespace LightQ.Storage.Backups;

/// <summary>
/// What a journal held at one moment: everything from its start to the end of a batch. Copied while the journal goes
/// on.
/// </summary>
/// <remarks>
/// Nothing is held back meanwhile: segments only grow behind the moment's end, and retention and deletion go on. So
/// segments are copied from the newest to the oldest, and where one is gone, all before it are gone, and the copy
/// begins there as the journal itself does.
/// </remarks>
public sealed class JournalSnapshot
{
    private readonly LogState _log;
    private LogEnd _end;
    private Segment[] _segments = [];
    private long _startOffset;

    internal JournalSnapshot(LogState log)
    {
        _log = log;
        Take();
    }

    /// <summary>The first offset.</summary>
    public long StartOffset => _startOffset;

    /// <summary>One behind the last offset.</summary>
    public long EndOffset => _end.Offset;

    /// <summary>About how much there is to copy.</summary>
    public long Bytes => _segments.Sum(BytesOf);

    /// <summary>
    /// Copies it as files that a journal can be opened from, as after a clean stop. Blocks on the disk.
    /// </summary>
    /// <param name="directory">Where the files belong in the data directory, with <c>/</c>.</param>
    /// <param name="sink">Where they go.</param>
    /// <param name="buffer">Memory to copy through.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <param name="producers">
    /// The state of producers at the end, where the journal does not keep it itself; null where it does.
    /// </param>
    /// <exception cref="IOException">The disk refuses to read.</exception>
    /// <returns>False when the journal was closed or deleted meanwhile: what was copied is of no use.</returns>
    public async Task<bool> TryCopyAsync(
        string directory,
        IBackupSink sink,
        Memory<byte> buffer,
        CancellationToken cancellationToken,
        byte[]? producers = null
    )
    {
        ArgumentNullException.ThrowIfNull(sink);
        Segment? oldest = null;
        while (_segments.Length > 0 && oldest is null)
        {
            oldest = await CopySegmentsAsync(directory, sink, buffer, cancellationToken).ConfigureAwait(false);
            if (oldest is null && _log.Closed)
                return false;
            if (oldest is null)
                Take(); // All of it expired before any of it was copied. A later moment does as well.
        }
        if (producers is null)
            await CopyProducersAsync(directory, sink, cancellationToken).ConfigureAwait(false);
        else if (_segments.Length > 0)
            await WriteProducersAsync(directory, sink, producers, cancellationToken).ConfigureAwait(false);
        await sink.WriteFileAsync($"{directory}/{EpochFile.Name}", EpochFile.Encode(_log.Epochs), cancellationToken)
            .ConfigureAwait(false);
        long start = Math.Min(Math.Max(_startOffset, oldest?.BaseOffset ?? 0), _end.Offset);
        var checkpoint = new Checkpoint(1, _log.Options.Incarnation, start, _end, _log.Epoch, Clean: true, _log.Key);
        await sink.WriteFileAsync(
                $"{directory}/{CheckpointFile.Name}",
                CheckpointFile.Encode(checkpoint),
                cancellationToken
            )
            .ConfigureAwait(false);
        return true;
    }

    private void Take()
    {
        do
        {
            _startOffset = _log.StartOffset; // First: it never passes an end that is read later.
            _end = (_log.Failure is null ? _log.Written : _log.Durable).Read();
            var segments = new List<Segment>();
            foreach (Segment segment in _log.Segments.All)
            {
                if (segment.Header.Ordinal <= _end.Ordinal)
                    segments.Add(segment);
            }
            _segments = [.. segments];
            // Retention removed the segment that the end was in.
        } while (_end.Ordinal != 0 && _segments.LastOrDefault()?.Header.Ordinal != _end.Ordinal && !_log.Closed);
    }

    private long BytesOf(Segment segment) =>
        SegmentHeader.PageSize
        + (segment.Header.Ordinal == _end.Ordinal ? _end.Position : segment.EndPosition)
        - segment.BasePosition;

    /// <returns>The oldest that was copied; null when even the newest was gone.</returns>
    private async Task<Segment?> CopySegmentsAsync(
        string directory,
        IBackupSink sink,
        Memory<byte> buffer,
        CancellationToken cancellationToken
    )
    {
        Segment? oldest = null;
        for (int i = _segments.Length - 1; i >= 0; i--)
        {
            Segment segment = _segments[i];
            if (!segment.TryAcquire())
                return oldest;
            try
            {
                if (TryOpen(segment) is not { } file)
                    return oldest;
                await CopyAsync(segment, file, directory, sink, buffer, cancellationToken).ConfigureAwait(false);
                oldest = segment;
            }
            finally
            {
                segment.Release();
            }
        }
        return oldest;
    }

    /// <summary>
    /// The file of a segment, which stays readable until it is released; null when the journal has just been deleted.
    /// </summary>
    private IStorageFile? TryOpen(Segment segment)
    {
        try
        {
            return segment.File;
        }
        catch (IOException) when (_log.Closed)
        {
            return null;
        }
    }

    private async Task CopyAsync(
        Segment segment,
        IStorageFile file,
        string directory,
        IBackupSink sink,
        Memory<byte> buffer,
        CancellationToken cancellationToken
    )
    {
        long length = BytesOf(segment);
        await sink.BeginFileAsync(
                $"{directory}/{SegmentName.Of(segment.Header.Ordinal, SegmentName.Log)}",
                length,
                cancellationToken
            )
            .ConfigureAwait(false);
        for (long position = 0; position < length; )
        {
            int read = file.Read(buffer.Span[..(int)Math.Min(buffer.Length, length - position)], position);
            if (read == 0)
                throw new IOException($"'{segment.Path}' ends at byte {position}; {length} had been written to it.");
            SegmentExtent.Clear(buffer.Span[..read], position); // The copy ends where the log does.
            await sink.WriteAsync(buffer[..read], cancellationToken).ConfigureAwait(false);
            position += read;
        }
    }

    private ValueTask WriteProducersAsync(
        string directory,
        IBackupSink sink,
        byte[] producers,
        CancellationToken cancellationToken
    )
    {
        Segment last = _segments[^1];
        return sink.WriteFileAsync(
            $"{directory}/{SegmentName.Of(last.Header.Ordinal, SegmentName.Producers)}",
            new ProducerSnapshotFile(_end.Position, _end.Offset, last.Crc, producers).Encode(),
            cancellationToken
        );
    }

    /// <summary>
    /// The newest snapshot of producers that is there: what it lacks, the next start finds in the batches behind it.
    /// </summary>
    private async Task CopyProducersAsync(string directory, IBackupSink sink, CancellationToken cancellationToken)
    {
        foreach (Segment segment in _segments.Reverse())
        {
            long ordinal = segment.Header.Ordinal;
            byte[]? content = ProducerSnapshotFile.ReadContent(_log.Files, _log.PathOf(ordinal, SegmentName.Producers));
            if (ProducerSnapshotFile.Parse(content, segment) is not { } found || found.Position > _end.Position)
                continue;
            await sink.WriteFileAsync(
                    $"{directory}/{SegmentName.Of(ordinal, SegmentName.Producers)}",
                    content,
                    cancellationToken
                )
                .ConfigureAwait(false);
            return;
        }
    }
}
