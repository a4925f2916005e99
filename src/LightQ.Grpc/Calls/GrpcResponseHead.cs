using System.Globalization;
using System.Net.Http.Headers;

namespace LightQ.Grpc.Calls;

/// <summary>Reads statuses and metadata out of HTTP responses.</summary>
internal static class GrpcResponseHead
{
    /// <summary>The status in a header or trailer block, or null when there is none.</summary>
    public static GrpcStatus? FindStatus(HttpResponseHeaders headers)
    {
        if (Single(headers, GrpcHeaders.Status) is not { } text) return null;
        string message = PercentEncoding.Decode(Single(headers, GrpcHeaders.Message) ?? string.Empty);
        if (!int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out int code))
            return new GrpcStatus(GrpcStatusCode.Unknown, $"The server sent the status '{text}', which is no number.");
        return code is >= (int)GrpcStatusCode.Ok and <= (int)GrpcStatusCode.Unauthenticated
            ? new GrpcStatus((GrpcStatusCode)code, message)
            : new GrpcStatus(GrpcStatusCode.Unknown, $"The server sent the status {code}, which gRPC does not define. {message}".TrimEnd());
    }

    public static string? Single(HttpResponseHeaders headers, string name) =>
        headers.NonValidated.TryGetValues(name, out HeaderStringValues values) ? values.ToString() : null;

    public static GrpcMetadata ReadMetadata(HttpResponseHeaders headers)
    {
        GrpcMetadata metadata = [];
        foreach ((string name, HeaderStringValues values) in headers.NonValidated)
            foreach (string value in values)
                metadata.AddReceived(name, value);
        return metadata;
    }

    /// <summary>What is wrong with a response that is not gRPC's, or null.</summary>
    public static GrpcStatus? FindProblem(HttpResponseMessage response)
    {
        if (!response.IsSuccessStatusCode)
        {
            string said = $"The server answered with HTTP status {(int)response.StatusCode}.";
            return new GrpcStatus(GrpcTransportError.FromHttpStatus(response.StatusCode), said);
        }

        string? contentType = response.Content.Headers.NonValidated.TryGetValues("Content-Type", out HeaderStringValues values) ? values.ToString() : null;
        return GrpcHeaders.IsGrpcContentType(contentType)
            ? null
            : new GrpcStatus(GrpcStatusCode.Unknown, $"The server answered with the content type '{contentType}', which is not gRPC's.");
    }
}
