namespace LightQ.Grpc;

/// <summary>The header names and values of gRPC over HTTP/2.</summary>
internal static class GrpcHeaders
{
    public const string ContentType = "application/grpc";
    public const string Status = "grpc-status";
    public const string Message = "grpc-message";
    public const string Timeout = "grpc-timeout";
    public const string Encoding = "grpc-encoding";
    public const string AcceptEncoding = "grpc-accept-encoding";
    public const string Identity = "identity";

    /// <summary>application/grpc, also with a suffix (+proto) or parameters; not application/grpc-web.</summary>
    public static bool IsGrpcContentType(string? contentType)
    {
        if (contentType is null || !contentType.StartsWith(ContentType, StringComparison.OrdinalIgnoreCase)) return false;
        ReadOnlySpan<char> rest = contentType.AsSpan(ContentType.Length);
        if (rest.StartsWith("+proto", StringComparison.OrdinalIgnoreCase)) rest = rest["+proto".Length..];
        return rest.IsEmpty || rest[0] is ';' or ' ';
    }

    public static bool IsBinary(string name) => name.EndsWith("-bin", StringComparison.OrdinalIgnoreCase);

    /// <summary>Whether the protocol or HTTP owns the name, so that it is no part of a call's metadata.</summary>
    public static bool IsReserved(string name) => name.ToLowerInvariant() is
        Status or Message or Timeout or Encoding or AcceptEncoding
        or "content-type" or "content-length" or "te" or "host" or "connection" or "transfer-encoding" or "trailer";
}
