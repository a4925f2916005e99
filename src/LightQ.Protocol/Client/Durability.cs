using System.Text.Json.Serialization;

namespace LightQ.Client;

/// <summary>
/// How safe a batch is; higher values are safer. In a request it is the ack level, in an ack the level that was
/// reached.
/// </summary>
[JsonConverter(typeof(JsonStringEnumConverter<Durability>))]
public enum Durability : byte
{
    /// <summary>In a request: the topic's default ack level. Never in an answer.</summary>
    Default = 0,

    /// <summary>
    /// The batch is in the broker's memory: it survives the end of the producer, not that of the broker.
    /// </summary>
    Memory = 1,

    /// <summary>The batch is in the operating system's page cache: it survives a killed broker.</summary>
    Written = 2,

    /// <summary>The batch is on the disk, flushed with <c>fdatasync</c>: it survives a power cut.</summary>
    Fsync = 3,

    /// <summary>
    /// A majority of the nodes that keep the topic's replicated log has the batch: it survives the loss of the broker
    /// and of one of these nodes. Whether it survives a power cut of all of them depends on the sync setting of the
    /// engine that replicates. The only level of topics with replicas.
    /// </summary>
    Replicated = 4,
}
