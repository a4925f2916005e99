using System.Buffers;

namespace LightQ.Client.Serializing;

/// <summary>Bytes as they are.</summary>
internal sealed class BytesSerializer : IMessageSerializer<byte[]>
{
    public string ContentType => "application/octet-stream";

    public void Serialize(byte[] value, IBufferWriter<byte> body)
    {
        ArgumentNullException.ThrowIfNull(value);
        body.Write(value);
    }

    public byte[] Deserialize(ReadOnlySpan<byte> body) => body.ToArray();
}
