namespace LightQ.Client;

/// <summary>How a connection receives.</summary>
public enum ReceiveMode
{
    /// <summary>
    /// One thread that blocks in receive and one that sends, per client: the lowest latency, and the default. The
    /// threads sleep while nothing arrives; each costs its stack.
    /// </summary>
    Thread = 0,

    /// <summary>
    /// Asynchronous sockets on the thread pool: for a process with very many clients. While the application blocks all
    /// threads of the pool, nothing is sent or received, and locks run out.
    /// </summary>
    Async = 1,
}
