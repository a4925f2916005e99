using LightQ.Broker;
using LightQ.Grpc.AspNetCore;
using LightQ.Protocol;
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
            ServerLog.CallFailed(logger, e, context.Method, ControlErrors.StatusOf(ErrorCode.Internal));
            throw ControlErrors.Make(ErrorCode.Internal, $"The disk refused: {e.Message}", e);
        }
    }
}
