using System.Buffers;
using LightQ.Client;
using LightQ.Protocol.Records;
using Xunit;

namespace LightQ.Tests.Protocol.Properties;

/// <summary>What a record is made of; no body means a tombstone, an empty header name means its id.</summary>
internal sealed record RecordParts(byte[]? Body, byte[]? Key, (byte[] Name, byte Id, byte[] Value)[] Headers)
{
    public void Write(ArrayBufferWriter<byte> output)
    {
        byte[] headers = HeaderBytes();
        Span<byte> span = output.GetSpan(RecordWriter.SizeOf(Body?.Length ?? 0, Key?.Length ?? 0, headers.Length));
        output.Advance(
            Key is null && headers.Length == 0 && Body is not null
                ? RecordWriter.Write(span, Body)
                : RecordWriter.Write(span, Body, Key, Key is not null, headers, Body is null)
        );
    }

    public void Equal(RecordView record)
    {
        Assert.Equal(Body is null, record.IsTombstone);
        Assert.Equal(Body ?? [], record.Body);
        Assert.Equal(Key is not null, record.HasKey);
        Assert.Equal(Key ?? [], record.Key);
        Assert.Equal(HeaderBytes(), record.HeaderBytes);
        HeaderEnumerator read = record.Headers;
        foreach ((byte[] name, byte id, byte[] value) in Headers)
        {
            Assert.True(read.MoveNext());
            Assert.Equal(name, read.Current.Name);
            Assert.Equal(name.Length == 0 ? id : 0, read.Current.WellKnownId);
            Assert.Equal(value, read.Current.Value);
        }
        Assert.False(read.MoveNext());
    }

    private byte[] HeaderBytes()
    {
        var buffer = new byte[Headers.Sum(header => 4 + header.Name.Length + header.Value.Length)];
        int length = 0;
        foreach ((byte[] name, byte id, byte[] value) in Headers)
        {
            length +=
                name.Length == 0
                    ? RecordWriter.WriteWellKnownHeader(buffer.AsSpan(length), id, value)
                    : RecordWriter.WriteHeader(buffer.AsSpan(length), name, value);
        }
        return buffer[..length];
    }
}
