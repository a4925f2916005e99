namespace LightQ.Client;

/// <summary>
/// A partition that the broker could not open at its start, because its files are damaged, missing, or cannot be read.
/// </summary>
/// <param name="Partition">The partition.</param>
/// <param name="Code">The error with which requests to it are answered.</param>
/// <param name="Reason">The reason, for people; for damage it names the file and the range of offsets.</param>
public sealed record RefusedPartition(int Partition, ErrorCode Code, string Reason);
