using System.Globalization;
using Grpc.AspNetCore.Server;
using Grpc.Core;
using LightQ.Broker;
using LightQ.Server.Limits;
using LightQ.Server.Ports;
using LightQ.Server.Security;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;

namespace LightQ.Server.Control;

/// <summary>
/// What a call passes before anything of its request is read: limits, the client's certificate, and the identity of the
/// caller.
/// </summary>
/// <remarks>
/// An interceptor of gRPC would run when the only request of a call is read already, but a stranger's request should
/// not be read. Health is exempt from the limit on calls: a monitor must not take the broker for a dead one. A call
/// with two tokens is rejected: a proxy in between may use the other one.
/// </remarks>
/// <param name="limits">The limits.</param>
/// <param name="messageBytes">The largest message in force.</param>
/// <param name="security">Identifies the caller, and decides.</param>
/// <param name="stopping">The ports are about to close.</param>
/// <param name="nodes">Knows the other nodes of the cluster; null where there is none.</param>
internal sealed class CallGate(
    ServerLimits limits,
    int messageBytes,
    ServerSecurity security,
    CancellationToken stopping,
    INodes? nodes = null
)
{
    private const string Health = "/grpc.health.v1.Health/";
    private const string Status = "grpc-status",
        Message = "grpc-message",
        ContentType = "application/grpc";

    private int _calls;

    /// <summary>The largest message in force, in bytes.</summary>
    public int MessageBytes => messageBytes;

    public async Task InvokeAsync(HttpContext http, RequestDelegate next)
    {
        if (http.GetEndpoint()?.Metadata.GetMetadata<GrpcMethodMetadata>()?.Method is not { } method)
        {
            await next(http).ConfigureAwait(false);
            return;
        }
        bool isHealth = method.FullName.StartsWith(Health, StringComparison.Ordinal);
        try
        {
            int most = limits.Http.MaxCalls;
            if (!isHealth && Interlocked.Increment(ref _calls) > most)
            {
                throw Exhausted(
                    limits.HttpRefusals.Refuse(nameof(HttpOptions.MaxCalls), most, "As many calls are under way")
                );
            }

            await AdmitAsync(http, method.FullName).ConfigureAwait(false);
            await ServeAsync(http, next, endsWithPorts: !isHealth && method.Type != MethodType.Unary)
                .ConfigureAwait(false);
        }
        catch (BrokerException e)
        {
            Refuse(http.Response, ControlErrors.Make(e.Code, e.Message));
        }
        finally
        {
            if (!isHealth)
                Interlocked.Decrement(ref _calls);
        }
    }

    /// <summary>Rejects callers that the method's rule rejects, whatever the request says.</summary>
    private async ValueTask AdmitAsync(HttpContext http, string method)
    {
        if (TlsGate.ProblemOf(http) is { } problem)
            throw new BrokerException(ErrorCode.TlsFailed, $"TLS: {problem}.");
        int tokens = http.Request.Headers.Authorization.Count;
        if (tokens > 1)
        {
            throw Unauthenticated(
                $"The metadata \"{BearerToken.MetadataName}\" is there {tokens} times; allowed: once."
            );
        }

        RpcRule rule = RpcRules.Of(method);
        if (rule.Access == RpcAccess.Open)
            return;
        Principal principal = security.Access.MayBeOld
            ? await security.Access.DecideAsync(AdmittedAsync, http.RequestAborted).ConfigureAwait(false)
            : await AdmittedAsync().ConfigureAwait(false);
        CallPrincipal.Set(http, principal);

        async ValueTask<Principal> AdmittedAsync()
        {
            Principal found =
                CallPrincipal.Find(http)
                ?? nodes?.Identify(http, method)
                ?? await IdentifyAsync(http, isShown: tokens != 0).ConfigureAwait(false);
            if (rule.Access == RpcAccess.Admin)
                security.Access.DemandAdmin(found);
            return found;
        }
    }

    private async ValueTask<Principal> IdentifyAsync(HttpContext http, bool isShown)
    {
        PeerChannel peer = CallPrincipal.ChannelOf(http);
        if (isShown)
        {
            return BearerToken.Read(http.Request.Headers.Authorization) is { } token
                ? await security
                    .Authenticator.OfTokenAsync(token, Origin.Control(peer), http.RequestAborted)
                    .ConfigureAwait(false)
                : throw Unauthenticated("The metadata \"authorization\" holds no token: it is \"Bearer TOKEN\".");
        }
        return await security.Authenticator.OfNothingAsync(peer, http.RequestAborted).ConfigureAwait(false)
            ?? throw security.Authenticator.LoginDemandOf(
                peer,
                "a login (plain gRPC: Auth.Login, and its token as metadata \"authorization: Bearer TOKEN\")."
            );
    }

    private static BrokerException Exhausted(string reason) => new(ErrorCode.ResourceExhausted, reason);

    private static BrokerException Unauthenticated(string reason) => new(ErrorCode.Unauthenticated, reason);

    /// <summary>
    /// Serves the call. One with a stream ends when the ports are about to close, also where its handler waits for the
    /// client; health ends its own, behind a last NOT_SERVING.
    /// </summary>
    private async Task ServeAsync(HttpContext http, RequestDelegate next, bool endsWithPorts)
    {
        // Kestrel's limit is for uploads to the web port; a message has one of its own.
        if (http.Features.Get<IHttpMaxRequestBodySizeFeature>() is { IsReadOnly: false } size)
            size.MaxRequestBodySize = null;
        if (!endsWithPorts)
        {
            await next(http).ConfigureAwait(false);
        }
        else
        {
            using var ended = CancellationTokenSource.CreateLinkedTokenSource(http.RequestAborted, stopping);
            http.RequestAborted = ended.Token;
            using CancellationTokenRegistration stop = stopping.UnsafeRegister(
                static http => StopReading((HttpContext)http!),
                http
            );
            await next(http).ConfigureAwait(false);
        }
        NameLimit(http.Response);
    }

    private static void StopReading(HttpContext http)
    {
        try
        {
            http.Request.BodyReader.CancelPendingRead();
        }
        catch (IOException)
        {
            // The client has reset its stream, which ends the reading anyway.
        }
    }

    /// <summary>What gRPC itself rejects is a message that is too long; it does not say which limit that is.</summary>
    private void NameLimit(HttpResponse response)
    {
        IHeaderDictionary? end = response.Headers.ContainsKey(Status)
            ? response.Headers
            : response.HttpContext.Features.Get<IHttpResponseTrailersFeature>()?.Trailers;
        if (end is null || end.IsReadOnly || end.ContainsKey(ControlErrors.CodeTrailer))
            return;
        if (end[Status] != Text(StatusCode.ResourceExhausted))
            return;
        string found = Uri.UnescapeDataString(end[Message].ToString()).TrimEnd('.');
        string reason = limits.HttpRefusals.Refuse(nameof(HttpOptions.MaxMessageBytes), messageBytes, found);
        Write(end, ControlErrors.Make(ErrorCode.ResourceExhausted, reason));
    }

    private static void Refuse(HttpResponse response, RpcException error)
    {
        response.ContentType = ContentType;
        Write(response.Headers, error);
    }

    private static void Write(IHeaderDictionary headers, RpcException error)
    {
        headers[Status] = Text(error.StatusCode);
        headers[Message] = Uri.EscapeDataString(error.Status.Detail);
        foreach (Metadata.Entry entry in error.Trailers)
            headers[entry.Key] = entry.IsBinary ? Convert.ToBase64String(entry.ValueBytes) : entry.Value;
    }

    private static string Text(StatusCode status) => ((int)status).ToString(CultureInfo.InvariantCulture);
}
