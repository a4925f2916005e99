using System.Diagnostics;
using LightQ.Client.Batches;
using LightQ.Client.Telemetry;
using LightQ.Protocol.Batches;

namespace LightQ.Client.Publishing;

/// <summary>
/// Publishes while a listener for spans is registered: each message carries the context of the one that published it,
/// or of what is current where that is not sampled.
/// </summary>
/// <remarks>A context never makes a publish fail: a message that would be too large with it goes without.</remarks>
internal static class TracedPublishing
{
    public static ValueTask<PublishAck> PublishAsync(
        ProducerStream stream,
        ReadOnlySpan<byte> body,
        in MessageKey key,
        MessageHeaders? headers,
        in BatchProperties properties,
        CancellationToken cancellationToken
    )
    {
        Activity? span = Start(stream, body.Length, key, ref headers, properties);
        try
        {
            ValueTask<PublishAck> publishing = stream.PublishAsync(body, key, headers, properties, cancellationToken);
            return span is null ? publishing : EndAsync(publishing, span);
        }
        catch (LightQException e)
        {
            span?.Fail(e);
            throw;
        }
    }

    public static bool TryPublish(
        ProducerStream stream,
        ReadOnlySpan<byte> body,
        in MessageKey key,
        MessageHeaders? headers,
        in BatchProperties properties
    )
    {
        Activity? span = Start(stream, body.Length, key, ref headers, properties);
        try
        {
            return Ended(span, stream.TryPublish(body, key, headers, properties));
        }
        catch (LightQException e)
        {
            span?.Fail(e);
            throw;
        }
    }

    public static ValueTask<PublishAck> PublishAsync(
        ProducerStream stream,
        SendBatch batch,
        CancellationToken cancellationToken
    )
    {
        Activity? span = Start(stream, batch);
        try
        {
            ValueTask<PublishAck> publishing = stream.PublishAsync(batch, cancellationToken);
            return span is null ? publishing : EndAsync(publishing, span);
        }
        catch (LightQException e)
        {
            span?.Fail(e);
            throw;
        }
    }

    public static bool TryPublish(ProducerStream stream, SendBatch batch)
    {
        Activity? span = Start(stream, batch);
        try
        {
            return Ended(span, stream.TryPublish(batch));
        }
        catch (LightQException e)
        {
            span?.Fail(e);
            throw;
        }
    }

    /// <summary>Adds a message to a batch: its creation, since all of the batch is published by one span.</summary>
    public static bool TryAdd(
        ProducerStream stream,
        SendBatch batch,
        ReadOnlySpan<byte> body,
        in MessageKey key,
        MessageHeaders? headers
    )
    {
        if (TryGetOwnContext(headers, out ActivityContext own))
        {
            if (!batch.TryAdd(body, key, headers))
                return false;
            batch.Link(own);
            return true;
        }
        Activity? span = stream.Operations.Create.StartSpan();
        MessageHeaders? withContext = TraceContext.AddTo(headers, span ?? Activity.Current);
        bool isAdded =
            (
                stream.Fits(SendBatch.RecordLength(body.Length, key, withContext), batch.Properties)
                && batch.TryAdd(body, key, withContext)
            ) || (batch.Count == 0 && batch.TryAdd(body, key, headers));
        if (isAdded && span is not null)
            batch.Link(span.Context);
        return Ended(span, isAdded);
    }

    /// <summary>Begins to publish a message, which gets the context unless it brings one.</summary>
    private static Activity? Start(
        ProducerStream stream,
        int bodyLength,
        in MessageKey key,
        ref MessageHeaders? headers,
        in BatchProperties properties
    )
    {
        if (TryGetOwnContext(headers, out ActivityContext own))
            return stream.Operations.SendCreated.StartSpan(links: [new ActivityLink(own)]);
        Activity? span = stream.Operations.Send.StartSpan();
        MessageHeaders? withContext = TraceContext.AddTo(headers, span ?? Activity.Current);
        if (stream.Fits(SendBatch.RecordLength(bodyLength, key, withContext), properties))
            headers = withContext;
        return span;
    }

    private static Activity? Start(ProducerStream stream, SendBatch batch)
    {
        Activity? span = stream.Operations.SendCreated.StartSpan(links: batch.Links);
        span?.SetTag(Attributes.MessageCount, batch.Count);
        return span;
    }

    private static bool TryGetOwnContext(MessageHeaders? headers, out ActivityContext context)
    {
        context = default;
        return headers is not null && TraceContext.TryRead(new HeaderEnumerator(headers.Encoded), out context);
    }

    private static bool Ended(Activity? span, bool isDone)
    {
        if (isDone)
            span?.End();
        else
            span?.Discard();
        return isDone;
    }

    private static async ValueTask<PublishAck> EndAsync(ValueTask<PublishAck> publishing, Activity span)
    {
        try
        {
            PublishAck ack = await publishing.ConfigureAwait(false);
            if (ack.Count == 1)
                span.SetTag(Attributes.MessageId, Spans.MessageId(ack.Partition, ack.Offset));
            span.End();
            return ack;
        }
        catch (Exception e)
        {
            span.Fail(e);
            throw;
        }
    }
}
