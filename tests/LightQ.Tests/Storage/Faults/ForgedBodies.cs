using LightQ.Client;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Records;

namespace LightQ.Tests.Storage.Faults;

/// <summary>
/// What a client may publish that looks like batches of the log: it knows the layout and all that consumers see, but
/// not the log's key. Each forged header lies at a multiple of 8, as a batch does, and would prove that everything in
/// front of it had been synced.
/// </summary>
internal static class ForgedBodies
{
    private const long FarAhead = 1L << 40;

    /// <summary>How bytes of a message are filled. Gets the batches that consumers have seen.</summary>
    public static readonly IReadOnlyDictionary<string, Action<byte[], IReadOnlyList<byte[]>>> Contents = new Dictionary<
        string,
        Action<byte[], IReadOnlyList<byte[]>>
    >
    {
        ["harmless"] = (content, _) => content.AsSpan().Fill(0x55),
        ["forged headers"] = (content, _) => FillWithHeaders(content, areChained: false, mac: 0),
        ["chained headers"] = (content, _) => FillWithHeaders(content, areChained: true, mac: 0),
        ["guessed codes"] = (content, _) => FillWithHeaders(content, areChained: true, mac: 0x0123_4567_89AB_CDEF),
        ["delivered batches"] = (content, delivered) => Repeat([.. delivered.SelectMany(batch => batch)], content),
    };

    /// <summary>Which part of a message, or of a batch, has those bytes.</summary>
    public static readonly IReadOnlyDictionary<string, Func<byte[], byte[]>> Places = new Dictionary<
        string,
        Func<byte[], byte[]>
    >
    {
        ["body"] = content => OfRecord(content, key: null, headers: []),
        ["key"] = content => OfRecord("body"u8, content, headers: []),
        ["header"] = content => OfRecord("body"u8, key: null, HeaderOf(content)),
        ["compressed"] = content => OfPayload(content, BatchCodec.Brotli, default),
        ["delayed"] = content =>
            OfPayload(content, BatchCodec.None, new BatchProperties(DueAt: FarAhead, ExpiresAt: 0)),
    };

    private static byte[] OfRecord(ReadOnlySpan<byte> body, byte[]? key, byte[] headers)
    {
        byte[] batch = new byte[
            BatchLayout.HeaderSize
                + RecordWriter.SizeOf(body.Length, key?.Length ?? 0, headers.Length)
                + BatchLayout.Alignment
        ];
        int bytes = RecordWriter.Write(
            batch.AsSpan(BatchLayout.HeaderSize),
            body,
            key,
            hasKey: key is not null,
            headers
        );
        return batch[..BatchWriter.Complete(batch, bytes, 1, default, timestamp: 1)];
    }

    /// <summary>A batch whose payload is the bytes themselves: a broker never looks into what is compressed.</summary>
    private static byte[] OfPayload(byte[] content, BatchCodec codec, BatchProperties properties)
    {
        int at = BatchLayout.Align(properties.HeaderLength),
            bytes = at - properties.HeaderLength + content.Length;
        byte[] batch = new byte[at + content.Length + BatchLayout.Alignment];
        content.CopyTo(batch, at);
        return batch[..BatchWriter.Complete(batch, bytes, 1, bytes, codec, properties, default, timestamp: 1)];
    }

    /// <summary>A header whose value begins at a multiple of 8: its name and its lengths take 8 bytes.</summary>
    private static byte[] HeaderOf(byte[] value)
    {
        byte[] headers = new byte[RecordWriter.SizeOfHeader(5, value.Length)];
        RecordWriter.WriteHeader(headers, "forge"u8, value);
        return headers;
    }

    private static void FillWithHeaders(byte[] content, bool areChained, ulong mac)
    {
        byte[] header = new byte[BatchLayout.HeaderSize];
        BatchWriter.Complete(header, 0, 1, default, timestamp: 1);
        uint chain = 7;
        for (int i = 0; (i + 1) * header.Length <= content.Length; i++)
        {
            uint crc = BatchWriter.Stamp(header, new BatchStamp(FarAhead + i, 1, 1, chain, DurableBack: 0, mac));
            chain = areChained ? crc : 7;
            header.CopyTo(content, i * header.Length);
        }
    }

    private static void Repeat(byte[] bytes, byte[] content)
    {
        for (int at = 0; at < content.Length; at += bytes.Length)
            bytes.AsSpan(0, Math.Min(bytes.Length, content.Length - at)).CopyTo(content.AsSpan(at));
    }
}
