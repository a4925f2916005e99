using System.Net;
using System.Net.Sockets;

namespace LightQ.Client.Encryption;

/// <summary>
/// Keeps passwords and tokens from networks: without TLS they are sent to addresses of loopback alone, unless the
/// options say otherwise.
/// </summary>
/// <remarks>
/// What is looked at is what is connected to: a name is resolved once, here, before anything is connected or sent.
/// </remarks>
internal static class SecretGuard
{
    /// <summary>Whether nothing encrypts what this client sends, and the options do not allow that.</summary>
    public static bool IsOn(LightQClientOptions options) => !options.Tls && !options.Insecure;

    /// <summary>Whether the client logs in with something that the guard has to look after.</summary>
    public static bool IsNeeded(LightQClientOptions options) =>
        IsOn(options)
        && (
            options.HasToken
            || options.HasSecretSource
            || (options.User is not null && !string.IsNullOrEmpty(options.Password))
        );

    /// <summary>The addresses of the host.</summary>
    /// <exception cref="LightQException">
    /// <see cref="ErrorCode.TlsRequired"/>: one of them is not of loopback.
    /// </exception>
    /// <exception cref="SocketException">The name is not known.</exception>
    public static IPAddress[] Resolve(LightQClientOptions options) => Check(options, HostAddresses.Of(options.Host));

    /// <inheritdoc cref="Resolve"/>
    public static async Task<IPAddress[]> ResolveAsync(
        LightQClientOptions options,
        CancellationToken cancellationToken
    ) => Check(options, await HostAddresses.OfAsync(options.Host, cancellationToken).ConfigureAwait(false));

    private static IPAddress[] Check(LightQClientOptions options, IPAddress[] addresses)
    {
        if (Array.Find(addresses, a => !IPAddress.IsLoopback(a.IsIPv4MappedToIPv6 ? a.MapToIPv4() : a)) is not { } open)
            return addresses;
        string where = open.ToString() == options.Host ? "is not an address of loopback" : $"is {open}";
        throw new LightQException(
            ErrorCode.TlsRequired,
            $"Without TLS, passwords and tokens are sent to this machine alone, and {options.Host} {where}: connect "
                + $"with tls=true, or with insecure=true if the network may read them."
        );
    }
}
