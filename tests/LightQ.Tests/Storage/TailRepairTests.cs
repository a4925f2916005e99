using LightQ.Protocol.Batches;
using LightQ.Storage.Files;
using LightQ.Storage.Recovery;
using LightQ.Storage.Segments;
using Xunit;

namespace LightQ.Tests.Storage;

public sealed class TailRepairTests : IDisposable
{
    private const int From = 4096;
    private const int Chunk = 1 << 20;
    private const int FileBytes = From + (2 * Chunk) + 4096;
    private static readonly SegmentHeader s_header = new() { Ordinal = 7, Key = new LogKey(1, 2) };
    private readonly string _directory = Directory.CreateTempSubdirectory("lightq-tail-").FullName;

    /// <summary>
    /// Within a chunk, at its seams, and where the file ends with the header: of its payload nothing got there.
    /// </summary>
    [Theory]
    [InlineData(From)]
    [InlineData(From + 8000)]
    [InlineData(From + Chunk - 96)]
    [InlineData(From + Chunk - 16)]
    [InlineData(From + Chunk - 8)]
    [InlineData(From + Chunk)]
    [InlineData(FileBytes - 256)]
    public void A_header_that_proves_something_is_found_anywhere(int position)
    {
        byte[] batch = TestBatch.Make(1);
        var stamp = new BatchStamp(BaseOffset: 100, AppendTime: 1, LeaderEpoch: 1, PreviousCrc: 0, DurableBack: 5);
        BatchWriter.Stamp(batch, s_header.Key.Sign(s_header.Ordinal, position, batch.Length, stamp));
        using IStorageFile file = MakeFile(batch.AsSpan(0, BatchLayout.HeaderSize), position);
        Assert.Equal(95, TailRepair.FindProof(file, s_header, From, out long usedEnd));
        Assert.InRange(usedEnd, position + BatchLayout.MagicAndVersion + 1, position + BatchLayout.HeaderSize);
        Assert.Equal(-1, TailRepair.FindProof(file, s_header with { Ordinal = 8 }, From, out _));
        Assert.Equal(-1, TailRepair.FindProof(file, s_header with { Key = LogKey.Create() }, From, out _));
        Assert.Equal(95, TailRepair.FindProof(file, s_header with { Key = default }, From, out _));
    }

    [Fact]
    public void A_cut_leaves_only_zeros_behind_it()
    {
        using IStorageFile file = MakeFile("remains"u8, From + Chunk + 77);
        Assert.Equal(-1, TailRepair.FindProof(file, s_header, From, out long usedEnd));
        Assert.Equal(From + Chunk + 77 + 7, usedEnd);
        TailRepair.Cut(file, From, usedEnd);
        TailRepair.FindProof(file, s_header, From, out usedEnd);
        Assert.Equal(From, usedEnd);
    }

    public void Dispose() => Directory.Delete(_directory, recursive: true);

    private IStorageFile MakeFile(ReadOnlySpan<byte> bytes, int position)
    {
        IStorageFile file = PlatformFileSystem.Choose().Open(Path.Combine(_directory, "segment"), OpenMode.Create);
        file.Allocate(FileBytes);
        file.Write(bytes, position);
        return file;
    }
}
