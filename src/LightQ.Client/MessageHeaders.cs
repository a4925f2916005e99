using System.Collections;
using System.Text;
using LightQ.Protocol.Records;

namespace LightQ.Client;

/// <summary>
/// Headers to publish with a message: names with byte or text values, kept in the form in which they are sent.
/// </summary>
/// <remarks>
/// The same headers may be used for many messages, and then cost nothing per message. Not thread-safe while they are
/// being changed. A name has 1 to 255 bytes of UTF-8, a value at most 65,535, all headers together 65,535.
/// </remarks>
/// <example>
/// <code>
/// var headers = new MessageHeaders { { "content-type", "application/json" } };
/// await producer.PublishAsync(body, headers: headers);
/// </code>
/// </example>
public sealed class MessageHeaders : IEnumerable<KeyValuePair<string, ReadOnlyMemory<byte>>>
{
    private byte[] _encoded = [];
    private int _length;

    /// <summary>Creates an empty set.</summary>
    public MessageHeaders() { }

    internal MessageHeaders(byte[] encoded, int count) => (_encoded, _length, Count) = (encoded, encoded.Length, count);

    /// <summary>The number of headers.</summary>
    public int Count { get; private set; }

    internal ReadOnlySpan<byte> Encoded => _encoded.AsSpan(0, _length);

    /// <summary>Adds a header with a text value, which is sent as UTF-8.</summary>
    /// <param name="name">Its name.</param>
    /// <param name="value">Its value.</param>
    /// <exception cref="ArgumentException">The name or the value is too long, or there is no room left.</exception>
    public void Add(string name, string value) => Add(name, Encoding.UTF8.GetBytes(value).AsSpan());

    /// <summary>Adds a header with a byte value.</summary>
    /// <param name="name">Its name.</param>
    /// <param name="value">Its value; copied.</param>
    /// <exception cref="ArgumentException">The name or the value is too long, or there is no room left.</exception>
    public void Add(string name, ReadOnlySpan<byte> value)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        byte[] nameBytes = Encoding.UTF8.GetBytes(name);
        int needed = _length + RecordWriter.SizeOfHeader(nameBytes.Length, value.Length);
        if (nameBytes.Length > byte.MaxValue)
        {
            throw new ArgumentException(
                $"A header's name has at most {byte.MaxValue} bytes, not {nameBytes.Length}.",
                nameof(name)
            );
        }

        if (needed > RecordLayout.MaxHeadersLength)
        {
            throw new ArgumentException(
                $"A message's headers have at most {RecordLayout.MaxHeadersLength} bytes, not {needed}.",
                nameof(value)
            );
        }

        if (needed > _encoded.Length)
            Array.Resize(ref _encoded, Math.Max(needed, 2 * _encoded.Length));
        _length += RecordWriter.WriteHeader(_encoded.AsSpan(_length), nameBytes, value);
        Count++;
    }

    /// <summary>The headers as they are now.</summary>
    internal MessageHeaders Copy() => new(Encoded.ToArray(), Count);

    /// <summary>Headers that say a body's media type, by the id that stands for the name.</summary>
    /// <param name="headers">The others; null for none. Returned as they are if they say one already.</param>
    /// <param name="contentType">The media type.</param>
    internal static MessageHeaders WithContentType(MessageHeaders? headers, string contentType)
    {
        ReadOnlySpan<byte> others = headers is null ? default : headers.Encoded;
        foreach (HeaderView header in new HeaderEnumerator(others))
        {
            if (header.WellKnownId == WellKnownHeader.ContentType || header.Name.SequenceEqual("content-type"u8))
                return headers!;
        }
        byte[] value = Encoding.ASCII.GetBytes(contentType);
        int length = RecordWriter.SizeOfWellKnownHeader(value.Length);
        if (others.Length + length > RecordLayout.MaxHeadersLength)
        {
            throw new ArgumentException(
                $"A message's headers have at most {RecordLayout.MaxHeadersLength} bytes, its content type included, "
                    + $"not {others.Length + length}.",
                nameof(headers)
            );
        }

        byte[] encoded = new byte[length + others.Length];
        RecordWriter.WriteWellKnownHeader(encoded, WellKnownHeader.ContentType, value);
        others.CopyTo(encoded.AsSpan(length));
        return new MessageHeaders
        {
            _encoded = encoded,
            _length = encoded.Length,
            Count = 1 + (headers?.Count ?? 0),
        };
    }

    /// <summary>The headers in the order in which they were added.</summary>
    public IEnumerator<KeyValuePair<string, ReadOnlyMemory<byte>>> GetEnumerator()
    {
        var headers = new List<KeyValuePair<string, ReadOnlyMemory<byte>>>(Count);
        foreach (HeaderView header in new HeaderEnumerator(Encoded))
        {
            headers.Add(
                new(
                    WellKnownHeader.NameOf(header.WellKnownId) ?? Encoding.UTF8.GetString(header.Name),
                    header.Value.ToArray()
                )
            );
        }

        return headers.GetEnumerator();
    }

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
}
