namespace LightQ.Storage;

/// <summary>
/// Gives the first offset that retention must keep, however old or far back; <see cref="long.MaxValue"/> for none.
/// Housekeeping calls it at any time.
/// </summary>
/// <param name="removable">
/// Without it, retention would remove the segments in front of this offset; the last segment is never among them.
/// </param>
/// <param name="bytes">How many bytes that would free.</param>
public delegate long FirstOffsetToKeep(long removable, long bytes);
