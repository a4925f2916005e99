using System.Buffers;
using System.Text;

namespace LightQ.Client.Serializing;

/// <summary>Text as UTF-8.</summary>
internal sealed class TextSerializer : IMessageSerializer<string>
{
    private static readonly UTF8Encoding Strict = new(false, throwOnInvalidBytes: true);

    public string ContentType => "text/plain; charset=utf-8";

    public void Serialize(string value, IBufferWriter<byte> body)
    {
        ArgumentNullException.ThrowIfNull(value);
        Strict.GetBytes(value, body);
    }

    public string Deserialize(ReadOnlySpan<byte> body) => Strict.GetString(body);
}
