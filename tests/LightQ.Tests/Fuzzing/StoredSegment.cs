using LightQ.Protocol.Batches;
using LightQ.Storage.Files;
using LightQ.Storage.Segments;
using LightQ.Tests.Protocol;

namespace LightQ.Tests.Fuzzing;

/// <summary>
/// A segment file in memory, of an input that is its header's 96 bytes and then its batches: the rest of the header's
/// page is always zero.
/// </summary>
internal sealed class StoredSegment : IStorageFile
{
    public const int HeaderSize = SegmentHeader.Size;
    private readonly byte[] _bytes;

    /// <param name="maxLength">The longest input.</param>
    public StoredSegment(int maxLength) => _bytes = new byte[SegmentHeader.PageSize - HeaderSize + maxLength];

    public long Length { get; private set; }

    /// <summary>Behind the last byte that was written since the input was loaded.</summary>
    public long WrittenEnd { get; private set; }

    /// <summary>The batches' bytes as they are now.</summary>
    public ReadOnlySpan<byte> Batches => _bytes.AsSpan(SegmentHeader.PageSize..(int)Length);

    /// <summary>An input of a few batches, each of which refers to the one before.</summary>
    public static byte[] Of(SegmentHeader header, params byte[][] batches)
    {
        byte[] bytes = [.. new byte[HeaderSize], .. batches.SelectMany(b => b)];
        uint chain = header.Write(bytes);
        long offset = header.BaseOffset;
        int at = HeaderSize;
        foreach (byte[] batch in batches)
        {
            Span<byte> stored = bytes.AsSpan(at, batch.Length);
            int filePosition = SegmentHeader.PageSize + at - HeaderSize;
            chain = BatchWriter.Stamp(
                stored,
                header.Key.Sign(
                    header.Ordinal,
                    filePosition,
                    batch.Length,
                    new BatchStamp(offset, Sample.Time, 1, chain, 0)
                )
            );
            offset += new BatchView(stored).OffsetSpan;
            at += batch.Length;
        }
        return bytes;
    }

    /// <summary>Takes an input.</summary>
    /// <returns>The segment; null when its header is not one.</returns>
    public Segment? Load(ReadOnlySpan<byte> input)
    {
        if (input.Length < HeaderSize || !SegmentHeader.TryRead(input[..HeaderSize], out SegmentHeader header))
            return null;
        input[..HeaderSize].CopyTo(_bytes);
        input[HeaderSize..].CopyTo(_bytes.AsSpan(SegmentHeader.PageSize));
        (Length, WrittenEnd) = (SegmentHeader.PageSize + input.Length - HeaderSize, 0);
        var segment = new Segment(PlatformFileSystem.Choose(), "fuzzed", header, Length, this);
        segment.EndPosition = segment.Limit;
        return segment;
    }

    public int Read(Span<byte> destination, long position)
    {
        int count = (int)Math.Clamp(Length - position, 0, destination.Length);
        _bytes.AsSpan((int)Math.Min(position, Length), count).CopyTo(destination);
        return count;
    }

    public void Write(ReadOnlySpan<byte> source, long position)
    {
        source.CopyTo(_bytes.AsSpan((int)position));
        WrittenEnd = Math.Max(WrittenEnd, position + source.Length);
    }

    public void Sync()
    {
        // There is no disk.
    }

    public void Allocate(long length) => throw new NotSupportedException("A replay does not make a file longer.");

    public void SetLength(long length) => throw new NotSupportedException("A replay does not change a file's length.");

    public FileMapping? TryMap(long length) => null;

    public void Dispose()
    {
        // It is used again.
    }
}
