using System.Buffers;
using System.Text.Encodings.Web;
using System.Text.Json;
using Grpc.Core;
using Microsoft.AspNetCore.Http;

namespace LightQ.Server.Json;

/// <summary>Why a request was rejected, or failed.</summary>
/// <param name="Status">The status that it has over gRPC.</param>
/// <param name="Message">For people.</param>
/// <param name="Code">The name of the error code; empty where there is none.</param>
internal sealed record JsonError(StatusCode Status, string Message, string Code)
{
    // Apostrophes as people read them: an answer is never part of a page.
    private static readonly JsonWriterOptions Readable = new()
    {
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
    };

    /// <summary>The status of HTTP that means the same.</summary>
    public int HttpStatus =>
        Status switch
        {
            StatusCode.InvalidArgument or StatusCode.FailedPrecondition or StatusCode.OutOfRange =>
                StatusCodes.Status400BadRequest,
            StatusCode.Unauthenticated => StatusCodes.Status401Unauthorized,
            StatusCode.PermissionDenied => StatusCodes.Status403Forbidden,
            StatusCode.NotFound => StatusCodes.Status404NotFound,
            StatusCode.AlreadyExists or StatusCode.Aborted => StatusCodes.Status409Conflict,
            StatusCode.ResourceExhausted => StatusCodes.Status429TooManyRequests,
            StatusCode.Cancelled => StatusCodes.Status499ClientClosedRequest,
            StatusCode.Unimplemented => StatusCodes.Status501NotImplemented,
            StatusCode.Unavailable => StatusCodes.Status503ServiceUnavailable,
            StatusCode.DeadlineExceeded => StatusCodes.Status504GatewayTimeout,
            _ => StatusCodes.Status500InternalServerError,
        };

    /// <summary>As the body of an answer.</summary>
    public ReadOnlyMemory<byte> ToJson()
    {
        var json = new ArrayBufferWriter<byte>();
        using var writer = new Utf8JsonWriter(json, Readable);
        writer.WriteStartObject();
        writer.WriteNumber("code", (int)Status);
        writer.WriteString("message", Message);
        if (Code.Length != 0)
            writer.WriteString("lightq-error-code", Code);
        writer.WriteEndObject();
        writer.Flush();
        return json.WrittenMemory;
    }
}
