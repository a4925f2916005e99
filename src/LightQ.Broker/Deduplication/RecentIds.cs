using LightQ.Protocol.Batches;
using LightQ.Storage;
using LightQ.Storage.Reading;

namespace LightQ.Broker.Deduplication;

/// <summary>Finds in the headers of a log the ids of the messages that a window is to remember.</summary>
/// <remarks>
/// Segments come newest first, the batches of each oldest first. What is read ends with the time of the window, or with
/// as many ids as it holds.
/// </remarks>
internal sealed class RecentIds(long since, int most, Func<ulong, uint> ownerOf) : IRecoveredBatchVisitor
{
    private readonly List<List<RememberedId>> _segments =
    [
        [],
    ];
    private int _count;

    /// <summary>What was found, in the order of the log.</summary>
    public IEnumerable<RememberedId> Ids => Enumerable.Reverse(_segments).SelectMany(ids => ids);

    /// <summary>Reads them.</summary>
    /// <param name="headers">The headers of the log.</param>
    /// <param name="since">Those of earlier messages are not wanted, unix microseconds.</param>
    /// <param name="most">How many are wanted.</param>
    /// <param name="ownerOf">See <see cref="Topics.Partition.OwnerOf"/>.</param>
    /// <exception cref="IOException">The disk refuses to read.</exception>
    public static RecentIds Read(RecentHeaders headers, long since, int most, Func<ulong, uint> ownerOf)
    {
        var found = new RecentIds(since, most, ownerOf);
        headers.Visit(since, found, found.GoesOn);
        return found;
    }

    /// <summary>The id that a batch was published with; null for none.</summary>
    public static RememberedId? Find(in BatchView header, Func<ulong, uint> ownerOf)
    {
        // The delivery and the copies of a delayed message have its id, too: only the publish counts, with its time.
        bool isPublished =
            (header.Flags & (BatchLayout.HasMessageId | BatchLayout.HasOrigin)) == BatchLayout.HasMessageId
            && header.Kind == BatchKind.Data;
        if (!isPublished)
            return null;
        // Without a named producer the broker has stamped the user; before it did, nobody.
        uint user = header.ProducerId == 0 ? header.ProducerEpoch : ownerOf(header.ProducerId);
        return new RememberedId(DedupWindow.KeyOf(header.MessageId), header.BaseOffset, header.AppendTime, user);
    }

    /// <inheritdoc/>
    public void OnSnapshot(ReadOnlySpan<byte> snapshot) =>
        throw new NotSupportedException("Headers come without a snapshot.");

    /// <inheritdoc/>
    public void OnBatch(in BatchView header)
    {
        if (header.AppendTime <= since || Find(header, ownerOf) is not { } id)
            return;
        _segments[^1].Add(id);
        _count++;
    }

    private bool GoesOn()
    {
        if (_count >= most)
            return false;
        _segments.Add([]);
        return true;
    }
}
