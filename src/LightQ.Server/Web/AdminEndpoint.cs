using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text.Encodings.Web;
using System.Text.Json;
using LightQ.Broker;
using LightQ.Server.Limits;
using LightQ.Server.Security;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.Routing;

namespace LightQ.Server.Web;

/// <summary>
/// <c>POST /admin</c>: the JSON protocol of LightQ's predecessor. Every answer is JSON; a refusal has the status error
/// and says why.
/// </summary>
internal sealed class AdminEndpoint(AdminCommands commands, ServerLimits limits, int dataPort, int controlPort)
{
    public const string Path = "/admin";

    // Apostrophes as people read them: the answers are never part of a page.
    private static readonly AdminJson Json = new(
        new JsonSerializerOptions(AdminJson.Default.Options) { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping }
    );

    /// <summary>Adds it to an application.</summary>
    public void Map(IEndpointRouteBuilder endpoints) => endpoints.MapPost(Path, HandleAsync);

    private async Task HandleAsync(HttpContext http)
    {
        string? command = null;
        try
        {
            AdminRequest request = await ReadAsync(http).ConfigureAwait(false);
            command = request.Cmd;
            AdminResponse response = await commands
                .ExecuteAsync(request, BindUri(http.Connection), From(http.Connection), http.RequestAborted)
                .ConfigureAwait(false);
            await AnswerAsync(http, StatusCodes.Status200OK, response).ConfigureAwait(false);
        }
        catch (BrokerException e)
        {
            await RefuseAsync(http, StatusOf(e.Code), command, e.Message).ConfigureAwait(false);
        }
        catch (JsonException e)
        {
            await RefuseAsync(
                    http,
                    StatusCodes.Status400BadRequest,
                    command,
                    $"The body is not a JSON object with texts as the protocol has them: {e.Message}"
                )
                .ConfigureAwait(false);
        }
        catch (BadHttpRequestException e)
        {
            string why =
                e.StatusCode == StatusCodes.Status413PayloadTooLarge
                    ? limits.HttpRefusals.Refuse(
                        nameof(HttpOptions.MaxRequestBytes),
                        limits.Http.MaxRequestBytes,
                        "The body has too many bytes"
                    )
                    : e.Message;
            await RefuseAsync(http, e.StatusCode, command, why).ConfigureAwait(false);
        }
    }

    private async Task<AdminRequest> ReadAsync(HttpContext http)
    {
        http.Features.GetRequiredFeature<IHttpMaxRequestBodySizeFeature>().MaxRequestBodySize = limits
            .Http
            .MaxRequestBytes;
        return await JsonSerializer
                .DeserializeAsync(http.Request.Body, AdminJson.Default.AdminRequest, http.RequestAborted)
                .ConfigureAwait(false)
            ?? throw new JsonException("it is null.");
    }

    /// <summary>The address that the client itself has used, so it is one that it can reach.</summary>
    private string BindUri(ConnectionInfo connection)
    {
        IPAddress address = connection.LocalIpAddress ?? IPAddress.Loopback;
        if (address.IsIPv4MappedToIPv6)
            address = address.MapToIPv4();
        string host = address.AddressFamily == AddressFamily.InterNetworkV6 ? $"[{address}]" : address.ToString();
        return string.Create(
            CultureInfo.InvariantCulture,
            $"lightq://{host}:{dataPort}?control={controlPort}{(limits.Options.Tls.IsEnabled ? "&tls=true" : "")}"
        );
    }

    private static Origin From(ConnectionInfo connection) =>
        Origin.Web(connection.RemoteIpAddress is { } address ? new IPEndPoint(address, connection.RemotePort) : null);

    private static Task RefuseAsync(HttpContext http, int status, string? command, string description) =>
        AnswerAsync(
            http,
            status,
            new AdminResponse
            {
                Cmd = command,
                Status = AdminResponse.Error,
                Description = description,
            }
        );

    private static Task AnswerAsync(HttpContext http, int status, AdminResponse response)
    {
        http.Response.StatusCode = status;
        http.Response.ContentType = "application/json; charset=utf-8";
        http.Response.Headers.CacheControl = "no-store";
        return http
            .Response.Body.WriteAsync(
                JsonSerializer.SerializeToUtf8Bytes(response, Json.AdminResponse),
                http.RequestAborted
            )
            .AsTask();
    }

    private static int StatusOf(ErrorCode code) =>
        code switch
        {
            ErrorCode.Unauthenticated => StatusCodes.Status401Unauthorized,
            ErrorCode.PermissionDenied => StatusCodes.Status403Forbidden,
            ErrorCode.ResourceExhausted => StatusCodes.Status429TooManyRequests,
            ErrorCode.UnknownTopic => StatusCodes.Status404NotFound,
            ErrorCode.TopicExists => StatusCodes.Status409Conflict,
            ErrorCode.InvalidArgument or ErrorCode.NotSupported => StatusCodes.Status400BadRequest,
            _ => StatusCodes.Status503ServiceUnavailable,
        };
}
