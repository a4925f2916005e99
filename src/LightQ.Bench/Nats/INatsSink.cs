namespace LightQ.Bench.Nats;

/// <summary>Takes what a <see cref="NatsParser"/> finds. Spans are valid during the call.</summary>
internal interface INatsSink
{
    /// <summary>A message's payload.</summary>
    void OnMessage(ReadOnlySpan<byte> payload);

    /// <summary>Any other line, without its CRLF: INFO, PING, PONG, +OK, -ERR.</summary>
    void OnLine(ReadOnlySpan<byte> line);
}
