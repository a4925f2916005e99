namespace LightQ.Client;

/// <summary>Where a waiting <c>await foreach</c> continues when a message arrives.</summary>
public enum ContinuationScheduling
{
    /// <summary>On the thread pool. The loop may block and may run long.</summary>
    ThreadPool = 0,

    /// <summary>
    /// On the thread that receives: without a hand-over, so with the lowest latency. The loop must not block and must
    /// not run long. Otherwise nothing arrives meanwhile for any producer or subscription of the client. Blocking there
    /// until the broker answers never ends.
    /// </summary>
    Inline = 1,
}
