namespace LightQ.Server.DataPlane;

/// <summary>The buffers that all connections share.</summary>
internal sealed class DataPlaneBlocks
{
    /// <summary>For receiving: 256 KiB, the size at which bulk throughput stops growing (4 KiB is ruinous, 4 MiB leaves the L2 cache).</summary>
    public BlockPool Receive { get; } = new(256 * 1024, kept: 64);

    /// <summary>For sending: answers, acks and small runs of one turn.</summary>
    public BlockPool Send { get; } = new(64 * 1024, kept: 128);
}
