namespace LightQ.Client;

/// <summary>
/// How safe a batch is; higher values are safer. As a request it is the ack level, in an ack the level reached.
/// </summary>
public enum Durability : byte
{
    /// <summary>In a request: the topic's default ack level. Never in an answer.</summary>
    Default = 0,

    /// <summary>In the broker's ring: survives the producer's end.</summary>
    Memory = 1,

    /// <summary>In the operating system's page cache: survives the broker's sudden end.</summary>
    Written = 2,

    /// <summary>On the disk, flushed with <c>fdatasync</c>: survives a power cut.</summary>
    Fsync = 3,
}
