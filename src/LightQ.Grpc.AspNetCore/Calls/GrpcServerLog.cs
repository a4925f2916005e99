using Microsoft.Extensions.Logging;

namespace LightQ.Grpc.AspNetCore.Calls;

/// <summary>Every line this project logs.</summary>
internal static partial class GrpcServerLog
{
    [LoggerMessage(1, LogLevel.Error, "The handler of {Method} failed; the client is told UNKNOWN without the cause.")]
    public static partial void HandlerFailed(ILogger logger, string method, Exception exception);

    [LoggerMessage(2, LogLevel.Debug, "{Method} ended with {Code}: {Message}")]
    public static partial void CallFailed(ILogger logger, string method, GrpcStatusCode code, string message);

    [LoggerMessage(3, LogLevel.Information, "The handler of {Method} failed after its call had been cancelled.")]
    public static partial void HandlerFailedAfterCancellation(ILogger logger, string method, Exception exception);
}
