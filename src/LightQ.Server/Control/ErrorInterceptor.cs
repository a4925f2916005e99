using LightQ.Broker;
using LightQ.Grpc.AspNetCore;
using LightQ.Protocol;
using LightQ.Storage;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Control;

/// <summary>Tells the client what the engine refused; what is a defect goes on to be logged as one.</summary>
internal sealed class ErrorInterceptor(ILogger logger)
{
    public async Task InvokeAsync(GrpcServerCallContext context, GrpcServerHandler next)
    {
        try
        {
            await next(context).ConfigureAwait(false);
        }
        catch (BrokerException e)
        {
            throw ControlErrors.Make(e.Code, e.Message, e);
        }
        catch (IOException e) when (!context.CancellationToken.IsCancellationRequested)
        {
            ErrorCode code = DiskError.IsFull(e) ? ErrorCode.DiskFull : ErrorCode.Internal;
            ServerLog.CallFailed(logger, e, context.Method, ControlErrors.StatusOf(code));
            throw ControlErrors.Make(code, $"Nothing was done, or not all: {DiskError.Describe(e)}.", e);
        }
    }
}
