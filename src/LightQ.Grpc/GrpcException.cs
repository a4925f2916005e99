namespace LightQ.Grpc;

/// <summary>
/// A call ended with a status other than OK. On the client it carries what the server or the transport said; a server
/// handler throws it to choose the status, and the trailers, of its answer.
/// </summary>
public sealed class GrpcException : Exception
{
    /// <summary>Creates the exception for a status.</summary>
    /// <param name="status">The status; OK is not an error and is refused.</param>
    /// <param name="trailers">Metadata that came, or is to be sent, with the status.</param>
    /// <param name="innerException">The cause on this side of the wire, if there is one. It is never sent.</param>
    public GrpcException(GrpcStatus status, GrpcMetadata? trailers = null, Exception? innerException = null)
        : base(status.ToString(), innerException)
    {
        if (status.Code == GrpcStatusCode.Ok) throw new ArgumentException("OK is not an error.", nameof(status));
        Status = status;
        Trailers = trailers ?? [];
    }

    /// <summary>Creates the exception for a code and a message.</summary>
    public GrpcException(GrpcStatusCode code, string message, Exception? innerException = null)
        : this(new GrpcStatus(code, message), null, innerException)
    {
    }

    /// <summary>The status the call ended with.</summary>
    public GrpcStatus Status { get; }

    /// <summary>The trailing metadata of the call; empty when there was none.</summary>
    public GrpcMetadata Trailers { get; }
}
