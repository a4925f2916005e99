using System.Globalization;
using System.Text;
using LightQ.Protocol;

namespace LightQ.Client;

/// <summary>
/// Reads and writes
/// <c>lightq://[user[:password]@]host[:data-port][,host[:data-port]…][?control=PORT[,PORT…]&amp;tls=true&amp;ca=FILE&amp;cert=FILE&amp;key=FILE&amp;token=TOKEN&amp;insecure=true&amp;producers=N]</c>.
/// </summary>
internal static class ConnectionString
{
    private const string Scheme = "lightq";

    private const int LongestShown = 20;

    public static LightQClientOptions Parse(string text)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(text);
        (string first, string[] others) = SplitHosts(text);
        if (!Uri.TryCreate(first, UriKind.Absolute, out Uri? uri) || uri.Scheme != Scheme || uri.Host.Length == 0)
        {
            throw Invalid(
                "it must look like lightq://[user[:password]@]host[:port][,host[:port]...]"
                    + "[?control=PORT[,PORT...]&tls=true&ca=FILE&cert=FILE&key=FILE&token=TOKEN&insecure=true&producers=N]"
            );
        }

        if (uri.AbsolutePath is not ("" or "/") || uri.Fragment.Length > 0)
            throw Invalid("nothing may stand between the hosts and '?', and no '#'");
        BrokerEndpoint broker = ReadBroker(uri);
        var options = new LightQClientOptions
        {
            Host = broker.Host,
            DataPort = broker.DataPort,
            OtherBrokers = [.. others.Select(ReadOther)],
        };
        return ApplyQuery(ApplyUser(options, uri.UserInfo), uri.Query);
    }

    public static string Format(LightQClientOptions options)
    {
        var text = new StringBuilder(Scheme).Append("://");
        if (options.User is not null)
            text.Append(Uri.EscapeDataString(options.User)).Append('@');
        text.AppendJoin(',', options.Brokers);
        char separator = '?';
        Add("control", ControlPorts(options));
        Add("tls", options.Tls ? "true" : null);
        Add("insecure", options.Insecure ? "true" : null);
        Add("ca", options.CertificateAuthorityFile);
        Add("cert", options.ClientCertificateFile);
        Add("key", options.ClientKeyFile);
        Add("token-file", options.TokenFile);
        Add("password-file", options.PasswordFile);
        Add(
            "producers",
            options.MaxSharedProducers == LightQClientOptions.DefaultSharedProducers
                ? null
                : options.MaxSharedProducers.ToString(CultureInfo.InvariantCulture)
        );
        return text.ToString();

        void Add(string name, string? value)
        {
            if (value is null)
                return;
            // A path stays readable: '/' needs no escape behind '?'.
            text.Append(separator)
                .Append(name)
                .Append('=')
                .Append(Uri.EscapeDataString(value).Replace("%2F", "/", StringComparison.Ordinal).Replace("%2C", ","));
            separator = '&';
        }
    }

    /// <summary>Null when all of them are the default.</summary>
    private static string? ControlPorts(LightQClientOptions options)
    {
        int[] ports = [.. options.Brokers.Select(static b => b.ControlPort)];
        if (Array.TrueForAll(ports, port => port == ports[0]))
            ports = ports[0] == ProtocolLimits.DefaultControlPort ? [] : [ports[0]];
        return ports.Length == 0 ? null : string.Join(',', ports);
    }

    /// <summary>The text without all hosts but the first, and these: a comma in a password is part of it.</summary>
    private static (string First, string[] Others) SplitHosts(string text)
    {
        int begin = text.IndexOf("://", StringComparison.Ordinal) + 3;
        int end = begin < 3 ? -1 : text.AsSpan(begin).IndexOfAny('/', '?', '#');
        end = end < 0 ? text.Length : begin + end;
        if (begin < 3)
            return (text, []);
        int hosts = Math.Max(begin, text.LastIndexOf('@', end - 1, end - begin) + 1);
        int comma = text.IndexOf(',', hosts, end - hosts);
        // An '@' behind it is most likely that of a password which was not escaped: it is not taken apart.
        return comma < 0 || text.AsSpan(end).StartsWith("/") && text.AsSpan(end).Contains('@')
            ? (text, [])
            : (string.Concat(text.AsSpan(0, comma), text.AsSpan(end)), text[(comma + 1)..end].Split(','));
    }

    private static BrokerEndpoint ReadOther(string text, int index) =>
        Uri.TryCreate($"{Scheme}://{text}", UriKind.Absolute, out Uri? uri)
        && uri.Host.Length != 0
        && uri.AbsolutePath is "" or "/"
            ? ReadBroker(uri)
            : throw Invalid($"broker {index + 2} is not host[:port]");

    private static BrokerEndpoint ReadBroker(Uri uri)
    {
        var broker = new BrokerEndpoint { Host = ReadHost(uri) };
        return uri.Port < 0
            ? broker
            : broker with
            {
                DataPort = ParsePort(uri.Port.ToString(CultureInfo.InvariantCulture), "the port"),
            };
    }

    private static string ReadHost(Uri uri)
    {
        try
        {
            string host = uri.IdnHost;
            // Dots of other scripts become dots, and what is between them may then be read as an address: another host
            // than the one that was written.
            bool isPlain =
                uri.HostNameType == UriHostNameType.IPv6
                || (Uri.TryCreate($"{Scheme}://{host}", UriKind.Absolute, out Uri? again) && again.IdnHost == host);
            return isPlain ? host : throw Invalid("the host can be read in two ways");
        }
        catch (UriFormatException)
        {
            throw Invalid("the host has characters that no name of a machine has");
        }
    }

    private static LightQClientOptions ApplyUser(LightQClientOptions options, string userInfo)
    {
        if (userInfo.Length == 0)
            return options;
        int colon = userInfo.IndexOf(':', StringComparison.Ordinal);
        string user = Uri.UnescapeDataString(colon < 0 ? userInfo : userInfo[..colon]);
        if (user.Length == 0)
            throw Invalid("the user before '@' is empty");
        return options with
        {
            User = user,
            Password = colon < 0 ? null : Uri.UnescapeDataString(userInfo[(colon + 1)..]),
        };
    }

    private static LightQClientOptions ApplyProducers(LightQClientOptions options, string value)
    {
        try
        {
            return options with
            {
                MaxSharedProducers = int.Parse(value, NumberStyles.None, CultureInfo.InvariantCulture),
            };
        }
        catch (Exception e) when (e is FormatException or OverflowException or ArgumentOutOfRangeException)
        {
            throw Invalid("producers is a number from 1 to 1000000");
        }
    }

    private static LightQClientOptions ApplyQuery(LightQClientOptions options, string query)
    {
        foreach (string pair in query.TrimStart('?').Split('&', StringSplitOptions.RemoveEmptyEntries))
        {
            int equals = pair.IndexOf('=', StringComparison.Ordinal);
            string name = equals < 0 ? pair : pair[..equals];
            string value = equals < 0 ? "" : Uri.UnescapeDataString(pair[(equals + 1)..]);
            // Most likely the rest of a password: it is not shown.
            if (pair.Contains('@', StringComparison.Ordinal) && !IsFile(name))
            {
                throw Invalid(
                    "there is '@' behind '?'; characters such as '?', '#', '/' and '@' in a user's name or password "
                        + "are written as %3F, %23, %2F and %40"
                );
            }

            options = name switch
            {
                "control" => ApplyControlPorts(options, value.Split(',')),
                "tls" when bool.TryParse(value, out bool tls) => options with { Tls = tls },
                "tls" => throw Invalid($"tls is true or false, not '{value}'"),
                "insecure" when bool.TryParse(value, out bool insecure) => options with { Insecure = insecure },
                "insecure" => throw Invalid($"insecure is true or false, not '{value}'"),
                _ when IsFile(name) && value.Length == 0 => throw Invalid($"{name} names a file"),
                "ca" => options with { CertificateAuthorityFile = value },
                "cert" => options with { ClientCertificateFile = value },
                "key" => options with { ClientKeyFile = value },
                "token-file" => options with { TokenFile = value },
                "password-file" => options with { PasswordFile = value },
                "producers" => ApplyProducers(options, value),
                "token" when value.Length > 0 => options with { Token = value },
                "token" => throw Invalid("token is empty"),
                _ => throw Invalid(
                    $"'{name[..Math.Min(name.Length, LongestShown)]}' is not one of control, tls, insecure, ca, cert, "
                        + $"key, token, token-file, password-file, producers"
                ),
            };
        }
        return options;
    }

    private static bool IsFile(string name) => name is "ca" or "cert" or "key" or "token-file" or "password-file";

    private static LightQClientOptions ApplyControlPorts(LightQClientOptions options, string[] texts)
    {
        int[] ports = [.. texts.Select(text => ParsePort(text, "control"))];
        int count = options.OtherBrokers.Count + 1;
        if (ports.Length != 1 && ports.Length != count)
        {
            throw Invalid(
                $"control has {ports.Length} ports for {count} {(count == 1 ? "broker" : "brokers")}: give one for all "
                    + $"of them, or one for each in their order"
            );
        }

        return options with
        {
            ControlPort = ports[0],
            OtherBrokers =
            [
                .. options.OtherBrokers.Select((b, i) => b with { ControlPort = ports[ports.Length == 1 ? 0 : i + 1] }),
            ],
        };
    }

    private static int ParsePort(string text, string name) =>
        ushort.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out ushort port) && port > 0
            ? port
            : throw Invalid($"{name} is a number from 1 to 65535, not '{text}'");

    private static ArgumentException Invalid(string what) => new($"The connection string is not valid: {what}.");
}
