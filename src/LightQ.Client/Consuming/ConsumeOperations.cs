using System.Diagnostics;
using LightQ.Client.Telemetry;
using LightQ.Protocol.Frames;

namespace LightQ.Client.Consuming;

/// <summary>What a consumer does on one partition. Each is made when it is first observed.</summary>
internal sealed class ConsumeOperations(OperationPlace place)
{
    private readonly Operation?[] _settle = new Operation?[(int)SettleKind.Renew + 1];
    private Operation? _receive;

    private Operation Receive => _receive ??= new Operation("receive", "receive", ActivityKind.Client, place);

    /// <summary>A batch is handed to the application.</summary>
    /// <param name="batch">The batch.</param>
    /// <param name="request">When the application asked for it.</param>
    public void OnReceived(in MessageBatch batch, in ReceiveRequest request)
    {
        Receive.Count(Instruments.ConsumedMessages, batch.Count);
        if (!Instruments.Source.HasListeners())
            return;
        Activity? span = Receive.StartSpan(request.By, LinksOf(batch), request.At);
        span?.SetTag(Attributes.MessageCount, batch.Count);
        span?.End();
    }

    /// <summary>Observes a settlement from its request to the broker's answer.</summary>
    /// <param name="range">What is settled, and how.</param>
    /// <param name="message">
    /// The context that the message carries, the parent where there is no other; the default for none.
    /// </param>
    /// <param name="settle">Settles.</param>
    public async ValueTask<SettleOutcome> SettleAsync(
        SettleRange range,
        ActivityContext message,
        Func<ValueTask<SettleOutcome>> settle
    )
    {
        Operation operation = Of(range.Kind);
        TimeProvider time = place.Broker.TimeProvider;
        long startedAt = time.GetTimestamp();
        Activity? span = StartSpan(operation, range, message);
        string? error = null;
        try
        {
            SettleOutcome outcome = await settle().ConfigureAwait(false);
            if (outcome != SettleOutcome.Done)
                span?.Fail(error = outcome.ToString(), "Nothing was settled.");
            else
                span?.End();
            return outcome;
        }
        catch (Exception e)
        {
            error = Spans.ErrorTypeOf(e);
            span?.Fail(e);
            throw;
        }
        finally
        {
            operation.Record(Instruments.OperationDuration, time.GetElapsedTime(startedAt), error);
        }
    }

    /// <summary>Messages were settled after their lock had run out.</summary>
    public void OnLate(SettleKind kind, int messages) => Of(kind).Count(Instruments.LateMessages, messages);

    private Operation Of(SettleKind kind) =>
        _settle[(int)kind] ??= new Operation(
            NameOf(kind),
            kind == SettleKind.Renew ? null : "settle",
            ActivityKind.Client,
            place
        );

    private Activity? StartSpan(Operation operation, in SettleRange range, ActivityContext message)
    {
        bool isLinked = message != default;
        Activity? span = operation.StartSpan(
            Activity.Current is null ? message : default,
            isLinked ? [new ActivityLink(message)] : null
        );
        if (range.Count == 1)
            span?.SetTag(Attributes.MessageId, Spans.MessageId(place.Partition, range.FirstOffset));
        else
            span?.SetTag(Attributes.MessageCount, range.Count);
        return span;
    }

    /// <summary>Links to the contexts that a batch's messages carry.</summary>
    private static List<ActivityLink> LinksOf(in MessageBatch batch)
    {
        var links = new List<ActivityLink>();
        try
        {
            foreach (RecordView record in batch)
            {
                if (TraceContext.TryRead(record.Headers, out ActivityContext context))
                    links.Add(new ActivityLink(context));
                if (links.Count == TraceContext.MaxLinks)
                    break;
            }
        }
        catch (LightQException)
        {
            // Damaged records: the consumer, who reads them next, hears of it.
        }
        return links;
    }

    private static string NameOf(SettleKind kind) =>
        kind switch
        {
            SettleKind.Complete => "complete",
            SettleKind.Abandon => "abandon",
            SettleKind.DeadLetter => "dead_letter",
            _ => "renew",
        };
}
