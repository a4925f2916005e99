using System.Runtime.InteropServices;

namespace LightQ.Storage.Segments;

/// <summary>Where a batch begins.</summary>
/// <param name="Offset">Its base offset.</param>
/// <param name="AppendTime">When it was appended, unix microseconds.</param>
/// <param name="Position">Its log position.</param>
[StructLayout(LayoutKind.Sequential, Pack = 8)]
internal readonly record struct SegmentIndexEntry(long Offset, long AppendTime, long Position);
