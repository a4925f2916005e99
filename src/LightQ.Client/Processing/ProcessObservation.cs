using System.Diagnostics;
using LightQ.Client.Telemetry;

namespace LightQ.Client.Processing;

/// <summary>A message in a handler's hands; the default is a message that is not observed.</summary>
internal readonly struct ProcessObservation(Operation operation, Activity? span, TimeProvider time)
{
    private readonly long _startedAt = time.GetTimestamp();

    /// <summary>The message's span; null where nobody listens.</summary>
    public Activity? Span => span;

    /// <summary>The handler has returned, or thrown.</summary>
    public void End(Exception? error = null)
    {
        if (operation is null)
            return;
        if (error is null)
            span?.End();
        else
            span?.Fail(error);
        operation.Record(
            Instruments.ProcessDuration,
            time.GetElapsedTime(_startedAt),
            error is null ? null : Spans.ErrorTypeOf(error)
        );
    }
}
