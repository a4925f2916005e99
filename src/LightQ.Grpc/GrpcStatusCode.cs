namespace LightQ.Grpc;

/// <summary>How a call ended. The numbers are gRPC's own and travel in <c>grpc-status</c>.</summary>
public enum GrpcStatusCode
{
    /// <summary>The call succeeded.</summary>
    Ok = 0,

    /// <summary>The caller, or the server on its behalf, cancelled the call.</summary>
    Cancelled = 1,

    /// <summary>Something failed and no better code is known.</summary>
    Unknown = 2,

    /// <summary>The request is wrong whatever the state of the server.</summary>
    InvalidArgument = 3,

    /// <summary>The deadline passed before the call completed; whether it took effect is not known.</summary>
    DeadlineExceeded = 4,

    /// <summary>What was asked for does not exist.</summary>
    NotFound = 5,

    /// <summary>What was to be created exists.</summary>
    AlreadyExists = 6,

    /// <summary>The caller is known and may not do this.</summary>
    PermissionDenied = 7,

    /// <summary>A limit was reached: a quota, a size, memory, disk.</summary>
    ResourceExhausted = 8,

    /// <summary>The server is not in the state the request needs; trying again does not help until the state changes.</summary>
    FailedPrecondition = 9,

    /// <summary>A concurrent change got in the way; the caller may start over.</summary>
    Aborted = 10,

    /// <summary>The request goes past the valid range.</summary>
    OutOfRange = 11,

    /// <summary>The server does not offer this method, or not in this way.</summary>
    Unimplemented = 12,

    /// <summary>The protocol or an invariant was broken.</summary>
    Internal = 13,

    /// <summary>The server cannot be reached or cannot answer now; trying again may help.</summary>
    Unavailable = 14,

    /// <summary>Data was lost or damaged.</summary>
    DataLoss = 15,

    /// <summary>The caller's identity is missing or wrong.</summary>
    Unauthenticated = 16,
}
