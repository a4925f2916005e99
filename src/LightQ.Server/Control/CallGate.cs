using System.Globalization;
using System.Net;
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
/// not be read. Calls for health count apart, so that others leave them room: a monitor must not take the broker for a
/// dead one. A call with two tokens is rejected: a proxy in between may use the other one.
/// </remarks>
/// <param name="limits">The limits.</param>
/// <param name="messageBytes">The largest message in force, in bytes.</param>
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
    /// <summary>The service that monitors ask over gRPC.</summary>
    public const string HealthService = "/grpc.health.v1.Health";

    private const string Status = "grpc-status",
        Message = "grpc-message",
        ContentType = "application/grpc";

    private readonly Shares _calls = limits.NewShares(),
        _healthCalls = limits.NewShares();

    /// <summary>What holds for the requests of calls.</summary>
    public RequestLimits Requests { get; } = new(limits, messageBytes, security.Access);

    public async Task InvokeAsync(HttpContext http, RequestDelegate next)
    {
        if (http.GetEndpoint()?.Metadata.GetMetadata<GrpcMethodMetadata>()?.Method is not { } method)
        {
            await next(http).ConfigureAwait(false);
            return;
        }
        bool isHealth = method.FullName.StartsWith(HealthService, StringComparison.Ordinal);
        try
        {
            if (ConnectionGate.RefusalOf(http) is { } refusal && !isHealth)
                throw Exhausted(refusal);
            await CountAsync(http, method, next, isHealth).ConfigureAwait(false);
        }
        catch (BrokerException e)
        {
            Refuse(http.Response, ControlErrors.Make(e.Code, e.Message));
        }
    }

    /// <summary>Serves a call within the shares of its address and its caller of all calls.</summary>
    private async Task CountAsync(HttpContext http, IMethod method, RequestDelegate next, bool isHealth)
    {
        int most = limits.Http.MaxCalls;
        Shares calls = isHealth ? _healthCalls : _calls;
        IPAddress address = PeerNetwork.Of(http.Connection.RemoteIpAddress);
        Admission admission = calls.TryTake(address, most);
        if (admission != Admission.Admitted)
        {
            throw TooManyCalls(
                most,
                admission == Admission.TooMany
                    ? "As many calls are under way"
                    : $"{address} has its share of the calls that may be under way"
            );
        }
        var counted = new CountedCall(calls, address);
        AnswerBody.OnEnd(http, counted.End);
        await AdmitAsync(http, method.FullName).ConfigureAwait(false);
        if (CallPrincipal.Find(http)?.Source is { } source)
        {
            if (!calls.TryJoin(source, most))
                throw TooManyCalls(most, $"{source} has its share of the calls that may be under way");
            counted.User = source;
        }
        await ServeAsync(http, method, next, method.Type != MethodType.Unary && !isHealth).ConfigureAwait(false);
    }

    private BrokerException TooManyCalls(int most, string found) =>
        Exhausted(limits.HttpRefusals.Refuse(nameof(HttpOptions.MaxCalls), most, found));

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
            else if (rule.Access == RpcAccess.Node)
                ForwardedCall.Demand(http, method);
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
    private async Task ServeAsync(HttpContext http, IMethod method, RequestDelegate next, bool endsWithPorts)
    {
        // Kestrel's limit is for uploads to the web port; a message has one of its own.
        if (http.Features.Get<IHttpMaxRequestBodySizeFeature>() is { IsReadOnly: false } size)
            size.MaxRequestBodySize = null;
        bool isStream = method.Type is MethodType.DuplexStreaming or MethodType.ClientStreaming;
        using var body = new RequestBody(http, method.FullName, isStream, Requests);
        http.Features.Set<IRequestBodyPipeFeature>(body);
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

    /// <summary>A call that counts until its answer is sent: one that nobody reads is under way.</summary>
    private sealed class CountedCall(Shares calls, IPAddress address)
    {
        public string? User { get; set; }

        public void End() => calls.Give(address, User);
    }
}
