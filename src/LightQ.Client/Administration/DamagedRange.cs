namespace LightQ.Client.Administration;

/// <summary>
/// Messages of a durable topic that cannot be read any more. Consumers get a gap with the reason corrupt there.
/// </summary>
/// <param name="FirstOffset">The first offset.</param>
/// <param name="LastOffset">The last offset.</param>
/// <param name="File">The segment file, in the directory of the topic's partition.</param>
/// <param name="Bytes">
/// How many bytes of the file differ from what was written; 0 when they were read wrong once and right later.
/// </param>
/// <param name="Detail">What is wrong, for people.</param>
/// <param name="Partition">The partition.</param>
public sealed record DamagedRange(
    long FirstOffset,
    long LastOffset,
    string File,
    long Bytes,
    string Detail,
    int Partition = 0
);
