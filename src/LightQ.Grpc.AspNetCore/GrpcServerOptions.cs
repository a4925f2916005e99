namespace LightQ.Grpc.AspNetCore;

/// <summary>What all services mapped together share.</summary>
public sealed record GrpcServerOptions
{
    /// <summary>The largest message accepted, in bytes; default 4 MiB. A longer one ends the call with RESOURCE_EXHAUSTED.</summary>
    public int MaxReceiveMessageSize
    {
        get;
        init => field = value > 0 ? value : throw new ArgumentOutOfRangeException(nameof(value), value, "The limit must be positive.");
    } = 4 * 1024 * 1024;

    /// <summary>The largest message sent, in bytes; default no limit of its own.</summary>
    public int MaxSendMessageSize
    {
        get;
        init => field = value > 0 ? value : throw new ArgumentOutOfRangeException(nameof(value), value, "The limit must be positive.");
    } = int.MaxValue;

    /// <summary>Wrapped around every call of every service, the first one outermost.</summary>
    public IReadOnlyList<GrpcServerInterceptor> Interceptors { get; init; } = [];

    /// <summary>Where deadlines take their time from.</summary>
    public TimeProvider TimeProvider { get; init; } = TimeProvider.System;
}
