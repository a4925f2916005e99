namespace LightQ.Storage;

/// <summary>
/// Says the first offset that retention must not remove, however old or far back; <see cref="long.MaxValue"/> for none.
/// Called by housekeeping at any time.
/// </summary>
/// <param name="removable">
/// In front of this offset lie the segments that retention would remove if nothing had to be kept; never in the last
/// one.
/// </param>
/// <param name="bytes">How many bytes that would free.</param>
public delegate long RetentionGate(long removable, long bytes);
