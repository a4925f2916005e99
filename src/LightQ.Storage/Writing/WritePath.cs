using System.Collections.Concurrent;
using LightQ.Disruptor;
using LightQ.Storage.Segments;

namespace LightQ.Storage.Writing;

/// <summary>
/// What a journal needs only while something is appended to it: the ring, and the parts that fill and drain it.
/// </summary>
/// <remarks>
/// Made at the first append and given back at rest: 3 KiB of a topic without them, and the ring's pages.
/// </remarks>
internal sealed class WritePath : IDisposable
{
    private readonly RingMemory _memory;

    /// <summary>Goes on where the log ends.</summary>
    /// <exception cref="InsufficientMemoryException">The system refuses the ring's memory.</exception>
    public WritePath(ILogHost host, LogState log, SegmentSource source, TimeProvider clock)
    {
        _memory = RingMemory.Native(log.Options.RingBytes);
        var ring = new ByteRing(_memory, log.Options.MaxBatchBytes);
        var rolls = new ConcurrentQueue<SegmentRoll>();
        Appender = new LogAppender(log, ring, rolls, clock);
        Writer = new JournalWriter(host, log, ring, rolls, source);
    }

    /// <summary>Fills the ring, under the caller's append lock.</summary>
    public LogAppender Appender { get; }

    /// <summary>Drains it, on the writer's thread.</summary>
    public JournalWriter Writer { get; }

    /// <summary>Frees the ring; ends and positions can still be read.</summary>
    public void Dispose() => _memory.Dispose();
}
