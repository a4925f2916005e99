using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Net.Sockets;
using Grpc.Core;
using LightQ.Client.Encryption;

namespace LightQ.Client.Administration;

/// <summary>The one place that turns failed calls of the control plane into exceptions of the SDK.</summary>
internal sealed class ControlErrors(LightQClientOptions options)
{
    private const string UsualMistakes = "is it the right port, and is TLS on at both ends or at neither (tls=true)?";

    private const string ErrorCodeTrailer = "lightq-error-code";

    // RFC 9113, section 7.
    private const long NoError = 0x0,
        ProtocolError = 0x1,
        FrameSizeError = 0x6,
        RefusedStream = 0x7;
    private const long EnhanceYourCalm = 0xB,
        Http11Required = 0xD;

    private readonly string _authority = $"{options.Host}:{options.ControlPort}";

    /// <summary>Whether a response has begun: a peer that sends one speaks HTTP/2.</summary>
    public static bool HasAnswered(Task<Metadata> headers) => headers.IsCompletedSuccessfully;

    /// <summary>The exception to throw for a failed call.</summary>
    /// <param name="e">How the call ended.</param>
    /// <param name="hasAnswered">Whether a response had begun.</param>
    /// <param name="cancellationToken">The caller's token: a call that it has ended is not a failure.</param>
    public Exception Translate(RpcException e, bool hasAnswered, CancellationToken cancellationToken)
    {
        if (cancellationToken.IsCancellationRequested)
            return new OperationCanceledException(e.Status.Detail, e, cancellationToken);
        for (Exception? cause = e.Status.DebugException; cause is not null; cause = cause.InnerException)
        {
            if (cause is LightQException refused)
                return refused.Copy();
        }
        if (e.Status.DebugException is { } thrown)
            return TlsFailure.ExplainCall(thrown, options) ?? OfTransport(e, thrown, hasAnswered);
        string said = e.Status.Detail.Length == 0 ? e.StatusCode.ToString() : e.Status.Detail;
        return new LightQException(CodeOf(e), said, e);
    }

    /// <summary>What the transport says, with the address and the cause.</summary>
    private LightQException OfTransport(RpcException e, Exception thrown, bool hasAnswered)
    {
        if (Find<HttpProtocolException>(thrown) is { } protocol)
            return OfHttp2(e, protocol, hasAnswered);
        HttpRequestError? kind =
            Find<HttpRequestException>(thrown)?.HttpRequestError ?? Find<HttpIOException>(thrown)?.HttpRequestError;
        Exception cause = thrown.InnerException ?? thrown;
        string? message = kind switch
        {
            HttpRequestError.NameResolutionError => $"The name '{options.Host}' could not be resolved.",
            HttpRequestError.ConnectionError =>
                $"No connection to {_authority}: {(Find<SocketException>(thrown) ?? thrown).Message}.",
            HttpRequestError.HttpProtocolError
            or HttpRequestError.InvalidResponse
            or HttpRequestError.VersionNegotiationError => NotHttp2(),
            not null => Lost(thrown, hasAnswered),
            null when thrown is IOException or SocketException => Lost(thrown, hasAnswered),
            null when thrown is OperationCanceledException or ObjectDisposedException =>
                $"{_authority} could not be reached: {cause.Message}",
            null => null,
        };
        return message is null
            ? new LightQException(CodeOf(e), $"{_authority}: {e.Status.Detail}", e)
            : new LightQException(ErrorCode.Unavailable, message, e)
            {
                // The handler's time-out is for connecting.
                IsUnsent =
                    kind is HttpRequestError.ConnectionError or HttpRequestError.NameResolutionError
                    || (!hasAnswered && Find<TimeoutException>(thrown) is not null),
            };
    }

    private LightQException OfHttp2(RpcException e, HttpProtocolException error, bool hasAnswered)
    {
        // What comes from a server of another protocol fails as a frame in one of the first two ways; the third is an
        // HTTP/1.1 server's.
        if (!hasAnswered && error.ErrorCode is ProtocolError or FrameSizeError or Http11Required)
            return new LightQException(ErrorCode.Unavailable, NotHttp2(), e);
        ErrorCode code = error.ErrorCode switch
        {
            NoError or RefusedStream => ErrorCode.Unavailable, // It stops, and what it had said of the call was lost.
            EnhanceYourCalm => ErrorCode.ResourceExhausted,
            _ => ErrorCode.Internal,
        };
        return new LightQException(code, $"{_authority} broke the call off: {error.Message}", e);
    }

    private string NotHttp2() =>
        $"What answers at {_authority} does not speak HTTP/2 as gRPC needs it; {UsualMistakes}";

    /// <remarks>A peer that closes a connection at once may be seen to go before its answer is read.</remarks>
    private string Lost(Exception thrown, bool hasAnswered) =>
        hasAnswered
            ? $"The connection to {_authority} was lost: {thrown.Message}"
            : $"The connection to {_authority} was lost before there was an answer: {thrown.Message} Where it has "
                + $"never worked: {UsualMistakes}";

    private static T? Find<T>(Exception thrown)
        where T : Exception
    {
        for (Exception? e = thrown; e is not null; e = e.InnerException)
        {
            if (e is T found)
                return found;
        }
        return null;
    }

    private static ErrorCode CodeOf(RpcException e)
    {
        if (TryParse(e.Trailers.GetValue(ErrorCodeTrailer), out ErrorCode code))
            return code;
        return e.StatusCode switch
        {
            StatusCode.InvalidArgument or StatusCode.OutOfRange => ErrorCode.InvalidArgument,
            StatusCode.NotFound => ErrorCode.UnknownTopic,
            StatusCode.AlreadyExists or StatusCode.FailedPrecondition => ErrorCode.TopicExists,
            StatusCode.PermissionDenied => ErrorCode.PermissionDenied,
            StatusCode.Unauthenticated => ErrorCode.Unauthenticated,
            StatusCode.ResourceExhausted => ErrorCode.ResourceExhausted,
            StatusCode.Unimplemented => ErrorCode.NotSupported,
            StatusCode.Unavailable => ErrorCode.Unavailable,
            StatusCode.DeadlineExceeded => ErrorCode.TimedOut,
            StatusCode.DataLoss => ErrorCode.CorruptData,
            _ => ErrorCode.Internal,
        };
    }

    /// <summary>Understands the number and the name, also with underscores.</summary>
    private static bool TryParse([NotNullWhen(true)] string? text, out ErrorCode code)
    {
        code = ErrorCode.None;
        if (text is null)
            return false;
        if (ushort.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out ushort number))
            code = (ErrorCode)number;
        else if (!Enum.TryParse(text.Replace("_", "", StringComparison.Ordinal), ignoreCase: true, out code))
            return false;
        return code != ErrorCode.None;
    }
}
