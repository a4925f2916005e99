using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using Google.Protobuf;

namespace LightQ.Dashboard.Texts;

/// <summary>Bytes of a message for people: as text, as indented JSON, or in hex.</summary>
internal static class BodyText
{
    private const int HexBytes = 4_096,
        BytesOfLine = 16;

    private static readonly UTF8Encoding Strict = new(false, throwOnInvalidBytes: true);
    private static readonly JsonWriterOptions Indented = new()
    {
        Indented = true,
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
    };

    /// <summary>The text of bytes that are UTF-8; false for others.</summary>
    public static bool TryText(ByteString bytes, [NotNullWhen(true)] out string? text)
    {
        try
        {
            text = Strict.GetString(bytes.Span);
            return true;
        }
        catch (ArgumentException)
        {
            text = null;
            return false;
        }
    }

    /// <summary>The bytes in one line: their text, or the first of them in hex.</summary>
    public static string Line(ByteString bytes, int most = 160)
    {
        if (TryText(bytes.Length > 4 * most ? Start(bytes, 4 * most) : bytes, out string? text))
            return Shown.Line(text, most);
        return "0x" + Convert.ToHexString(bytes.Span[..Math.Min(bytes.Length, most / 2)]);
    }

    /// <summary>JSON with a line for each member; false for what is none.</summary>
    public static bool TryJson(string text, [NotNullWhen(true)] out string? json)
    {
        json = null;
        if (text.Length == 0 || text.TrimStart() is not (['{', ..] or ['[', ..]))
            return false;
        try
        {
            using var document = JsonDocument.Parse(text);
            using var stream = new MemoryStream();
            using (var writer = new Utf8JsonWriter(stream, Indented))
                document.WriteTo(writer);
            json = Encoding.UTF8.GetString(stream.ToArray());
            return true;
        }
        catch (JsonException)
        {
            return false;
        }
    }

    /// <summary>Lines of offset, hex and printable ASCII.</summary>
    public static string Hex(ByteString bytes)
    {
        var text = new StringBuilder();
        ReadOnlySpan<byte> span = bytes.Span[..Math.Min(bytes.Length, HexBytes)];
        for (int at = 0; at < span.Length; at += BytesOfLine)
        {
            ReadOnlySpan<byte> line = span[at..Math.Min(at + BytesOfLine, span.Length)];
            text.Append(CultureInfo.InvariantCulture, $"{at:x6}  ");
            for (int i = 0; i < BytesOfLine; i++)
                text.Append(i < line.Length ? line[i].ToString("x2", CultureInfo.InvariantCulture) : "  ").Append(' ');
            text.Append(' ');
            foreach (byte b in line)
                text.Append(b is >= 0x20 and < 0x7F ? (char)b : '.');
            text.Append('\n');
        }

        if (bytes.Length > HexBytes)
            text.Append(CultureInfo.InvariantCulture, $"… {bytes.Length - HexBytes:N0} more bytes\n");
        return text.ToString();
    }

    /// <summary>The first bytes, cut where a character ends.</summary>
    private static ByteString Start(ByteString bytes, int length)
    {
        while (length > 0 && (bytes[length] & 0xC0) == 0x80)
            length--;
        return ByteString.CopyFrom(bytes.Span[..length]);
    }
}
