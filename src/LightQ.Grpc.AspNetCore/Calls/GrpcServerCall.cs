using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;

namespace LightQ.Grpc.AspNetCore.Calls;

/// <summary>Takes an HTTP request through a bound method: checks it, keeps its deadline, and answers with the status.</summary>
internal sealed class GrpcServerCall(GrpcBinding binding, GrpcServerOptions options, ILogger logger, CancellationToken serverStopping)
{
    public async Task InvokeAsync(HttpContext http)
    {
        if (GrpcHttp.FindProblem(http.Request) is { } problem)
        {
            http.Response.StatusCode = problem;
            return;
        }

        http.Response.ContentType = GrpcHeaders.ContentType;
        http.Response.Headers[GrpcHeaders.AcceptEncoding] = GrpcHeaders.Identity;
        GrpcHttp.LiftRequestLimits(http, binding.Type is GrpcMethodType.ClientStreaming or GrpcMethodType.DuplexStreaming);

        string? timeoutHeader = http.Request.Headers[GrpcHeaders.Timeout];
        TimeSpan timeout = default;
        bool malformed = timeoutHeader is not null && !GrpcTimeout.TryParse(timeoutHeader, out timeout);
        bool limited = timeoutHeader is not null && !malformed;

        using CancellationTokenSource? deadline = limited ? new(GrpcTimeout.ToTimer(timeout), options.TimeProvider) : null;
        CancellationToken stopping = binding.Type == GrpcMethodType.Unary ? CancellationToken.None : serverStopping;
        using CancellationTokenSource ended =
            CancellationTokenSource.CreateLinkedTokenSource(http.RequestAborted, deadline?.Token ?? CancellationToken.None, stopping);
        GrpcServerCallContext context = new(http, binding.FullName, binding.Type, limited ? DeadlineAfter(timeout) : null, options, ended.Token);
        if (malformed)
        {
            Answer(context, new GrpcStatus(GrpcStatusCode.Internal, $"'{timeoutHeader}' is not a grpc-timeout."), null);
            return;
        }

        await RunAsync(context, deadline?.Token ?? CancellationToken.None, stopping).ConfigureAwait(false);
    }

    private async Task RunAsync(GrpcServerCallContext context, CancellationToken deadline, CancellationToken stopping)
    {
        try
        {
            context.CancellationToken.ThrowIfCancellationRequested();
            await binding.Handler(context).ConfigureAwait(false);
            Answer(context, GrpcStatus.Ok, null);
        }
        catch (GrpcException e)
        {
            Answer(context, e.Status, e.Trailers);
        }
        catch (Exception e) when (e is OperationCanceledException || context.CancellationToken.IsCancellationRequested)
        {
            // What a handler throws once its call was cancelled is a consequence; the status is that of the cause.
            if (e is not OperationCanceledException) GrpcServerLog.HandlerFailedAfterCancellation(logger, binding.FullName, e);
            Answer(context, CauseOfCancellation(context, deadline, stopping), null);
        }
        catch (Exception e)
        {
            GrpcServerLog.HandlerFailed(logger, binding.FullName, e);
            Answer(context, new GrpcStatus(GrpcStatusCode.Unknown, "The server failed to serve the call; its log has the cause."), null);
        }
    }

    private static GrpcStatus CauseOfCancellation(GrpcServerCallContext context, CancellationToken deadline, CancellationToken stopping)
    {
        if (context.HttpContext.RequestAborted.IsCancellationRequested) return new GrpcStatus(GrpcStatusCode.Cancelled, "The client ended the call.");
        if (deadline.IsCancellationRequested) return new GrpcStatus(GrpcStatusCode.DeadlineExceeded, "The deadline passed.");
        return stopping.IsCancellationRequested
            ? new GrpcStatus(GrpcStatusCode.Unavailable, "The server is stopping.")
            : new GrpcStatus(GrpcStatusCode.Cancelled, "The call was cancelled.");
    }

    private DateTimeOffset DeadlineAfter(TimeSpan timeout)
    {
        DateTimeOffset now = options.TimeProvider.GetUtcNow();
        return timeout < DateTimeOffset.MaxValue - now ? now + timeout : DateTimeOffset.MaxValue;
    }

    private void Answer(GrpcServerCallContext context, GrpcStatus status, GrpcMetadata? trailers)
    {
        if (status.Code != GrpcStatusCode.Ok) GrpcServerLog.CallFailed(logger, binding.FullName, status.Code, status.Message);
        GrpcHttp.WriteStatus(context, status, trailers);
    }
}
