namespace LightQ.Storage.Reading;

/// <summary>What a reader wants next.</summary>
/// <param name="Offset">The offset; ignored while <paramref name="Time"/> is sought.</param>
/// <param name="Position">Log position of the batch that holds it; -1 when that must be looked up.</param>
/// <param name="Time">The append time sought, or -1.</param>
/// <param name="ChainCrc">
/// Header checksum of the batch before, which that batch must refer to; null when it is not known.
/// </param>
internal readonly record struct ReadTarget(long Offset, long Position = -1, long Time = -1, uint? ChainCrc = null);
