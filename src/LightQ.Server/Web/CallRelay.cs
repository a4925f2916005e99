using System.Buffers;
using System.Globalization;
using System.Net;
using System.Net.Http.Headers;
using System.Net.Security;
using Grpc.Core;
using LightQ.Protocol;
using LightQ.Server.Control;
using Microsoft.AspNetCore.Http;

namespace LightQ.Server.Web;

/// <summary>
/// Passes gRPC calls on to a broker's control port as they are. It knows no rpc: the bytes of requests and responses go
/// through, with the caller's token and deadline.
/// </summary>
internal sealed class CallRelay : IDisposable
{
    private const string Grpc = "application/grpc";

    private static readonly SearchValues<char> InMethods = SearchValues.Create(
        "._0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    );

    private static readonly string[] Passed = ["authorization", "grpc-timeout"];

    private readonly HttpClient _broker;
    private readonly CancellationToken _stopping;

    /// <param name="control">The broker's control port.</param>
    /// <param name="tls">How its certificate is checked.</param>
    /// <param name="stopping">Ends the streams that are open.</param>
    public CallRelay(Uri control, SslClientAuthenticationOptions? tls, CancellationToken stopping)
    {
        _stopping = stopping;
        var handler = new SocketsHttpHandler
        {
            AllowAutoRedirect = false,
            UseCookies = false,
            UseProxy = false,
            EnableMultipleHttp2Connections = true,
        };
        if (tls is not null)
            handler.SslOptions = tls;
        _broker = new HttpClient(handler)
        {
            BaseAddress = control,
            Timeout = Timeout.InfiniteTimeSpan,
            DefaultRequestVersion = HttpVersion.Version20,
            DefaultVersionPolicy = HttpVersionPolicy.RequestVersionExact,
        };
    }

    public async Task InvokeAsync(HttpContext http)
    {
        // Another site's page can send a browser here with plain text, and with nothing that has to be asked for first.
        if (http.Request.ContentType?.StartsWith(Grpc, StringComparison.OrdinalIgnoreCase) != true)
        {
            http.Response.StatusCode = StatusCodes.Status415UnsupportedMediaType;
            return;
        }

        http.Response.ContentType = Grpc;
        if (!IsMethod(http.Request.Path.Value))
        {
            // As a relative address it would lead elsewhere: a ? begins its parameters, a # ends it.
            Refuse(http.Response, StatusCode.Unimplemented, "The path is none of a method.");
            return;
        }
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(http.RequestAborted, _stopping);
        try
        {
            using HttpRequestMessage request = RequestOf(http.Request);
            using HttpResponseMessage response = await _broker
                .SendAsync(request, HttpCompletionOption.ResponseHeadersRead, ended.Token)
                .ConfigureAwait(false);
            CopyTo(http.Response.Headers, response.Headers);
            if (response.Content.Headers.ContentType?.MediaType != Grpc)
            {
                Refuse(http.Response, StatusCode.Unknown, $"{_broker.BaseAddress!.Authority} does not speak gRPC.");
                return;
            }
            await response.Content.CopyToAsync(http.Response.Body, ended.Token).ConfigureAwait(false);
            foreach ((string name, IEnumerable<string> values) in response.TrailingHeaders)
                http.Response.AppendTrailer(name, values.ToArray());
        }
        catch (HttpRequestException e) when (!http.Response.HasStarted)
        {
            Refuse(
                http.Response,
                StatusCode.Unavailable,
                $"No connection to {_broker.BaseAddress!.Authority}: {TopicName.Printable(e.Message)}"
            );
        }
        catch (OperationCanceledException) when (http.RequestAborted.IsCancellationRequested)
        {
            // The page has been closed, or waits no longer.
        }
        catch (OperationCanceledException) when (_stopping.IsCancellationRequested)
        {
            // What the page has is no complete answer, and it shall not take it for one.
            http.Abort();
        }
    }

    public void Dispose() => _broker.Dispose();

    /// <summary>Whether a path is of letters, digits, points and low lines, as the names of methods are.</summary>
    private static bool IsMethod(string? path) =>
        path?.Split('/') is ["", { Length: not 0 } service, { Length: not 0 } method]
        && !service.AsSpan().ContainsAnyExcept(InMethods)
        && !method.AsSpan().ContainsAnyExcept(InMethods)
        && service != "..";

    private static void Refuse(HttpResponse response, StatusCode status, string message)
    {
        response.Headers["grpc-status"] = ((int)status).ToString(CultureInfo.InvariantCulture);
        response.Headers["grpc-message"] = Uri.EscapeDataString(message);
    }

    private static HttpRequestMessage RequestOf(HttpRequest request)
    {
        var passed = new HttpRequestMessage(HttpMethod.Post, request.Path.Value)
        {
            Version = HttpVersion.Version20,
            VersionPolicy = HttpVersionPolicy.RequestVersionExact,
            Content = new StreamContent(request.Body) { Headers = { ContentType = new MediaTypeHeaderValue(Grpc) } },
        };
        passed.Headers.TE.Add(new TransferCodingWithQualityHeaderValue("trailers"));
        foreach (string name in Passed)
        {
            if (request.Headers.TryGetValue(name, out Microsoft.Extensions.Primitives.StringValues values))
                passed.Headers.TryAddWithoutValidation(name, values.ToArray());
        }

        return passed;
    }

    private static void CopyTo(IHeaderDictionary headers, HttpResponseHeaders from)
    {
        foreach ((string name, IEnumerable<string> values) in from)
        {
            bool isOfCall =
                name.StartsWith("grpc-", StringComparison.OrdinalIgnoreCase)
                || name.Equals(ControlErrors.CodeTrailer, StringComparison.OrdinalIgnoreCase);
            if (isOfCall)
                headers[name] = values.ToArray();
        }
    }
}
