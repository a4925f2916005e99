using Google.Protobuf;
using LightQ.Protocol.Control;

namespace LightQ.Dashboard.Texts;

/// <summary>Headers in a text field, a line for each: name, colon, value.</summary>
internal static class HeaderLines
{
    /// <summary>Reads them.</summary>
    /// <exception cref="FormatException">A line is no header.</exception>
    public static IEnumerable<MessageHeader> Read(string text)
    {
        foreach (
            string line in text.Split('\n', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries)
        )
        {
            int colon = line.IndexOf(':', StringComparison.Ordinal);
            if (colon <= 0)
                throw new FormatException($"Headers has the line '{line}'; allowed: a name, a colon and a value.");
            yield return new MessageHeader
            {
                Name = line[..colon].TrimEnd(),
                Value = ByteString.CopyFromUtf8(line[(colon + 1)..].TrimStart()),
            };
        }
    }

    /// <summary>Writes those that are text in one line.</summary>
    public static string Write(IEnumerable<MessageHeader> headers) =>
        string.Join('\n', headers.Where(IsLine).Select(h => $"{h.Name}: {h.Value.ToStringUtf8()}"));

    /// <summary>Whether all of them can be written.</summary>
    public static bool CanWrite(IEnumerable<MessageHeader> headers) => headers.All(IsLine);

    private static bool IsLine(MessageHeader header) =>
        header.Name.Length != 0
        && !header.Name.Contains(':', StringComparison.Ordinal)
        && BodyText.TryText(header.Value, out string? text)
        && !text.Any(char.IsControl);
}
