using LightQ.Storage.Segments;

namespace LightQ.Storage.Inspection;

/// <summary>A stretch of a segment that holds no valid batch, though it should.</summary>
/// <param name="Start">Where it begins: behind the last valid batch.</param>
/// <param name="EndPosition">The log position where the valid part goes on, or the segment should end.</param>
/// <param name="NextOffset">The offset there.</param>
/// <param name="NextCrc">The checksum to which what follows refers; null when nothing follows yet.</param>
internal readonly record struct LogHole(LogEnd Start, long EndPosition, long NextOffset, uint? NextCrc)
{
    public long Bytes => EndPosition - Start.Position;

    public long Offsets => NextOffset - Start.Offset;
}
