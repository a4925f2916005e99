using LightQ.Broker;
using LightQ.Broker.Delays;
using LightQ.Broker.Logs;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Control;
using LightQ.Protocol.Frames;
using LightQ.Storage;
using Partition = LightQ.Broker.Topics.Partition;

namespace LightQ.Server.Messages;

/// <summary>Reads one page of the delayed messages that wait in one partition.</summary>
internal sealed class ScheduledPage
{
    private readonly BatchInflater _inflater = new(ProtocolLimits.InflatedBatchBytes);
    private readonly ListScheduledRequest _request;
    private readonly Partition _partition;
    private readonly (long DueAt, long Offset) _behind;
    private readonly int _most;
    private readonly ListScheduledResponse _page = new();
    private int _bytes;

    private ScheduledPage(Partition partition, ListScheduledRequest request)
    {
        (_partition, _request) = (partition, request);
        _most = BrowseRequests.CountOf(request.MaxMessages);
        _behind = request.Next is { } next
            ? (RequestTimes.Read(next.DeliverTime, "next.deliver_time"), next.Offset)
            : (long.MinValue, -1);
    }

    private bool IsFull => _page.Messages.Count >= _most || _bytes >= BrowseRequests.PageBytes;

    /// <summary>Reads a page.</summary>
    /// <param name="partition">The partition; it is served here.</param>
    /// <param name="request">What is asked for; it was checked.</param>
    /// <param name="cancellationToken">Ends it.</param>
    /// <exception cref="BrokerException">The topic was deleted, or is served elsewhere now.</exception>
    /// <exception cref="IOException">The disk refuses.</exception>
    public static async Task<ListScheduledResponse> ReadAsync(
        Partition partition,
        ListScheduledRequest request,
        CancellationToken cancellationToken
    )
    {
        var page = new ScheduledPage(partition, request);
        try
        {
            await page.RunAsync(cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            page._inflater.Return();
        }
        return page._page;
    }

    private async Task RunAsync(CancellationToken cancellationToken)
    {
        ScheduledBatch[] batches =
        [
            .. _partition
                .Scheduled.Where(b => (b.DueAt, b.First + b.Messages - 1).CompareTo(_behind) > 0)
                .OrderBy(static b => (b.DueAt, b.First)),
        ];
        foreach (ScheduledBatch batch in batches)
        {
            if (IsFull || !await TakeAsync(batch, cancellationToken).ConfigureAwait(false))
                return;
        }
        _page.Next = null; // Nothing was left.
    }

    /// <returns>False when the page is full before the batch's end.</returns>
    private async Task<bool> TakeAsync(ScheduledBatch batch, CancellationToken cancellationToken)
    {
        using var browser = new LogBrowser(_partition.Log, StartKind.Offset, batch.Offset);
        // One that cannot be read yet, or any more, is left out: what is damaged is never delivered either.
        return await browser.ReadAsync(cancellationToken).ConfigureAwait(false) != ReadResult.Run
            || Take(batch, browser.Run.Span);
    }

    private bool Take(in ScheduledBatch waiting, ReadOnlySpan<byte> run)
    {
        if (
            !BatchView.TryRead(run, out BatchView batch)
            || batch.BaseOffset != waiting.Offset
            || !batch.VerifyHeader()
            || !batch.VerifyPayload()
            || (batch.Codec != BatchCodec.None && !_inflater.TryInflate(batch))
        )
        {
            return true;
        }
        if (batch.Codec != BatchCodec.None)
            batch = new BatchView(_inflater.Memory.AsSpan(0, _inflater.Length));
        try
        {
            foreach (RecordView record in batch.Records)
            {
                long offset = waiting.First + record.Offset - batch.BaseOffset;
                if (!waiting.Awaits(offset) || (waiting.DueAt, offset).CompareTo(_behind) <= 0)
                    continue;
                if (IsFull)
                    return false;
                Add(record, batch, offset, waiting.DueAt);
            }
        }
        catch (ProtocolException)
        {
            return true; // Damaged.
        }
        return true;
    }

    private void Add(in RecordView record, in BatchView batch, long offset, long dueAt)
    {
        BrowsedMessage message = BrowseMapping.ToMessage(
            record,
            batch,
            BatchFate.Later,
            _partition.Index,
            BrowseRequests.PartOf(record.Body, 0, _request.HasMaxBodyBytes ? _request.MaxBodyBytes : null)
        );
        message.Offset = offset;
        message.ClearDelayedOffset();
        message.DeliverTime = MessageTimes.ToProtoOrNull(dueAt);
        _bytes += message.CalculateSize();
        _page.Messages.Add(message);
        _page.Next = new ScheduledPosition
        {
            Partition = _partition.Index,
            DeliverTime = MessageTimes.ToProto(dueAt),
            Offset = offset,
        };
    }
}
