namespace LightQ.Grpc;

/// <summary>What one call adds to the channel's options. Immutable, and may be shared between calls.</summary>
public sealed record GrpcCallOptions
{
    /// <summary>
    /// The call's deadline, counted from its start; default none. It is told to the server, and kept on this side too:
    /// past it the call ends with DEADLINE_EXCEEDED.
    /// </summary>
    public TimeSpan? Timeout { get; init; }

    /// <summary>Sent as request headers.</summary>
    public GrpcMetadata? Metadata { get; init; }

    /// <summary>The largest message accepted, in bytes; default the channel's.</summary>
    public int? MaxReceiveMessageSize { get; init; }

    /// <summary>The largest message sent, in bytes; default the channel's.</summary>
    public int? MaxSendMessageSize { get; init; }

    /// <summary>Called once with the response headers, before the first message is returned.</summary>
    public Action<GrpcMetadata>? OnResponseHeaders { get; init; }

    /// <summary>Called once with the trailers of a call that the server ended, whatever its status.</summary>
    public Action<GrpcMetadata>? OnResponseTrailers { get; init; }
}
