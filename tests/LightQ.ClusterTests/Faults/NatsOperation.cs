using System.Globalization;
using System.Text;

namespace LightQ.ClusterTests.Faults;

/// <summary>One operation of the NATS protocol, with what follows its line.</summary>
/// <param name="Words">The line: the operation and its arguments.</param>
/// <param name="Headers">The headers of what was published or delivered; empty for none.</param>
/// <param name="Payload">What was published or delivered, without its headers; empty for other operations.</param>
internal readonly record struct NatsOperation(string[] Words, string Headers, byte[] Payload)
{
    /// <summary>Takes the operation that stands first in some bytes.</summary>
    /// <param name="bytes">What came and was not taken yet.</param>
    /// <param name="operation">The operation.</param>
    /// <returns>How many bytes it has; 0 when it is not all there.</returns>
    public static int Take(ReadOnlySpan<byte> bytes, out NatsOperation operation)
    {
        operation = default;
        int line = bytes.IndexOf("\r\n"u8);
        if (line < 0)
            return 0;
        string[] words = Encoding.UTF8.GetString(bytes[..line]).Split(' ', StringSplitOptions.RemoveEmptyEntries);
        bool hasHeaders = words is ["HPUB" or "HMSG", ..];
        if (!hasHeaders && words is not ["PUB" or "MSG", ..])
        {
            operation = new(words, "", []);
            return line + 2;
        }
        int length = Number(words[^1]);
        if (bytes.Length < line + 2 + length + 2)
            return 0;
        int headers = hasHeaders ? Number(words[^2]) : 0;
        ReadOnlySpan<byte> content = bytes.Slice(line + 2, length);
        operation = new(words, Encoding.UTF8.GetString(content[..headers]), content[headers..].ToArray());
        return line + 2 + length + 2;
    }

    private static int Number(string word) => int.Parse(word, CultureInfo.InvariantCulture);
}
