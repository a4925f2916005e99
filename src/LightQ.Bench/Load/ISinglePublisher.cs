namespace LightQ.Bench.Load;

/// <summary>Sends single messages, each at once. For latency: the thread that calls is the one that sends.</summary>
internal interface ISinglePublisher : IAsyncDisposable
{
    /// <summary>Sends a message.</summary>
    void Send(ReadOnlySpan<byte> body);
}
