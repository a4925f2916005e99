using System.Globalization;
using System.Net;

namespace LightQ.Server.Configuration;

/// <summary>
/// Values as text. A rejected text throws a <see cref="FormatException"/> whose message says what is allowed.
/// </summary>
internal static class SettingText
{
    private const string NoEndpoint = "(none)",
        GrpcProtocol = "grpc",
        HttpProtocol = "http/protobuf";

    private static readonly (string Unit, double Milliseconds)[] Units =
    [
        ("ms", 1),
        ("s", 1000),
        ("m", 60_000),
        ("h", 3_600_000),
        ("d", 86_400_000),
    ];

    public static int ReadNumber(string text) =>
        int.TryParse(text, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out int value)
            ? value
            : throw new FormatException("a whole number");

    public static long ReadBytes(string text) =>
        long.TryParse(text, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out long value)
            ? value
            : throw new FormatException("a whole number of bytes");

    public static bool ReadSwitch(string text) =>
        bool.TryParse(text, out bool value) ? value : throw new FormatException("true or false");

    public static T ReadChoice<T>(string text)
        where T : struct, Enum =>
        // A number is none of the names, though the parser takes it.
        Array.Find(Enum.GetNames<T>(), n => n.Equals(text, StringComparison.OrdinalIgnoreCase))
            is { } name
            ? Enum.Parse<T>(name)
            : throw new FormatException(string.Join(", ", Enum.GetNames<T>().Select(n => n.ToLowerInvariant())));

    public static IPAddress ReadAddress(string text)
    {
        if (text.Equals("localhost", StringComparison.OrdinalIgnoreCase))
            return IPAddress.Loopback;
        // Without this, "1" would be the address 0.0.0.1.
        return text.AsSpan().ContainsAny(".:") && IPAddress.TryParse(text, out IPAddress? address)
            ? address
            : throw new FormatException("localhost, an IPv4 or an IPv6 address");
    }

    /// <summary>
    /// Reads <c>10s</c>, <c>1.5h</c> and <c>00:00:10</c>. A bare number is rejected: it might have any unit.
    /// </summary>
    public static TimeSpan ReadTime(string text)
    {
        if (text.Contains(':') && TimeSpan.TryParse(text, CultureInfo.InvariantCulture, out TimeSpan value))
            return value;
        foreach ((string unit, double milliseconds) in Units)
        {
            if (
                text.EndsWith(unit, StringComparison.Ordinal)
                && double.TryParse(
                    text.AsSpan(0, text.Length - unit.Length),
                    NumberStyles.AllowDecimalPoint,
                    CultureInfo.InvariantCulture,
                    out double count
                )
                && double.IsFinite(count)
                && count * milliseconds < TimeSpan.MaxValue.TotalMilliseconds / 2
            )
            {
                return TimeSpan.FromMilliseconds(count * milliseconds);
            }
        }
        throw new FormatException("a time with its unit, such as 500ms, 10s, 5m, 24h, 7d or 00:00:10");
    }

    public static Uri? ReadEndpoint(string text) =>
        text is "" or NoEndpoint ? null
        : Uri.TryCreate(text, UriKind.Absolute, out Uri? uri) ? uri
        : throw new FormatException(OtlpOptions.EndpointForm);

    public static OtlpProtocol ReadProtocol(string text) =>
        text.ToLowerInvariant() switch
        {
            GrpcProtocol => OtlpProtocol.Grpc,
            HttpProtocol => OtlpProtocol.HttpProtobuf,
            _ => throw new FormatException($"{GrpcProtocol} or {HttpProtocol}"),
        };

    public static string Write(Uri? endpoint) => endpoint?.OriginalString ?? NoEndpoint;

    public static string Write(OtlpProtocol protocol) => protocol == OtlpProtocol.Grpc ? GrpcProtocol : HttpProtocol;

    public static string Write(long value) => value.ToString(CultureInfo.InvariantCulture);

    public static string WriteChoice<T>(T value)
        where T : struct, Enum => value.ToString().ToLowerInvariant();

    public static string Write(bool value) => value ? "true" : "false";

    public static string Write(TimeSpan value) => value.ToString("c", CultureInfo.InvariantCulture);
}
