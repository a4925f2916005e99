// Unsafe: batches are read at addresses of a mapped file that another process may be writing to.
using System.Buffers.Binary;
using LightQ.Protocol.Batches;
using LightQ.Storage.Files;
using LightQ.Storage.Segments;

namespace LightQ.Storage.Mapped;

/// <summary>
/// Follows a journal that a <see cref="MappedJournalWriter"/> of this or another process appends to, in place and
/// without a system call.
/// </summary>
/// <remarks>
/// <para>
/// How it knows how far it may read is written there. It begins with the segment that the writer is at, and follows
/// that one writer. It neither waits nor knows whether the writer still lives; both are the caller's to see to.
/// </para>
/// <para>
/// Only for journals that such a writer has open. <see cref="Journal"/> writes by other rules: what it is about to
/// write may be half there.
/// </para>
/// <para>One thread at a time.</para>
/// </remarks>
public sealed unsafe class MappedJournalReader : IDisposable
{
    /// <summary>
    /// The next segment's file is looked for once in so many empty reads: it takes a system call or two, when a batch
    /// may be coming.
    /// </summary>
    private const int LooksBetween = 64 * 1024;

    private readonly string _directory;
    private MappedSegment _segment;
    private MappedSegment? _next;
    private SegmentHeader _header;
    private long _position;
    private long _offset;
    private int _looks;

    private MappedJournalReader(string directory, MappedSegment segment, in SegmentHeader header)
    {
        (_directory, _segment, _header) = (directory, segment, header);
        (_position, _offset) = (header.BasePosition, header.BaseOffset);
    }

    /// <summary>The offset that comes next.</summary>
    public long NextOffset => _offset;

    private long Limit => _header.BasePosition + _segment.FileBytes - SegmentHeader.PageSize;

    /// <summary>Begins at the start of the newest segment.</summary>
    /// <param name="directory">The journal's directory.</param>
    /// <exception cref="JournalMissingException">There is no segment with a valid header page.</exception>
    public static MappedJournalReader Open(string directory)
    {
        ArgumentException.ThrowIfNullOrEmpty(directory);
        // The last file may be one that is made ahead and has no header page yet.
        foreach (long ordinal in OrdinalsIn(directory).OrderDescending())
        {
            MappedSegment segment = Map(directory, ordinal);
            if (TryReadHeader(segment, ordinal, out SegmentHeader header))
                return new MappedJournalReader(directory, segment, header);
            segment.Dispose();
        }
        throw new JournalMissingException(directory);
    }

    /// <summary>Gets the batches that are there now, and goes behind them. Never blocks.</summary>
    /// <param name="maxBytes">The most to get; a longer batch still comes, alone.</param>
    /// <param name="run">Whole batches next to each other, valid until the next call.</param>
    /// <returns>False when there is nothing new.</returns>
    /// <exception cref="JournalCorruptException">What stands there is not what must come next.</exception>
    public bool TryRead(int maxBytes, out ReadOnlySpan<byte> run)
    {
        int length = 0;
        byte* start = At(_position);
        while (_position + length < Limit)
        {
            int batch = Volatile.Read(ref *(int*)(start + length));
            if (batch == 0 || (length > 0 && length + batch > maxBytes))
                break;
            Check(
                new ReadOnlySpan<byte>(
                    start + length,
                    (int)Math.Min(BatchLayout.HeaderSize, Limit - _position - length)
                ),
                batch,
                Limit - _position - length
            );
            length += batch;
        }
        _position += length;
        run = new ReadOnlySpan<byte>(start, length);
        if (length == 0)
            return TryEnterNext() && TryRead(maxBytes, out run);
        return true;
    }

    /// <summary>Lets go of the files.</summary>
    public void Dispose()
    {
        _segment.Dispose();
        _next?.Dispose();
    }

    private static IEnumerable<long> OrdinalsIn(string directory)
    {
        foreach (string name in PlatformFileSystem.Choose().List(directory))
        {
            if (SegmentName.TryParse(name, SegmentName.Log, out long ordinal))
                yield return ordinal;
        }
    }

    private static MappedSegment Map(string directory, long ordinal) =>
        new(Path.Combine(directory, SegmentName.Of(ordinal, SegmentName.Log)), writable: false);

    private static bool TryReadHeader(MappedSegment segment, long ordinal, out SegmentHeader header)
    {
        header = default;
        return Volatile.Read(ref *(ulong*)segment.At(0)) != 0
            && SegmentHeader.TryRead(new ReadOnlySpan<byte>(segment.At(0), SegmentHeader.Size), out header)
            && header.Ordinal == ordinal;
    }

    private byte* At(long position) => _segment.At(position - _header.BasePosition + SegmentHeader.PageSize);

    private void Check(ReadOnlySpan<byte> header, int length, long available)
    {
        bool possible =
            length >= BatchLayout.HeaderSize
            && length <= available
            && length % BatchLayout.Alignment == 0
            && header.Length == BatchLayout.HeaderSize;
        if (!possible || BinaryPrimitives.ReadInt64LittleEndian(header[BatchLayout.BaseOffset..]) != _offset)
        {
            throw new JournalCorruptException(
                _directory,
                SegmentName.Of(_header.Ordinal, SegmentName.Log),
                _position - _header.BasePosition + SegmentHeader.PageSize,
                _offset,
                _offset,
                "there is not the batch that must come next"
            );
        }
        _offset += BinaryPrimitives.ReadUInt32LittleEndian(header[BatchLayout.OffsetSpan..]);
    }

    /// <summary>Goes to the next segment once its header page is there and nothing is left of this one.</summary>
    private bool TryEnterNext()
    {
        long ordinal = _header.Ordinal + 1;
        if (_next is null)
        {
            if (
                _looks++ % LooksBetween != 0
                || !File.Exists(Path.Combine(_directory, SegmentName.Of(ordinal, SegmentName.Log)))
            )
            {
                return false;
            }

            _next = Map(_directory, ordinal);
        }
        // The writer may have appended this segment's last batch after the look for it, and before the look for the
        // next header page.
        if (!TryReadHeader(_next, ordinal, out SegmentHeader header) || header.BasePosition != _position)
            return false;
        _segment.Dispose();
        (_segment, _next, _header, _looks) = (_next, null, header, 0);
        return true;
    }
}
