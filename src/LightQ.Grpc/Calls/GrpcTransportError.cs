using System.Net;
using System.Net.Sockets;

namespace LightQ.Grpc.Calls;

/// <summary>Turns what HTTP says about a failed call into the status gRPC gives it.</summary>
internal static class GrpcTransportError
{
    /// <param name="error">What HTTP threw.</param>
    /// <param name="address">Who was called.</param>
    /// <param name="responding">Whether a response had begun: whoever sends one does speak HTTP/2.</param>
    public static GrpcException From(Exception error, Uri address, bool responding)
    {
        if (FindProtocolError(error) is { } protocolError) return FromHttp2(protocolError, address, responding);
        HttpRequestError? kind = (error as HttpRequestException)?.HttpRequestError ?? (error as HttpIOException)?.HttpRequestError;
        string message = kind switch
        {
            HttpRequestError.NameResolutionError => $"The name '{address.Host}' could not be resolved.",
            HttpRequestError.ConnectionError => FromConnect(error, address),
            HttpRequestError.SecureConnectionError => $"TLS with {address.Authority} failed: {error.InnerException?.Message ?? error.Message}",
            HttpRequestError.HttpProtocolError or HttpRequestError.InvalidResponse or HttpRequestError.VersionNegotiationError =>
                NotHttp2(address),
            _ => $"The connection to {address.Authority} was lost: {error.Message}",
        };
        return new GrpcException(GrpcStatusCode.Unavailable, message, error);
    }

    /// <summary>The status of an HTTP response that carries no <c>grpc-status</c>.</summary>
    public static GrpcStatusCode FromHttpStatus(HttpStatusCode status) => status switch
    {
        HttpStatusCode.BadRequest => GrpcStatusCode.Internal,
        HttpStatusCode.Unauthorized => GrpcStatusCode.Unauthenticated,
        HttpStatusCode.Forbidden => GrpcStatusCode.PermissionDenied,
        HttpStatusCode.NotFound => GrpcStatusCode.Unimplemented,
        HttpStatusCode.TooManyRequests or HttpStatusCode.BadGateway or HttpStatusCode.ServiceUnavailable or HttpStatusCode.GatewayTimeout =>
            GrpcStatusCode.Unavailable,
        _ => GrpcStatusCode.Unknown,
    };

    private static GrpcException FromHttp2(HttpProtocolException error, Uri address, bool responding)
    {
        // What comes from a server of another protocol fails as an HTTP/2 frame in one of the first two ways; the third is a plain HTTP/1.1 server's.
        if (!responding && error.ErrorCode is (0x1 or 0x6 or 0xD)) // PROTOCOL_ERROR, FRAME_SIZE_ERROR, HTTP_1_1_REQUIRED
            return new GrpcException(GrpcStatusCode.Unavailable, NotHttp2(address), error);

        // The codes of RFC 9113, section 7, as gRPC's protocol description maps them.
        GrpcStatusCode code = error.ErrorCode switch
        {
            0x0 or 0x7 => GrpcStatusCode.Unavailable, // NO_ERROR: the server closes its connections; REFUSED_STREAM
            0x8 => GrpcStatusCode.Cancelled, // CANCEL
            0xB => GrpcStatusCode.ResourceExhausted, // ENHANCE_YOUR_CALM
            0xC => GrpcStatusCode.PermissionDenied, // INADEQUATE_SECURITY
            _ => GrpcStatusCode.Internal,
        };
        return new GrpcException(code, $"{address.Authority} broke the call off: {error.Message}", error);
    }

    private static string FromConnect(Exception error, Uri address)
    {
        for (Exception? e = error; e is not null; e = e.InnerException)
            if (e is SocketException socket)
                return $"No connection to {address.Authority}: {socket.Message}.";
        return $"No connection to {address.Authority}: {error.Message}";
    }

    private static string NotHttp2(Uri address) =>
        $"What answers at {address.Authority} does not speak HTTP/2 as gRPC needs it; is it the right port, and is TLS on at both ends or at neither (tls=true)?";

    private static HttpProtocolException? FindProtocolError(Exception error)
    {
        for (Exception? e = error; e is not null; e = e.InnerException)
            if (e is HttpProtocolException protocolError)
                return protocolError;
        return null;
    }
}
