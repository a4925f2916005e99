namespace LightQ.Server;

/// <summary>The protocol with which telemetry is sent to a collector.</summary>
public enum OtlpProtocol
{
    /// <summary>OTLP over gRPC, usually port 4317.</summary>
    Grpc,

    /// <summary>
    /// OTLP in protobuf over HTTP, usually port 4318: <c>v1/metrics</c> and <c>v1/traces</c> are appended to the
    /// endpoint's path.
    /// </summary>
    HttpProtobuf,
}
