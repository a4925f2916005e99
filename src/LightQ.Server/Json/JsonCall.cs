using System.Globalization;
using Grpc.Core;
using LightQ.Server.Control;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;

namespace LightQ.Server.Json;

/// <summary>
/// A call of the control plane that a request over HTTP stands for: a context of its own on the same connection, whose
/// request and response are gRPC's.
/// </summary>
internal sealed class JsonCall
{
    private readonly StreamResponseBodyFeature _body;
    private readonly TrailersFeature _end = new();

    /// <param name="http">The request.</param>
    /// <param name="path">The method's path.</param>
    /// <param name="method">What serves it.</param>
    /// <param name="take">Takes each message of the answer.</param>
    public JsonCall(HttpContext http, string path, Endpoint method, Func<ReadOnlyMemory<byte>, ValueTask> take)
    {
        _body = new StreamResponseBodyFeature(new MessageSink(take));
        var features = new FeatureCollection(http.Features);
        features.Set<IHttpRequestFeature>(
            new HttpRequestFeature
            {
                Method = HttpMethods.Post,
                Path = path,
                Protocol = HttpProtocol.Http2,
                Scheme = http.Request.Scheme,
            }
        );
        features.Set<IHttpResponseFeature>(new ResponseFeature(http.Response));
        features.Set<IHttpResponseBodyFeature>(_body);
        features.Set<IHttpRequestLifetimeFeature>(
            new HttpRequestLifetimeFeature { RequestAborted = http.RequestAborted }
        );
        features.Set<IItemsFeature>(new ItemsFeature());
        features.Set<IEndpointFeature>(new MethodFeature { Endpoint = method });
        features.Set<IHttpResponseTrailersFeature>(_end);
        Context = new DefaultHttpContext(features);
        features.Set<IRequestBodyPipeFeature>(new RequestBodyPipeFeature(Context));
        IHeaderDictionary headers = Context.Request.Headers;
        headers.ContentType = "application/grpc";
        headers.UserAgent = http.Request.Headers.UserAgent;
        headers.Authorization = http.Request.Headers.Authorization;
    }

    /// <summary>The call's own context.</summary>
    public HttpContext Context { get; }

    /// <summary>Has the call served.</summary>
    public async Task ServeAsync(Google.Protobuf.IMessage request)
    {
        Context.Request.Body = MessageSink.Frame(request);
        await Context.GetEndpoint()!.RequestDelegate!(Context).ConfigureAwait(false);
        await _body.CompleteAsync().ConfigureAwait(false);
    }

    /// <summary>How it ended; null when all is well.</summary>
    public JsonError? Error()
    {
        // Without a message there are no trailers.
        IHeaderDictionary headers = Context.Response.Headers;
        IHeaderDictionary end = headers.ContainsKey("grpc-status") ? headers : _end.Trailers;
        if (!int.TryParse(end.GrpcStatus.ToString(), NumberStyles.None, CultureInfo.InvariantCulture, out int status))
            return new JsonError(StatusCode.Internal, "The call has no answer.", "");
        if (status == 0)
            return null;
        string message = Uri.UnescapeDataString(end.GrpcMessage.ToString());
        return new JsonError((StatusCode)status, message, end[ControlErrors.CodeTrailer].ToString());
    }

    /// <summary>The call has ended when the request has.</summary>
    private sealed class ResponseFeature(HttpResponse response) : HttpResponseFeature
    {
        public override void OnCompleted(Func<object, Task> callback, object state) =>
            response.OnCompleted(callback, state);
    }

    private sealed class TrailersFeature : IHttpResponseTrailersFeature
    {
        public IHeaderDictionary Trailers { get; set; } = new HeaderDictionary();
    }

    private sealed class MethodFeature : IEndpointFeature
    {
        public Endpoint? Endpoint { get; set; }
    }
}
