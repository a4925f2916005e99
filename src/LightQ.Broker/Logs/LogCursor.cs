namespace LightQ.Broker.Logs;

/// <summary>A place between two batches of a log.</summary>
/// <param name="Offset">The next offset.</param>
/// <param name="Position">The log's own byte position of it: only the log that gave it can use it.</param>
public readonly record struct LogCursor(long Offset, long Position);
