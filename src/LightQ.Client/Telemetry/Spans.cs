using System.Diagnostics;
using System.Globalization;

namespace LightQ.Client.Telemetry;

/// <summary>What is said of a span at its end.</summary>
internal static class Spans
{
    /// <summary>Ends a span. What else is current stays so: the thread may belong to other code.</summary>
    public static void End(this Activity span)
    {
        Activity? current = Activity.Current;
        span.Stop();
        if (current != span)
            Activity.Current = current;
    }

    /// <summary>Ends the span of an operation that failed.</summary>
    public static void Fail(this Activity span, Exception reason) => Fail(span, ErrorTypeOf(reason), reason.Message);

    /// <summary>Ends the span of an operation that failed.</summary>
    public static void Fail(this Activity span, string errorType, string message)
    {
        span.SetTag(Attributes.ErrorType, errorType);
        span.SetStatus(ActivityStatusCode.Error, message);
        span.End();
    }

    /// <summary>Ends the span of something that did not happen: exporters leave out what is not recorded.</summary>
    public static void Discard(this Activity span)
    {
        span.IsAllDataRequested = false;
        span.ActivityTraceFlags &= ~ActivityTraceFlags.Recorded;
        span.End();
    }

    /// <summary>The kind of a failure: an error code where there is one, else the exception's type.</summary>
    public static string ErrorTypeOf(Exception reason) =>
        reason is LightQException known ? known.Code.ToString() : reason.GetType().FullName!;

    /// <summary>What identifies a message of a topic.</summary>
    public static string MessageId(int partition, long offset) =>
        string.Create(CultureInfo.InvariantCulture, $"{partition}/{offset}");
}
