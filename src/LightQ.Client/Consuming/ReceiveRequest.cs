using System.Diagnostics;

namespace LightQ.Client.Consuming;

/// <summary>An application asks for messages.</summary>
/// <param name="At">When.</param>
/// <param name="By">In whose span; the default for none.</param>
internal readonly record struct ReceiveRequest(DateTimeOffset At, ActivityContext By)
{
    /// <summary>One that is made now. By the clock that spans end by.</summary>
    public static ReceiveRequest Now => new(DateTimeOffset.UtcNow, Activity.Current?.Context ?? default);
}
