namespace LightQ.Grpc.AspNetCore.Calls;

/// <summary>A method of a service and what serves it.</summary>
internal sealed record GrpcBinding(string FullName, GrpcMethodType Type, GrpcServerHandler Handler)
{
    /// <summary>The same method with the interceptors around its handler, the first one outermost.</summary>
    public GrpcBinding WithInterceptors(IReadOnlyList<GrpcServerInterceptor> interceptors)
    {
        GrpcServerHandler handler = Handler;
        for (int i = interceptors.Count - 1; i >= 0; i--)
        {
            GrpcServerInterceptor interceptor = interceptors[i];
            GrpcServerHandler next = handler;
            handler = context => interceptor(context, next);
        }

        return this with { Handler = handler };
    }
}
