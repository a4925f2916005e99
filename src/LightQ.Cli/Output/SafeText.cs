using System.Globalization;
using System.Text;
using System.Text.Unicode;

namespace LightQ.Cli.Output;

/// <summary>Bytes and text of messages, so that they do not disturb a terminal.</summary>
internal static class SafeText
{
    private const int BytesOfLine = 16;

    /// <summary>Text with control characters escaped; lines and tabs stay if they may.</summary>
    public static string Of(string text, bool mayHaveLines = false)
    {
        var safe = new StringBuilder(text.Length);
        foreach (char c in text)
        {
            if (char.IsControl(c) && c != '\t' && !(mayHaveLines && c == '\n'))
                safe.Append(CultureInfo.InvariantCulture, $"\\u{(int)c:x4}");
            else
                safe.Append(c);
        }
        return safe.ToString();
    }

    /// <summary>Bytes as text if they are UTF-8, and else in hexadecimal.</summary>
    public static string Of(ReadOnlySpan<byte> bytes, bool mayHaveLines = false) =>
        Utf8.IsValid(bytes) ? Of(Encoding.UTF8.GetString(bytes), mayHaveLines) : $"0x{Convert.ToHexStringLower(bytes)}";

    /// <summary>Bytes in hexadecimal with their text beside, sixteen a line.</summary>
    /// <param name="bytes">The bytes.</param>
    /// <param name="offset">The place of the first in the whole.</param>
    public static IEnumerable<string> HexLines(ReadOnlyMemory<byte> bytes, long offset)
    {
        for (int at = 0; at < bytes.Length; at += BytesOfLine)
        {
            byte[] line = bytes.Slice(at, Math.Min(BytesOfLine, bytes.Length - at)).ToArray();
            string hex = string.Join(' ', line.Select(b => b.ToString("x2", CultureInfo.InvariantCulture))),
                text = string.Concat(line.Select(b => b is >= (byte)' ' and <= (byte)'~' ? (char)b : '.'));
            yield return string.Create(
                CultureInfo.InvariantCulture,
                $"{offset + at:x8}  {hex.PadRight((BytesOfLine * 3) - 1)}  {text}"
            );
        }
    }
}
