namespace LightQ.Grpc.AspNetCore;

/// <summary>
/// Runs around a call. It may refuse the call by throwing <see cref="GrpcException"/> before it awaits
/// <paramref name="next"/>, and turn what <paramref name="next"/> throws into a status.
/// </summary>
/// <param name="context">The call; nothing of its requests has been read.</param>
/// <param name="next">The next interceptor, or the method's handler.</param>
public delegate Task GrpcServerInterceptor(GrpcServerCallContext context, GrpcServerHandler next);
