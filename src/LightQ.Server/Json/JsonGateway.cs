using System.Buffers;
using System.IO.Pipelines;
using System.Text;
using Google.Protobuf;
using Grpc.Core;
using LightQ.Broker;
using LightQ.Protocol;
using LightQ.Server.Control;
using LightQ.Server.Limits;
using LightQ.Server.Security;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.Routing;
using Microsoft.Net.Http.Headers;

namespace LightQ.Server.Json;

/// <summary>
/// The control plane in JSON over HTTP: a request becomes a call of the method that its route names, behind the same
/// gate, interceptor and limits.
/// </summary>
internal sealed class JsonGateway(CallGate gate, ServerSecurity security)
{
    /// <summary>The description of the routes.</summary>
    public const string DescriptionPath = "/openapi/v1.json";

    /// <summary>
    /// What a byte of text costs in memory until it is a request: itself, twice as it is for the parser, twice in
    /// UTF-16, once in the request, and what no collection has taken back yet. With 4, 32 requests of 4 MiB at once
    /// took 295 MiB more than a broker at rest, when nothing was written anew for the parser.
    /// </summary>
    private const int TextCost = 8;

    private const string Json = "application/json",
        Lines = "application/x-ndjson";

    private static readonly JsonFormatter Formatter = new(JsonFormatter.Settings.Default.WithFormatDefaultValues(true));
    private static readonly Lazy<byte[]> Description = new(OpenApiDocument.Write);

    /// <summary>Adds the routes to an application that has the methods already.</summary>
    public void Map(IEndpointRouteBuilder endpoints)
    {
        RouteEndpoint[] methods = [.. endpoints.DataSources.SelectMany(s => s.Endpoints).OfType<RouteEndpoint>()];
        foreach (JsonRoute route in JsonRoutes.All)
        {
            Endpoint method = methods.Single(m => m.RoutePattern.RawText == route.Path);
            endpoints.MapMethods(route.Pattern, [route.Verb], http => ServeAsync(http, route, method));
        }
        endpoints.MapMethods(
            DescriptionPath,
            [HttpMethods.Get, HttpMethods.Head],
            static http =>
            {
                http.Response.ContentType = Json;
                return http.Response.Body.WriteAsync(Description.Value).AsTask();
            }
        );
    }

    /// <remarks>
    /// What has a body says that it is JSON, also when it is empty: a page of another site can have a browser send
    /// anything else unasked.
    /// </remarks>
    private async Task ServeAsync(HttpContext http, JsonRoute route, Endpoint method)
    {
        if (route.HasBody && !IsJson(http.Request))
        {
            string type = TopicName.Printable(http.Request.ContentType ?? "");
            await RefuseTypeAsync(http, $"The Content-Type is '{type}'; allowed: {Json}.").ConfigureAwait(false);
            return;
        }
        string encoding = http.Request.Headers.ContentEncoding.ToString();
        if (encoding.Length != 0 && !encoding.Equals("identity", StringComparison.OrdinalIgnoreCase))
        {
            encoding = TopicName.Printable(encoding);
            await RefuseTypeAsync(http, $"The Content-Encoding is '{encoding}'; allowed: none.").ConfigureAwait(false);
            return;
        }
        byte[] answer = [];
        var call = new JsonCall(
            http,
            route.Path,
            method,
            message =>
            {
                IMessage part = route.Method.OutputType.Parser.ParseFrom(message.ToArray());
                byte[] json = Encoding.UTF8.GetBytes(Formatter.Format(part) + "\n");
                if (route.Method.IsServerStreaming)
                    return new ValueTask(WriteLineAsync(http, json));
                answer = json;
                return ValueTask.CompletedTask;
            }
        );
        (JsonError? end, int? status) = await CallAsync(http, route, call).ConfigureAwait(false);
        if (end is not null && http.Response.HasStarted)
            await WriteLineAsync(http, [.. "{\"error\":"u8, .. end.ToJson().Span, .. "}\n"u8]).ConfigureAwait(false);
        else if (end is not null)
            await RefuseAsync(http, status ?? end.HttpStatus, end).ConfigureAwait(false);
        else if (!route.Method.IsServerStreaming)
            await WriteAsync(http, StatusCodes.Status200OK, answer).ConfigureAwait(false);
    }

    /// <returns>How it ended, and the status of HTTP where that is another than the error's.</returns>
    private async Task<(JsonError? End, int? Status)> CallAsync(HttpContext http, JsonRoute route, JsonCall call)
    {
        int? status = null;
        try
        {
            await ShowPasswordAsync(http, call.Context).ConfigureAwait(false);
            await gate.InvokeAsync(
                    call.Context,
                    async _ =>
                    {
                        if (CallPrincipal.Find(call.Context) is { } principal)
                            CallPrincipal.Set(http, principal); // The answer counts for it.
                        BodyAccount account = gate.Requests.NewAccount(call.Context);
                        try
                        {
                            await DemandAsync(http, route, call).ConfigureAwait(false);
                            byte[] body = await ReadAsync(http, call.Context, account).ConfigureAwait(false);
                            await call.ServeAsync(Parse(http, route, body, account)).ConfigureAwait(false);
                        }
                        catch (BadHttpRequestException e)
                        {
                            status = e.StatusCode;
                            throw status == StatusCodes.Status413PayloadTooLarge
                                ? gate.Requests.TooLong(call.Context)
                                : new BrokerException(ErrorCode.InvalidArgument, e.Message);
                        }
                        finally
                        {
                            account.Clear();
                        }
                    }
                )
                .ConfigureAwait(false);
            return (call.Error(), status);
        }
        catch (BrokerException e)
        {
            return (new JsonError(ControlErrors.StatusOf(e.Code), e.Message, e.Code.ToString()), null);
        }
    }

    /// <summary>Asks for the right before anything of the body is read, where the path has the topic.</summary>
    private async ValueTask DemandAsync(HttpContext http, JsonRoute route, JsonCall call)
    {
        if (route.TopicField is { } field && http.Request.RouteValues[field] is string topic)
            await gate.Requests.DemandAsync(call.Context, route.Path, topic).ConfigureAwait(false);
    }

    /// <summary>Who shows a password instead of a token is looked for here: the gate knows tokens only.</summary>
    private async Task ShowPasswordAsync(HttpContext http, HttpContext call)
    {
        if (
            http.Request.Headers.Authorization is [{ } shown]
            && shown.StartsWith("Basic ", StringComparison.OrdinalIgnoreCase)
            && await WebPrincipal.IdentifyAsync(http, security.Authenticator).ConfigureAwait(false) is { } principal
        )
        {
            CallPrincipal.Set(call, principal);
        }
    }

    /// <summary>Makes a request of the body, when it is known how many objects that is.</summary>
    private IMessage Parse(HttpContext http, JsonRoute route, byte[] body, BodyAccount account)
    {
        int most = gate.Requests.MostElements,
            elements = JsonScan.Count(body, most);
        if (elements > most)
            throw gate.Requests.TooManyElements();
        account.Set((TextCost * body.LongLength) + ((long)elements * RequestScan.ElementBytes));
        return JsonRequest.Read(route, http.Request.RouteValues, http.Request.Query, body);
    }

    /// <summary>Reads the body, as it comes, within what it may take of memory and time.</summary>
    private async Task<byte[]> ReadAsync(HttpContext http, HttpContext call, BodyAccount account)
    {
        http.Features.GetRequiredFeature<IHttpMaxRequestBodySizeFeature>().MaxRequestBodySize =
            gate.Requests.MostBytesOf(call);
        using var enough = new CancellationTokenSource(gate.Requests.PatienceWith(call), gate.Requests.Time);
        using var end = CancellationTokenSource.CreateLinkedTokenSource(enough.Token, http.RequestAborted);
        PipeReader body = http.Request.BodyReader;
        try
        {
            while (true)
            {
                ReadResult read = await body.ReadAsync(end.Token).ConfigureAwait(false);
                long length = read.Buffer.Length;
                byte[]? whole = read.IsCompleted ? read.Buffer.ToArray() : null;
                body.AdvanceTo(whole is null ? read.Buffer.Start : read.Buffer.End, read.Buffer.End);
                account.Set(TextCost * length);
                if (whole is not null)
                    return whole;
            }
        }
        catch (OperationCanceledException) when (enough.IsCancellationRequested)
        {
            throw gate.Requests.Late(call);
        }
    }

    private static bool IsJson(HttpRequest request) =>
        MediaTypeHeaderValue.TryParse(request.ContentType, out MediaTypeHeaderValue? type)
        && type.MediaType.Equals(Json, StringComparison.OrdinalIgnoreCase);

    private static async Task WriteLineAsync(HttpContext http, byte[] line)
    {
        if (!http.Response.HasStarted)
            (http.Response.ContentType, http.Response.Headers.CacheControl) = (Lines, "no-store");
        await http.Response.Body.WriteAsync(line, http.RequestAborted).ConfigureAwait(false);
        await http.Response.Body.FlushAsync(http.RequestAborted).ConfigureAwait(false);
    }

    private static Task RefuseTypeAsync(HttpContext http, string problem) =>
        RefuseAsync(
            http,
            StatusCodes.Status415UnsupportedMediaType,
            new JsonError(StatusCode.InvalidArgument, problem, nameof(ErrorCode.InvalidArgument))
        );

    private static Task RefuseAsync(HttpContext http, int status, JsonError error)
    {
        if (status == StatusCodes.Status401Unauthorized)
            http.Response.Headers.WWWAuthenticate = new[] { "Bearer realm=\"LightQ\"", "Basic realm=\"LightQ\"" };
        return WriteAsync(http, status, [.. error.ToJson().Span, (byte)'\n']);
    }

    private static Task WriteAsync(HttpContext http, int status, byte[] body)
    {
        http.Response.StatusCode = status;
        http.Response.ContentType = Json;
        http.Response.Headers.CacheControl = "no-store";
        return http.Response.Body.WriteAsync(body, http.RequestAborted).AsTask();
    }
}
