namespace LightQ.Grpc.AspNetCore;

/// <summary>Serves one call of any shape: reads its requests and writes its responses.</summary>
/// <param name="context">The call.</param>
public delegate Task GrpcServerHandler(GrpcServerCallContext context);
