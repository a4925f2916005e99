using System.Globalization;
using System.Text;

namespace LightQ.Grpc;

/// <summary>The form of <c>grpc-message</c>: UTF-8 with everything but printable ASCII, and the percent sign, written as %XX.</summary>
internal static class PercentEncoding
{
    private const string HexDigits = "0123456789ABCDEF";

    public static string Encode(string text)
    {
        if (text.AsSpan().IndexOfAnyExceptInRange(' ', '~') < 0 && !text.Contains('%')) return text;
        byte[] bytes = Encoding.UTF8.GetBytes(text);
        StringBuilder encoded = new(bytes.Length + 16);
        foreach (byte b in bytes)
        {
            if (b is >= 0x20 and <= 0x7E and not (byte)'%')
                encoded.Append((char)b);
            else
                encoded.Append('%').Append(HexDigits[b >> 4]).Append(HexDigits[b & 15]);
        }

        return encoded.ToString();
    }

    /// <summary>Never fails: a percent sign without two hex digits stands for itself, and broken UTF-8 becomes U+FFFD.</summary>
    public static string Decode(string text)
    {
        if (!text.Contains('%')) return text;
        byte[] source = Encoding.UTF8.GetBytes(text);
        byte[] decoded = new byte[source.Length];
        int length = 0;
        for (int i = 0; i < source.Length; i++)
        {
            if (source[i] == '%' && i + 2 < source.Length
                && byte.TryParse(source.AsSpan(i + 1, 2), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out byte value))
            {
                decoded[length++] = value;
                i += 2;
            }
            else
            {
                decoded[length++] = source[i];
            }
        }

        return Encoding.UTF8.GetString(decoded, 0, length);
    }
}
