using LightQ.Broker;
using LightQ.Server.Limits;
using LightQ.Server.Security;
using Microsoft.AspNetCore.Http;

namespace LightQ.Server.Control;

/// <summary>What holds for the requests of calls before anything is made of them, whatever they come as.</summary>
/// <param name="limits">The limits.</param>
/// <param name="messageBytes">The largest message in force.</param>
/// <param name="access">Decides what callers may do.</param>
internal sealed class RequestLimits(ServerLimits limits, int messageBytes, AccessControl access)
{
    /// <summary>The largest request of a caller that is not known, in bytes: a login fits in a hundred.</summary>
    public const int BytesBeforeLogin = 8 * 1024;

    /// <summary>The clock.</summary>
    public TimeProvider Time => limits.Options.ConnectionTime;

    /// <summary>The most fields and entries of lists that a request may have.</summary>
    public int MostElements => limits.Http.MaxRequestElements;

    /// <summary>Counts the body of a call.</summary>
    public BodyAccount NewAccount(HttpContext http) =>
        new(limits, http.Connection.RemoteIpAddress) { User = CallPrincipal.Find(http)?.Source };

    /// <summary>The longest message of a call.</summary>
    public int MostBytesOf(HttpContext http) => IsKnown(http) ? messageBytes : Math.Min(messageBytes, BytesBeforeLogin);

    /// <summary>How long a request may take from its beginning to its end.</summary>
    public TimeSpan PatienceWith(HttpContext http) =>
        IsKnown(http) ? limits.Http.BodyTimeout : limits.Http.HeaderTimeout;

    /// <summary>Demands that a message is no longer than it may be.</summary>
    /// <exception cref="BrokerException">It is.</exception>
    public void DemandLength(HttpContext http, uint bytes)
    {
        if (bytes > MostBytesOf(http))
            throw TooLong(http);
    }

    /// <summary>The request is longer than it may be.</summary>
    public BrokerException TooLong(HttpContext http) =>
        MostBytesOf(http) < messageBytes
            ? new BrokerException(
                ErrorCode.ResourceExhausted,
                $"The request has too many bytes; one without a login has at most {BytesBeforeLogin}."
            )
            : limits.HttpRefusals.Exhausted(
                nameof(HttpOptions.MaxMessageBytes),
                messageBytes,
                "The request has too many bytes"
            );

    /// <summary>Demands what the method's rule demands on a topic.</summary>
    /// <exception cref="BrokerException">It is missing.</exception>
    public async ValueTask DemandAsync(HttpContext http, string method, string topic)
    {
        if (RpcRules.Find(method) is not { HasTopic: true } rule)
            return;
        Principal principal = CallPrincipal.Find(http)!;
        if (!access.MayBeOld)
        {
            rule.Demand(access, principal, topic);
            return;
        }
        await access
            .DecideAsync(
                () =>
                {
                    rule.Demand(access, principal, topic);
                    return ValueTask.FromResult(true);
                },
                http.RequestAborted
            )
            .ConfigureAwait(false);
    }

    /// <summary>The request would become too many objects.</summary>
    public BrokerException TooManyElements() =>
        limits.HttpRefusals.Exhausted(
            nameof(HttpOptions.MaxRequestElements),
            MostElements,
            "The request has more fields and entries of lists"
        );

    /// <summary>The request did not come in time.</summary>
    public BrokerException Late(HttpContext http) =>
        new(
            ErrorCode.TimedOut,
            IsKnown(http)
                ? limits.HttpRefusals.Refuse(
                    nameof(HttpOptions.BodyTimeout),
                    limits.Http.BodyTimeout,
                    "The request has not come as a whole in time"
                )
                : limits.HttpRefusals.Refuse(
                    nameof(HttpOptions.HeaderTimeout),
                    limits.Http.HeaderTimeout,
                    "A request without a login has not come as a whole in time"
                )
        );

    private static bool IsKnown(HttpContext http) => CallPrincipal.Find(http) is not null;
}
