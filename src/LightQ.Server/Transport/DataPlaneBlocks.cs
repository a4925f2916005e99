using System.Diagnostics.CodeAnalysis;

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
    /// Sees that a reader can receive, as <see cref="BlockPool.MakeRoom"/> does. Where large blocks are scarce, what
    /// outgrows a small one gets a large one at once: pinned blocks of each size in between would wait for the
    /// collector, by the hundreds of megabytes when thousands of connections grow together.
    /// </summary>
    /// <param name="blocks">Where the reader's block is from.</param>
    /// <param name="isWide">Whether the peer is a client that was welcomed.</param>
    /// <param name="block">The reader's block; null for none yet.</param>
    /// <param name="start">Where its unread bytes begin.</param>
    /// <param name="end">Where they end, and the room begins.</param>
    /// <param name="smallestPart">One so many-th of a block must be free to receive into it.</param>
    public void MakeRoom(
        ref BlockPool blocks,
        bool isWide,
        [NotNull] ref byte[]? block,
        ref int start,
        ref int end,
        int smallestPart
    )
    {
        if (isWide && block is null)
            blocks = Next;
        int least = blocks.BlockBytes / smallestPart,
            unread = end - start;
        if (!isWide || blocks != Greeting || block is null || block.Length - unread >= least)
        {
            blocks.MakeRoom(ref block, ref start, ref end, least);
            return;
        }
        byte[] large = Receive.Rent();
        Buffer.BlockCopy(block, start, large, 0, unread);
        blocks.Return(block);
        (blocks, block, start, end) = (Receive, large, 0, unread);
    }

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
