using LightQ.Protocol.Frames;

namespace LightQ.Protocol;

/// <summary>The bits that Hello asks for and Welcome grants.</summary>
public static class ProtocolFeatures
{
    /// <summary>
    /// The broker is part of a cluster, and the client knows topics with replicas: <see cref="Durability.Replicated"/>
    /// may be sent.
    /// </summary>
    public const ulong Cluster = 1;

    /// <summary>The client may send <see cref="FrameType.Window"/>. Every broker of this version grants it.</summary>
    public const ulong Window = 2;

    /// <summary>
    /// A producer's messages that the topic does not take are refused alone: their range in PublishAck says so, and the
    /// stream goes on behind them.
    /// </summary>
    public const ulong RefusedAlone = 4;

    /// <summary>
    /// The client may send batches whose times count from the append
    /// (<see cref="Batches.BatchLayout.HasRelativeTimes"/>). Every broker of this version grants it.
    /// </summary>
    public const ulong BrokerClock = 8;
}
