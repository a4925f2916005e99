namespace LightQ.Grpc;

/// <summary>Which sides of a call are streams.</summary>
public enum GrpcMethodType
{
    /// <summary>One request, one response.</summary>
    Unary,

    /// <summary>Any number of requests, one response.</summary>
    ClientStreaming,

    /// <summary>One request, any number of responses.</summary>
    ServerStreaming,

    /// <summary>Any number of requests and responses, independent of each other.</summary>
    DuplexStreaming,
}
