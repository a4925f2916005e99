using System.Net.Security;

namespace LightQ.Grpc;

/// <summary>How a channel connects and what its calls may carry.</summary>
public sealed record GrpcChannelOptions
{
    /// <summary>The largest message a call accepts, in bytes; default 4 MiB. A longer one ends the call with RESOURCE_EXHAUSTED.</summary>
    public int MaxReceiveMessageSize
    {
        get;
        init => field = value > 0 ? value : throw new ArgumentOutOfRangeException(nameof(value), value, "The limit must be positive.");
    } = 4 * 1024 * 1024;

    /// <summary>The largest message a call sends, in bytes; default no limit of its own.</summary>
    public int MaxSendMessageSize
    {
        get;
        init => field = value > 0 ? value : throw new ArgumentOutOfRangeException(nameof(value), value, "The limit must be positive.");
    } = int.MaxValue;

    /// <summary>How long connecting, with the TLS handshake, may take; default 10 s. Then the call ends with UNAVAILABLE.</summary>
    public TimeSpan ConnectTimeout { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>How long a connection with calls under way may be silent before it is probed; default 30 s.</summary>
    public TimeSpan KeepAlivePingDelay { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>How long the answer to a probe may take before the connection counts as dead; default 15 s.</summary>
    public TimeSpan KeepAlivePingTimeout { get; init; } = TimeSpan.FromSeconds(15);

    /// <summary>TLS settings for an https address: trusted roots, client certificates. Null means the system's defaults.</summary>
    public SslClientAuthenticationOptions? Tls { get; init; }

    /// <summary>Opens a connection to the address, for who has a say in where that leads; null means TCP. What it throws ends the call with UNAVAILABLE.</summary>
    public Func<CancellationToken, ValueTask<Stream>>? Connect { get; init; }

    /// <summary>Sent as <c>user-agent</c>.</summary>
    public string UserAgent { get; init; } = "grpc-dotnet-lightq";

    /// <summary>Where deadlines take their time from.</summary>
    public TimeProvider TimeProvider { get; init; } = TimeProvider.System;

    /// <summary>
    /// Carries the requests instead of a <see cref="SocketsHttpHandler"/> made from this record; the channel does not dispose it.
    /// For tests, and for hosts with connection rules of their own.
    /// </summary>
    public HttpMessageHandler? Handler { get; init; }
}
