namespace LightQ.Disruptor;

/// <summary>Says how many threads may hold a claim on a <see cref="ByteRing"/> at the same time.</summary>
public enum RingProducers
{
    /// <summary>
    /// One at a time: a single thread, or several threads that claim and publish under one lock of the caller.
    /// </summary>
    Single = 1,

    /// <summary>Any number, without a lock. Costs two interlocked operations per entry when uncontended.</summary>
    Multiple = 2,
}
