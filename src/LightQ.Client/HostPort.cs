using System.Globalization;

namespace LightQ.Client;

/// <summary>Reads and writes <c>host:port</c>, with IPv6 addresses in brackets.</summary>
internal static class HostPort
{
    public static string Format(string host, int port) =>
        string.Create(CultureInfo.InvariantCulture, $"{(host.Contains(':') ? $"[{host}]" : host)}:{port}");

    /// <summary>Reads an address as a broker names it in a redirect; false for anything else.</summary>
    public static bool TryParse(string text, out string host, out int port)
    {
        (host, port) = ("", 0);
        int colon = text.LastIndexOf(':');
        if (colon <= 0 || !ushort.TryParse(text.AsSpan(colon + 1), NumberStyles.None, null, out ushort number))
            return false;
        ReadOnlySpan<char> name = text.AsSpan(0, colon);
        bool isBracketed = name is ['[', _, .., ']'];
        if (isBracketed)
            name = name[1..^1];
        else if (name.Contains(':'))
            return false;
        (host, port) = (name.ToString(), number);
        return number > 0 && Uri.CheckHostName(host) != UriHostNameType.Unknown;
    }
}
