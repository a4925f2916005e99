using LightQ.Grpc;
using LightQ.Grpc.AspNetCore;
using LightQ.Protocol;
using LightQ.Server.Hosting;
using LightQ.Server.Limits;

namespace LightQ.Server.Control;

/// <summary>Keeps the calls of all connections below their limit, and says which limit a message was too long for. Health is exempt: who watches the broker must not take it for a dead one.</summary>
/// <param name="limits">The limits.</param>
/// <param name="messageBytes">The largest message in force.</param>
internal sealed class CallLimit(ServerLimits limits, int messageBytes)
{
    private const string Health = "/grpc.health.v1.Health/";

    private int _calls;

    public async Task InvokeAsync(GrpcServerCallContext context, GrpcServerHandler next)
    {
        if (context.Method.StartsWith(Health, StringComparison.Ordinal))
        {
            await next(context).ConfigureAwait(false);
            return;
        }
        int most = limits.Http.MaxCalls;
        try
        {
            if (Interlocked.Increment(ref _calls) > most)
                throw ControlErrors.Make(ErrorCode.ResourceExhausted, limits.Refusals.Refuse("Http:" + nameof(HttpOptions.MaxCalls), most, "As many calls are under way"));
            await next(context).ConfigureAwait(false);
        }
        catch (GrpcException e) when (e.Status.Code == GrpcStatusCode.ResourceExhausted && e.Trailers?.GetValue(ControlErrors.CodeTrailer) is null)
        {
            // The framework's own: it has read how long a message would be.
            throw ControlErrors.Make(ErrorCode.ResourceExhausted, limits.Refusals.Refuse("Http:" + nameof(HttpOptions.MaxMessageBytes), messageBytes, e.Status.Message.TrimEnd('.')), e);
        }
        finally
        {
            Interlocked.Decrement(ref _calls);
        }
    }
}
