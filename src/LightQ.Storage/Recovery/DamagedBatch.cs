using LightQ.Storage.Segments;

namespace LightQ.Storage.Recovery;

/// <summary>A batch that is in its place in the log and whose payload is not what was written.</summary>
/// <param name="Start">Where it begins.</param>
/// <param name="Next">Where the next batch begins.</param>
internal readonly record struct DamagedBatch(LogEnd Start, LogEnd Next);
