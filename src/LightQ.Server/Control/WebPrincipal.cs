using System.Net.Http.Headers;
using System.Text;
using LightQ.Broker;
using LightQ.Server.Security;
using Microsoft.AspNetCore.Http;

namespace LightQ.Server.Control;

/// <summary>Who asks for a page: by <c>Authorization: Basic</c> or <c>Bearer</c>, as monitors send it.</summary>
internal static class WebPrincipal
{
    /// <summary>Identifies the caller; null for a caller without credentials where a login is required.</summary>
    /// <exception cref="BrokerException">The credentials are wrong.</exception>
    public static async ValueTask<Principal?> IdentifyAsync(HttpContext http, Authenticator authenticator)
    {
        PeerChannel peer = CallPrincipal.ChannelOf(http);
        if (http.Request.Headers.Authorization.ToString() is not { Length: > 0 } text)
            return await authenticator.OfNothingAsync(peer, http.RequestAborted).ConfigureAwait(false);
        if (
            !AuthenticationHeaderValue.TryParse(text, out AuthenticationHeaderValue? header)
            || header.Parameter is not { } parameter
        )
        {
            throw Refuse();
        }

        if (header.Scheme.Equals("Bearer", StringComparison.OrdinalIgnoreCase))
        {
            return await authenticator
                .OfTokenAsync(parameter, Origin.Web(peer.Remote), http.RequestAborted)
                .ConfigureAwait(false);
        }

        if (
            !header.Scheme.Equals("Basic", StringComparison.OrdinalIgnoreCase)
            || Decode(parameter) is not { } pair
            || pair.IndexOf(':', StringComparison.Ordinal) is var colon && colon < 0
        )
        {
            throw Refuse();
        }

        return await authenticator
            .LogInAsync(pair[..colon], pair[(colon + 1)..], Origin.Web(peer.Remote), http.RequestAborted)
            .ConfigureAwait(false);
    }

    private static string? Decode(string parameter)
    {
        byte[] bytes = new byte[parameter.Length];
        return Convert.TryFromBase64String(parameter, bytes, out int length)
            ? Encoding.UTF8.GetString(bytes, 0, length)
            : null;
    }

    private static BrokerException Refuse() =>
        new(
            ErrorCode.Unauthenticated,
            "The header Authorization is neither Basic USER:PASSWORD in base64 nor Bearer TOKEN."
        );
}
