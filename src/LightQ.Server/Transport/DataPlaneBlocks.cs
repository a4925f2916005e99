namespace LightQ.Server.Transport;

/// <summary>The buffers that all connections share.</summary>
internal sealed class DataPlaneBlocks
{
    /// <summary>Bytes of a block for receiving.</summary>
    public const int ReceiveBytes = 256 * 1024;

    /// <summary>
    /// How many large blocks may be lent before connections get small ones: 64 MiB. So many move bulk at once at any
    /// speed; thousands that have begun a frame and wait for the rest would have gigabytes.
    /// </summary>
    private const int MostLarge = 256;

    /// <summary>
    /// For receiving before a client is welcomed, and where large ones are scarce: one byte from any peer costs no more
    /// than this. Holds the largest frame that is allowed before the welcome.
    /// </summary>
    public BlockPool Greeting { get; } = new(16 * 1024, kept: 256);

    /// <summary>
    /// For receiving: 256 KiB, the size at which bulk throughput stops growing (4 KiB is ruinous, 4 MiB leaves the L2
    /// cache).
    /// </summary>
    public BlockPool Receive { get; } = new(ReceiveBytes, kept: 64);

    /// <summary>Whether large blocks are scarce, so that what connections keep instead is to be counted.</summary>
    public bool AreScarce => Receive.Lent >= MostLarge;

    /// <summary>What a connection that was welcomed gets its next block from.</summary>
    public BlockPool Next => AreScarce ? Greeting : Receive;

    /// <summary>For sending: answers, acks and small runs of one turn.</summary>
    public BlockPool Send { get; } = new(64 * 1024, kept: 128);

    /// <summary>
    /// Leaves the blocks that no connection has to the collector: they are pinned, and each keeps what the buffers of
    /// long frames around it have taken.
    /// </summary>
    public void Trim()
    {
        Greeting.Trim();
        Receive.Trim();
        Send.Trim();
    }
}
