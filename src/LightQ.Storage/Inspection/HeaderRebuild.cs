using System.Buffers.Binary;
using LightQ.Protocol.Batches;
using LightQ.Storage.Files;
using LightQ.Storage.Recovery;
using LightQ.Storage.Segments;

namespace LightQ.Storage.Inspection;

/// <summary>
/// Works out what a damaged header page said: from the end of the segment before it, or from what follows.
/// </summary>
internal static class HeaderRebuild
{
    private const int WindowBytes = 256 * 1024;
    private const int PreviousCrcAt = 76;

    /// <summary>The header, or null when nothing leads to it.</summary>
    /// <param name="file">The segment's file.</param>
    /// <param name="files">The file system.</param>
    /// <param name="identity">Topic, incarnation and key; the rest is ignored.</param>
    /// <param name="before">The end of the segment before; null when that is not known.</param>
    /// <param name="behind">A place further on whose log position is known; null when there is none.</param>
    /// <param name="isAlone">Whether no other file counts log positions with this one.</param>
    public static SegmentHeader? TryFind(
        FoundSegment file,
        IFileSystem files,
        SegmentHeader identity,
        LogEnd? before,
        LogEnd? behind,
        bool isAlone
    )
    {
        SegmentHeader? found = TryFindWith(file, files, identity, before, behind, isAlone);
        // An older version wrote segments without a key into the same log. Their batches show it.
        return found
            ?? (
                identity.Key.IsNone
                    ? null
                    : TryFindWith(file, files, identity with { Key = default }, before, behind, isAlone, keyless: true)
            );
    }

    private static SegmentHeader? TryFindWith(
        FoundSegment file,
        IFileSystem files,
        SegmentHeader identity,
        LogEnd? before,
        LogEnd? behind,
        bool isAlone,
        bool keyless = false
    )
    {
        // Positions count from the segment's first byte until its place in the log is known.
        using IStorageFile open = files.Open(file.Path, OpenMode.Read);
        var segment = new Segment(
            files,
            file.Path,
            identity with
            {
                Ordinal = file.Ordinal,
                BasePosition = 0,
            },
            file.FileBytes,
            open
        );
        var window = new FileWindow(open, WindowBytes);
        bool isFirstWhole = BatchScan.TryReadHeader(window, segment, 0, segment.Limit, out BatchView first);
        if (keyless && (!isFirstWhole || first.Mac != 0))
            return null;
        if (!isFirstWhole)
        {
            // The first batch is lost with the page: only the segment before can say where this one begins.
            if (
                before is not { } end
                || !BatchSearch.TryFind(
                    window,
                    segment,
                    end with
                    {
                        Position = 0,
                    },
                    segment.Limit,
                    long.MaxValue,
                    out LogEnd found
                )
                || !BatchScan.TryReadHeader(window, segment, found.Position, segment.Limit, out BatchView later)
            )
            {
                return null;
            }
            return After(identity, file.Ordinal, end, later.LeaderEpoch);
        }
        (long baseOffset, uint epoch, uint wantedCrc) = (first.BaseOffset, first.LeaderEpoch, first.PreviousCrc);
        // Then the rebuilt page has no key, and the codes mean nothing.
        bool isKeyLost = identity.Key.IsNone && first.Mac != 0;
        if (
            before is { } known
            && After(identity, file.Ordinal, known, epoch) is var candidate
            && candidate.BaseOffset == baseOffset
        )
        {
            if (candidate.Crc() == wantedCrc)
                return candidate;
            if (isKeyLost && known == default)
                return WithCrc(candidate, wantedCrc);
        }
        long? position =
            isAlone ? 0
            : behind is { } anchor ? anchor.Position - DistanceTo(anchor, window, segment, baseOffset, wantedCrc)
            : null;
        if (position is not { } basePosition || (before is not null && !isAlone))
            return null;
        // Nothing is left of the log before it. The checksum there is the one field still open, and the page's own
        // checksum gives it.
        return WithCrc(
            After(identity, file.Ordinal, new LogEnd(basePosition, baseOffset, 0, file.Ordinal - 1, 0), epoch),
            wantedCrc
        );
    }

    private static SegmentHeader After(SegmentHeader identity, long ordinal, LogEnd end, uint epoch) =>
        new(
            identity.TopicId,
            identity.Incarnation,
            ordinal,
            end.Offset,
            end.Position,
            end.AppendTime,
            epoch,
            end.ChainCrc,
            identity.Key
        );

    private static SegmentHeader WithCrc(SegmentHeader header, uint crc)
    {
        Span<byte> page = stackalloc byte[SegmentHeader.Size];
        header.Write(page);
        CrcSolver.Solve(page[..12], page[16..], PreviousCrcAt - 16, crc);
        return header with { PreviousCrc = BinaryPrimitives.ReadUInt32LittleEndian(page[PreviousCrcAt..]) };
    }

    /// <summary>Bytes from the first batch to the place.</summary>
    private static long? DistanceTo(LogEnd anchor, FileWindow window, Segment segment, long baseOffset, uint chainCrc)
    {
        var finder = new PlaceFinder(anchor);
        BatchScan.Run(
            window,
            segment,
            new LogEnd(0, baseOffset, 0, segment.Header.Ordinal, chainCrc),
            segment.Limit,
            payloads: false,
            finder
        );
        return finder.Distance;
    }

    private sealed class PlaceFinder(LogEnd anchor) : IRecoveredBatchVisitor
    {
        private long _position;

        public long? Distance { get; private set; }

        public void OnSnapshot(ReadOnlySpan<byte> snapshot)
        {
            // A walk over batches has no snapshots.
        }

        public void OnBatch(in BatchView header)
        {
            _position += header.Length;
            if (header.NextOffset == anchor.Offset && header.HeaderCrc == anchor.ChainCrc)
                Distance = _position;
        }
    }
}
