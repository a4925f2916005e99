using Microsoft.Extensions.Logging;

namespace LightQ.Client.Consuming;

/// <summary>Notes settlements that came after the lock had run out, and says it when they are no exception.</summary>
/// <remarks>Thread-safe. One late message is an accident, several in a row are a setting; the log names it.</remarks>
internal sealed class LateSettlements(ILogger logger, TimeProvider time, string topic, string? group)
{
    private const int Several = 3;
    private static readonly TimeSpan Silence = TimeSpan.FromMinutes(10);

    private readonly Lock _gate = new();
    private int _inARow;
    private long? _loggedAt;

    /// <summary>A settlement was in time.</summary>
    public void OnTimely() => Volatile.Write(ref _inARow, 0);

    /// <summary>A settlement was late.</summary>
    public void OnLate()
    {
        lock (_gate)
        {
            if (++_inARow < Several || (_loggedAt is { } at && time.GetElapsedTime(at) < Silence))
                return;
            _loggedAt = time.GetTimestamp();
        }
        ClientLog.SettledLate(logger, Several, topic, group);
    }
}
