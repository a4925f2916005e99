using System.Collections.Concurrent;
using System.Diagnostics;
using LightQ.Client.Telemetry;

namespace LightQ.Client.Processing;

/// <summary>What a handler of a group's messages does, partition by partition.</summary>
internal sealed class ProcessOperations(LightQClientOptions broker, string topic, string group)
{
    private readonly ConcurrentDictionary<int, Operation> _process = new();

    /// <summary>A handler is about to be given a message. Free while no listener is registered.</summary>
    /// <returns>To be ended with what became of it. Until then its span is current.</returns>
    public ProcessObservation Begin(in Message message)
    {
        if (!Instruments.Source.HasListeners() && !Instruments.ProcessDuration.Enabled)
            return default;
        Operation operation = _process.GetOrAdd(message.Partition, OperationOf);
        Activity? span = null;
        if (Instruments.Source.HasListeners())
        {
            bool isLinked = message.TryGetTraceContext(out ActivityContext context);
            span = operation.StartSpan(
                Activity.Current is null ? context : default,
                isLinked ? [new ActivityLink(context)] : null
            );
            span?.SetTag(Attributes.MessageId, Spans.MessageId(message.Partition, message.Offset));
        }
        if (span is not null)
            Activity.Current = span;
        return new ProcessObservation(operation, span, broker.TimeProvider);
    }

    /// <summary>The processor has paused (1), or works again or ends (-1).</summary>
    public void CountPaused(int change) =>
        Instruments.PausedProcessors.Add(
            change,
            new(Attributes.System, "lightq"),
            new(Attributes.Destination, topic),
            new(Attributes.Group, group)
        );

    private Operation OperationOf(int partition) =>
        new("process", "process", ActivityKind.Consumer, new OperationPlace(broker, topic, partition, group));
}
