using LightQ.Storage;

namespace LightQ.Broker.Logs;

/// <summary>Reads a log from a cursor on. One thread at a time.</summary>
public abstract class LogReader : IDisposable
{
    /// <summary>Where the next run begins.</summary>
    public abstract LogCursor Cursor { get; }

    /// <summary>Reads at the cursor without moving it.</summary>
    /// <param name="maxBytes">Longest run wanted; one batch comes whole in any case.</param>
    /// <param name="run">The run, lent until the reader is moved, parked or disposed.</param>
    /// <param name="gap">The gap; the cursor already stands behind it.</param>
    public abstract ReadResult TryRead(int maxBytes, out LentRun run, out LogGap gap);

    /// <summary>
    /// Gives back the run that was lent and goes to <paramref name="cursor"/>. What lies before it may be overwritten.
    /// </summary>
    public abstract void MoveTo(in LogCursor cursor);

    /// <summary>Gives back the run that was lent and stops holding anything, until <see cref="MoveTo"/>.</summary>
    public abstract void Park();

    /// <inheritdoc/>
    public abstract void Dispose();
}
