using System.Diagnostics;

namespace LightQ.Cli.Messages;

/// <summary>Holds a publisher to a rate: message n is due n intervals after the first.</summary>
internal sealed class PublishPace
{
    private readonly double _ticksPerMessage;
    private readonly long _start = Stopwatch.GetTimestamp();
    private long _count;

    public PublishPace(double messagesPerSecond) => _ticksPerMessage = Stopwatch.Frequency / messagesPerSecond;

    /// <summary>Waits until the next message is due.</summary>
    public Task WaitAsync(CancellationToken cancellationToken)
    {
        TimeSpan early = Stopwatch.GetElapsedTime(
            Stopwatch.GetTimestamp(),
            _start + (long)(_count++ * _ticksPerMessage)
        );
        return early < TimeSpan.FromMilliseconds(1) ? Task.CompletedTask : Task.Delay(early, cancellationToken);
    }
}
