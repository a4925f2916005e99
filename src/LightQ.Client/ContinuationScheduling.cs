namespace LightQ.Client;

/// <summary>Where a waiting <c>await foreach</c> goes on when a message arrives.</summary>
public enum ContinuationScheduling
{
    /// <summary>On the thread pool. The loop may block and may run long.</summary>
    ThreadPool = 0,

    /// <summary>
    /// On the thread that receives: no hand-over, the lowest latency. The loop must not block and must not run long, or
    /// nothing arrives meanwhile for any producer or subscription of the client; blocking there on an answer of the
    /// broker never ends.
    /// </summary>
    Inline = 1,
}
