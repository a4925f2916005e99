using System.Text;
using LightQ.Broker;
using LightQ.Protocol.Control;
using LightQ.Protocol.Records;

namespace LightQ.Server.Messages;

/// <summary>Checks messages to publish and writes them as records. Not thread-safe.</summary>
/// <param name="maxMessageBytes">The largest message: key, headers and body.</param>
internal sealed class RecordEncoder(int maxMessageBytes)
{
    private byte[] _headers = [];

    /// <summary>Checks a message.</summary>
    /// <param name="message">The message.</param>
    /// <param name="index">Its place in the request, for what is said of it.</param>
    /// <returns>Bytes of its record.</returns>
    /// <exception cref="BrokerException">It may not be published.</exception>
    public int Measure(PublishedMessage message, int index)
    {
        long headers = 0;
        foreach (MessageHeader header in message.Headers)
            headers += SizeOf(header, index);
        if (headers > RecordLayout.MaxHeadersLength)
            throw Refuse(index, $"has headers of {headers} bytes; allowed: {RecordLayout.MaxHeadersLength}");
        if (message.Key.Length > RecordLayout.MaxKeyLength)
            throw Refuse(index, $"has a key of {message.Key.Length} bytes; allowed: {RecordLayout.MaxKeyLength}");
        if (message.Tombstone && (!message.HasKey || !message.Body.IsEmpty))
            throw Refuse(index, "is a tombstone; allowed: one with a key and without a body");
        long size = message.Key.Length + headers + message.Body.Length;
        return size <= maxMessageBytes
            ? RecordWriter.SizeOf(message.Body.Length, message.Key.Length, (int)headers)
            : throw new BrokerException(
                ErrorCode.MessageTooLarge,
                $"messages[{index}] has {size} bytes of key, headers and body; the topic takes {maxMessageBytes}."
            );
    }

    /// <summary>Writes a message that was measured.</summary>
    public void Write(PublishedMessage message, Span<byte> record)
    {
        int headers = 0;
        foreach (MessageHeader header in message.Headers)
        {
            int most = RecordWriter.SizeOfHeader(byte.MaxValue, header.Value.Length);
            if (_headers.Length - headers < most)
                Array.Resize(ref _headers, Math.Max(headers + most, 2 * _headers.Length));
            headers += Write(header, _headers.AsSpan(headers));
        }
        RecordWriter.Write(
            record,
            message.Body.Span,
            message.Key.Span,
            message.HasKey,
            _headers.AsSpan(0, headers),
            message.Tombstone
        );
    }

    private static int Write(MessageHeader header, Span<byte> destination)
    {
        if (header.Name.Length == 0)
            return RecordWriter.WriteWellKnownHeader(destination, (byte)header.Id, header.Value.Span);
        Span<byte> name = stackalloc byte[byte.MaxValue];
        return RecordWriter.WriteHeader(
            destination,
            name[..Encoding.UTF8.GetBytes(header.Name, name)],
            header.Value.Span
        );
    }

    private static int SizeOf(MessageHeader header, int index)
    {
        int name = Encoding.UTF8.GetByteCount(header.Name);
        if (name == 0 && header.Id is not 0 and <= byte.MaxValue)
            return RecordWriter.SizeOfWellKnownHeader(header.Value.Length);
        return name is > 0 and <= byte.MaxValue
            ? RecordWriter.SizeOfHeader(name, header.Value.Length)
            : throw Refuse(
                index,
                $"has a header whose name has {name} bytes; allowed: 1 to {byte.MaxValue}, or none and an id of 1 to "
                    + $"{byte.MaxValue}"
            );
    }

    private static BrokerException Refuse(int index, string problem) =>
        new(ErrorCode.InvalidArgument, $"messages[{index}] {problem}.");
}
