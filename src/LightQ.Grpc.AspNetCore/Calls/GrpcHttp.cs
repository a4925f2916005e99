using System.Globalization;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.Server.Kestrel.Core.Features;
using Microsoft.Extensions.Primitives;

namespace LightQ.Grpc.AspNetCore.Calls;

/// <summary>gRPC's view of an HTTP request and response.</summary>
internal static class GrpcHttp
{
    /// <summary>The HTTP status that refuses a request which is no gRPC call, or null when it is one.</summary>
    public static int? FindProblem(HttpRequest request)
    {
        if (!GrpcHeaders.IsGrpcContentType(request.ContentType)) return StatusCodes.Status415UnsupportedMediaType;
        return HttpProtocol.IsHttp2(request.Protocol) || HttpProtocol.IsHttp3(request.Protocol) ? null : StatusCodes.Status426UpgradeRequired;
    }

    /// <summary>Kestrel's limits are for uploads; a stream of requests may be long and idle. Message sizes have a limit of their own.</summary>
    public static void LiftRequestLimits(HttpContext http, bool isStream)
    {
        if (http.Features.Get<IHttpMaxRequestBodySizeFeature>() is { IsReadOnly: false } size) size.MaxRequestBodySize = null;
        if (isStream && http.Features.Get<IHttpMinRequestBodyDataRateFeature>() is { } rate) rate.MinDataRate = null;
    }

    public static GrpcMetadata ReadMetadata(IHeaderDictionary headers)
    {
        GrpcMetadata metadata = [];
        foreach ((string name, StringValues values) in headers)
            foreach (string? value in values)
                metadata.AddReceived(name, value ?? string.Empty);
        return metadata;
    }

    public static void Append(IHeaderDictionary headers, GrpcMetadata metadata)
    {
        foreach (GrpcMetadataEntry entry in metadata)
            headers.Append(entry.Name, entry.Value);
    }

    /// <summary>
    /// Ends the response. If the call failed before there was any, the status goes into the headers ("trailers-only").
    /// </summary>
    public static void WriteStatus(GrpcServerCallContext context, GrpcStatus status, GrpcMetadata? exceptionTrailers)
    {
        HttpResponse response = context.HttpContext.Response;
        bool trailersOnly = status.Code != GrpcStatusCode.Ok && !context.HasResponse;
        context.ApplyResponseHeaders();
        IHeaderDictionary? trailers = trailersOnly ? response.Headers : context.HttpContext.Features.Get<IHttpResponseTrailersFeature>()?.Trailers;
        if (trailers is null || trailers.IsReadOnly) return; // the client reset the call: nobody reads the status
        Append(trailers, context.ResponseTrailers);
        if (exceptionTrailers is not null) Append(trailers, exceptionTrailers);
        trailers[GrpcHeaders.Status] = ((int)status.Code).ToString(CultureInfo.InvariantCulture);
        if (!string.IsNullOrEmpty(status.Message)) trailers[GrpcHeaders.Message] = PercentEncoding.Encode(status.Message);
    }
}
