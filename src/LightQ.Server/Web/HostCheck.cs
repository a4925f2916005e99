using System.Net;
using LightQ.Protocol;
using LightQ.Server.Limits;
using LightQ.Server.Security;
using Microsoft.AspNetCore.Http;

namespace LightQ.Server.Web;

/// <summary>
/// Rejects requests to the web port under a name that is not the broker's, where their senders need not log in.
/// </summary>
/// <remarks>
/// Such requests come from browsers: a page of any site may have the name of its own host lead to this machine (DNS
/// rebinding), and would then read here what is open to everyone on it. An address leads nowhere else, and what demands
/// a login gives such a page nothing.
/// </remarks>
internal sealed class HostCheck(ServerLimits limits, Authenticator authenticator)
{
    private const string Any = "*",
        Localhost = "localhost";

    public Task InvokeAsync(HttpContext http, RequestDelegate next)
    {
        if (
            IsAllowed(http.Request.Host.Host, limits.Http.AllowedHosts)
            || !authenticator.AllowsAnonymous(CallPrincipal.ChannelOf(http).IsLocal)
        )
        {
            return next(http);
        }

        http.Response.StatusCode = StatusCodes.Status421MisdirectedRequest;
        http.Response.ContentType = "text/plain; charset=utf-8";
        return http.Response.WriteAsync(
            $"The host '{TopicName.Printable(http.Request.Host.Host)}' is no name of this broker, which needs no "
                + $"login: allowed are localhost, addresses, and what the setting Http:AllowedHosts names.\n"
        );
    }

    /// <summary>
    /// Whether a request may name a host: an address, localhost, one of the allowed, or none at all, as no browser
    /// does.
    /// </summary>
    /// <param name="host">The host, without its port.</param>
    /// <param name="allowed">
    /// Names with commas; <c>*.example.com</c> stands for all that end so, <c>*</c> for all.
    /// </param>
    public static bool IsAllowed(string host, string allowed)
    {
        if (
            host.Length == 0
            || IPAddress.TryParse(host, out _)
            || Matches(host, Localhost)
            || Matches(host, "*." + Localhost)
        )
        {
            return true;
        }

        return allowed
            .Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries)
            .Any(name => Matches(host, name));
    }

    private static bool Matches(string host, string name)
    {
        host = host.TrimEnd('.');
        return name == Any
            || (
                name.StartsWith("*.", StringComparison.Ordinal)
                    ? host.EndsWith(name[1..], StringComparison.OrdinalIgnoreCase)
                    : host.Equals(name, StringComparison.OrdinalIgnoreCase)
            );
    }
}
