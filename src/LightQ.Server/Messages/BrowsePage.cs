using LightQ.Broker.Logs;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Control;
using LightQ.Protocol.Frames;
using LightQ.Storage;
using GapReason = LightQ.Client.GapReason;
using Partition = LightQ.Broker.Topics.Partition;

namespace LightQ.Server.Messages;

/// <summary>Reads one page of what one partition holds.</summary>
internal sealed class BrowsePage
{
    /// <summary>What one page reads at most: searching for a key ends there, and the next page goes on.</summary>
    private const long MostReadBytes = 32 * 1024 * 1024;

    private const int MostGaps = 1_000;

    private readonly BatchInflater _inflater = new(ProtocolLimits.InflatedBatchBytes);
    private readonly BrowseRequest _request;
    private readonly uint _partition;
    private readonly int _most;
    private readonly long _now;
    private readonly BrowseResponse _page = new();
    private long _next;
    private int _bytes;

    private BrowsePage(BrowseRequest request, uint partition, long now)
    {
        (_request, _partition, _now) = (request, partition, now);
        _most = BrowseRequests.CountOf(request.MaxMessages);
    }

    private bool IsFull =>
        _page.Messages.Count >= _most || _bytes >= BrowseRequests.PageBytes || _page.Gaps.Count >= MostGaps;

    /// <summary>Reads a page.</summary>
    /// <param name="partition">The partition; it is served here.</param>
    /// <param name="request">What is asked for; it was checked.</param>
    /// <param name="now">Now, in unix microseconds.</param>
    /// <param name="cancellationToken">Ends it.</param>
    /// <exception cref="Broker.BrokerException">The topic was deleted, or is served elsewhere now.</exception>
    /// <exception cref="IOException">The disk refuses.</exception>
    public static async Task<BrowseResponse> ReadAsync(
        Partition partition,
        BrowseRequest request,
        long now,
        CancellationToken cancellationToken
    )
    {
        var page = new BrowsePage(request, partition.Index, now);
        try
        {
            await page.RunAsync(partition.Log, cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            page._inflater.Return();
        }
        return page._page;
    }

    private async Task RunAsync(ITopicLog log, CancellationToken cancellationToken)
    {
        long first = log.StartOffset,
            end = Math.Max(first, log.ReadableOffset);
        (StartKind start, long value) = StartOf(first, end);
        _next = start == StartKind.Timestamp ? -1 : value;
        if (_request.Next is not null && value < first)
        {
            AddGap(
                value,
                first - 1,
                log.MaxDurability == Client.Durability.Memory ? GapReason.Dropped : GapReason.Retention
            );
        }
        _next = Math.Max(_next, start == StartKind.Timestamp ? -1 : first);
        bool isEnd = start == StartKind.Offset && _next >= end;
        using (var browser = new LogBrowser(log, start, start == StartKind.Offset ? _next : value))
        {
            for (long read = 0; !isEnd && !IsFull && read < MostReadBytes; read += browser.Run.Length)
            {
                switch (await browser.ReadAsync(cancellationToken).ConfigureAwait(false))
                {
                    case ReadResult.Run:
                        Take(browser.Run.Span, browser.Next);
                        break;
                    case ReadResult.Gap:
                        AddGap(browser.Gap.FirstOffset, browser.Gap.LastOffset, browser.Gap.Reason);
                        _next = Math.Max(_next, browser.Next);
                        break;
                    default:
                        isEnd = true;
                        break;
                }
            }
        }
        if (isEnd)
            _next = Math.Max(_next, end); // What ended meanwhile is found by the next page.
        _page.Next = new BrowsePosition { Partition = _partition, Offset = _next };
        _page.AtEnd = isEnd || _next >= log.ReadableOffset;
        _page.Partitions.Add(
            new BrowsedPartition
            {
                Partition = _partition,
                StartOffset = log.StartOffset,
                EndOffset = log.ReadableOffset,
            }
        );
    }

    private (StartKind Start, long Value) StartOf(long first, long end)
    {
        if (_request.Next is { } next)
            return (StartKind.Offset, Math.Min(next.Offset, end));
        return _request.StartCase switch
        {
            BrowseRequest.StartOneofCase.Offset => (StartKind.Offset, Math.Clamp(_request.Offset, first, end)),
            BrowseRequest.StartOneofCase.Last => (
                StartKind.Offset,
                end - (long)Math.Min(_request.Last, (ulong)(end - first))
            ),
            BrowseRequest.StartOneofCase.Time => (
                StartKind.Timestamp,
                Math.Max(0, RequestTimes.Read(_request.Time, "time"))
            ),
            _ => (StartKind.Offset, first),
        };
    }

    /// <summary>Takes what is wanted of a run, until the page is full.</summary>
    private void Take(ReadOnlySpan<byte> run, long end)
    {
        while (!run.IsEmpty && !IsFull)
        {
            if (!BatchView.TryRead(run, out BatchView batch) || !batch.VerifyHeader())
            {
                AddGap(Math.Max(0, _next), end - 1, GapReason.Corrupt); // Where the next batch begins is not known.
                _next = end;
                return;
            }
            run = run[batch.Length..];
            if (batch.NextOffset > _next)
                Take(batch);
        }
    }

    private void Take(in BatchView batch)
    {
        _next = Math.Max(_next, batch.BaseOffset);
        long end = batch.NextOffset;
        BatchFate fate = batch.FateAt(_now);
        bool isSound = fate != BatchFate.Lost && (fate == BatchFate.Skip || batch.VerifyPayload());
        if (!isSound || (fate != BatchFate.Skip && batch.Codec != BatchCodec.None && !_inflater.TryInflate(batch)))
        {
            AddGap(_next, end - 1, GapReason.Corrupt);
            _next = end;
        }
        else if (fate == BatchFate.Skip)
        {
            _next = end;
        }
        else
        {
            TakeRecords(
                batch.Codec == BatchCodec.None ? batch : new BatchView(_inflater.Memory.AsSpan(0, _inflater.Length)),
                fate
            );
        }
    }

    private void TakeRecords(in BatchView batch, BatchFate fate)
    {
        try
        {
            foreach (RecordView record in batch.Records)
            {
                if (record.Offset < _next)
                    continue;
                if (IsFull)
                    return;
                Take(record, batch, fate);
                _next = record.Offset + 1;
            }
        }
        catch (ProtocolException)
        {
            AddGap(_next, batch.NextOffset - 1, GapReason.Corrupt);
        }
        _next = batch.NextOffset;
    }

    private void Take(in RecordView record, in BatchView batch, BatchFate fate)
    {
        _page.Scanned++;
        if (_request.HasKey && !(record.HasKey && record.Key.SequenceEqual(_request.Key.Span)))
            return;
        try
        {
            BrowsedMessage message = BrowseMapping.ToMessage(
                record,
                batch,
                fate,
                _partition,
                BrowseRequests.PartOf(
                    record.Body,
                    _request.BodyOffset,
                    _request.HasMaxBodyBytes ? _request.MaxBodyBytes : null
                )
            );
            _bytes += message.CalculateSize();
            _page.Messages.Add(message);
        }
        catch (ProtocolException)
        {
            AddGap(record.Offset, record.Offset, GapReason.Corrupt); // Its headers contradict themselves.
        }
    }

    private void AddGap(long first, long last, GapReason reason)
    {
        if (last < first || last < _next)
            return;
        _page.Gaps.Add(
            new Gap
            {
                Partition = _partition,
                FirstOffset = Math.Max(first, _next),
                LastOffset = last,
                Reason = (Protocol.Control.GapReason)reason,
            }
        );
    }
}
