namespace LightQ.Server;

/// <summary>How telemetry travels to a collector.</summary>
public enum OtlpProtocol
{
    /// <summary>OTLP over gRPC, usually port 4317.</summary>
    Grpc,

    /// <summary>OTLP in protobuf over HTTP, usually port 4318: <c>v1/metrics</c> and <c>v1/traces</c> behind the
    /// endpoint's path.</summary>
    HttpProtobuf,
}
