using System.Buffers.Binary;
using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Records;
using Xunit;

namespace LightQ.Tests.Protocol.Records;

public sealed class RecordTests
{
    [Theory]
    [InlineData("05000000 ffff 0000 68656c6c6f")]
    public void A_plain_record_has_its_golden_bytes(string golden)
    {
        var record = new byte[13];
        Assert.Equal(13, RecordWriter.Write(record, "hello"u8));
        Hex.Equal(golden, record);
        Assert.Equal(13, RecordWriter.Write(record, "hello"u8, "ignored"u8, hasKey: false, default));
        Hex.Equal(golden, record);
    }

    [Fact]
    public void A_record_with_key_and_headers_has_its_golden_bytes()
    {
        var record = new byte[30];
        Assert.Equal(30, RecordWriter.Write(record, "world!"u8, "k1"u8, hasKey: true, Sample.Headers()));
        Hex.Equal("06000000 0200 0e00 6b31 01 61 0200 7879 00 03 0400 74657874 776f726c6421", record);
    }

    [Fact]
    public void A_tombstone_has_its_golden_bytes()
    {
        var record = new byte[10];
        Assert.Equal(10, RecordWriter.Write(record, "ignored"u8, "k1"u8, hasKey: true, default, isTombstone: true));
        Hex.Equal("ffffffff 0200 0000 6b31", record);
    }

    // bodyLength: what is there, one more, and the ends of the signed and the unsigned range; 2^32-1 means a tombstone.
    [Theory]
    [InlineData(0u, false)]
    [InlineData(1u, false)]
    [InlineData(5u, true)]
    [InlineData(6u, false)]
    [InlineData(0x7FFF_FFFFu, false)]
    [InlineData(0x8000_0000u, false)]
    [InlineData(0xFFFF_FFFEu, false)]
    [InlineData(0xFFFF_FFFFu, false)]
    public void A_body_length_that_does_not_fill_the_records_is_refused(uint length, bool fits)
    {
        byte[] record = Hex.Bytes("05000000 ffff 0000 68656c6c6f");
        BinaryPrimitives.WriteUInt32LittleEndian(record, length);
        Holds(fits, record);
        byte[] withKey = Hex.Bytes("05000000 0100 0000 6b 68656c6c6f");
        BinaryPrimitives.WriteUInt32LittleEndian(withKey, length);
        Holds(fits, withKey);
    }

    [Theory]
    [InlineData(0, false)]
    [InlineData(1, true)]
    [InlineData(2, false)]
    [InlineData(65_534, false)]
    [InlineData(65_535, false)]
    public void A_key_length_that_does_not_fill_the_records_is_refused(int length, bool fits)
    {
        byte[] record = Hex.Bytes("05000000 0100 0000 6b 68656c6c6f");
        BinaryPrimitives.WriteUInt16LittleEndian(record.AsSpan(4), (ushort)length);
        Holds(fits, record);
    }

    [Theory]
    [InlineData(0, false)]
    [InlineData(5, true)]
    [InlineData(6, false)]
    [InlineData(65_535, false)]
    public void A_headers_length_that_does_not_fill_the_records_is_refused(int length, bool fits)
    {
        byte[] record = Hex.Bytes("01000000 ffff 0500 01 61 0100 7a 68");
        BinaryPrimitives.WriteUInt16LittleEndian(record.AsSpan(6), (ushort)length);
        Holds(fits, record);
    }

    [Theory]
    [InlineData(0, false)]
    [InlineData(1, true)]
    [InlineData(2, false)]
    [InlineData(-1, false)]
    [InlineData(int.MaxValue, false)]
    [InlineData(int.MinValue, false)]
    public void A_record_count_that_the_bytes_contradict_is_refused(int count, bool fits) =>
        Holds(fits, Hex.Bytes("05000000 ffff 0000 68656c6c6f"), count);

    [Theory]
    [InlineData("01")]
    [InlineData("01 61")]
    [InlineData("01 61 01")]
    [InlineData("01 61 0100")]
    [InlineData("01 61 0200 7a")]
    [InlineData("01 61 ffff 7a")]
    [InlineData("ff 61 0000")]
    [InlineData("00")]
    [InlineData("00 00 0000")]
    [InlineData("00 03 0100")]
    [InlineData("01 61 0000 01")]
    public void Headers_that_are_cut_off_or_nameless_are_refused(string hex)
    {
        byte[] headers = Hex.Bytes(hex);
        ProtocolException error = Assert.Throws<ProtocolException>(() =>
        {
            foreach (HeaderView header in new HeaderEnumerator(headers))
                _ = header.Value.Length;
        });
        Assert.Equal(ErrorCode.CorruptData, error.Code);
    }

    [Theory]
    [InlineData(0, 0, false)]
    [InlineData(1, 0, true)]
    [InlineData(255, 65_535, true)]
    [InlineData(256, 0, false)]
    [InlineData(1, 65_536, false)]
    public void A_header_holds_a_name_of_1_to_255_and_a_value_of_up_to_65535_bytes(int name, int value, bool fits)
    {
        var buffer = new byte[RecordWriter.SizeOfHeader(name, value)];
        if (fits)
            Assert.Equal(buffer.Length, RecordWriter.WriteHeader(buffer, new byte[name], new byte[value]));
        else
            Assert.ThrowsAny<SystemException>(() => RecordWriter.WriteHeader(buffer, new byte[name], new byte[value]));
    }

    [Fact]
    public void A_well_known_header_has_an_id_that_is_not_0() =>
        Assert.Throws<ArgumentOutOfRangeException>(() => RecordWriter.WriteWellKnownHeader(new byte[10], 0, default));

    [Theory]
    [InlineData(0, null)]
    [InlineData(1, "traceparent")]
    [InlineData(2, "tracestate")]
    [InlineData(3, "content-type")]
    [InlineData(4, "timestamp")]
    [InlineData(5, null)]
    [InlineData(255, null)]
    public void The_table_of_well_known_headers_does_not_change(byte id, string? name) =>
        Assert.Equal(name, WellKnownHeader.NameOf(id));

    [Theory]
    [InlineData(65_534, 65_535, true)]
    [InlineData(65_536, 0, false)]
    [InlineData(0, 65_536, false)]
    public void A_record_holds_a_key_of_65534_and_headers_of_65535_bytes(int key, int headers, bool fits)
    {
        var buffer = new byte[RecordWriter.SizeOf(1, key, headers)];
        if (fits)
        {
            RecordWriter.Write(buffer, "x"u8, new byte[key], hasKey: true, new byte[headers]);
            Holds(true, buffer);
        }
        else
        {
            Assert.Throws<OverflowException>(() =>
                RecordWriter.Write(buffer, "x"u8, new byte[key], hasKey: true, new byte[headers])
            );
        }
    }

    [Fact]
    public void A_key_of_65535_bytes_is_refused_because_that_length_means_no_key() =>
        Assert.Throws<ArgumentOutOfRangeException>(() =>
            RecordWriter.Write(new byte[RecordWriter.SizeOf(1, 65_535)], "x"u8, new byte[65_535], hasKey: true, default)
        );

    [Theory]
    [InlineData(BatchLayout.HeaderLength, 0x60_00u)]
    [InlineData(BatchLayout.Length, 88u)]
    [InlineData(BatchLayout.Length, 0xFFFF_FFF8u)]
    [InlineData(BatchLayout.Length, 0x7FFF_FFF8u)]
    [InlineData(BatchLayout.UncompressedLength, 65u)]
    [InlineData(BatchLayout.UncompressedLength, 0x7FFF_FFFFu)]
    [InlineData(BatchLayout.UncompressedLength, 0xFFFF_FFFFu)]
    [InlineData(BatchLayout.RecordCount, 0x8000_0000u)]
    [InlineData(BatchLayout.RecordCount, 0xFFFF_FFFFu)]
    [InlineData(BatchLayout.Flags, 1u)]
    [InlineData(BatchLayout.Flags, 15u)]
    public void Records_behind_a_contradicting_header_are_refused(int offset, uint value)
    {
        byte[] batch = Sample.Batch();
        if (offset == BatchLayout.HeaderLength)
            BinaryPrimitives.WriteUInt16LittleEndian(batch.AsSpan(offset), (ushort)value);
        else
            BinaryPrimitives.WriteUInt32LittleEndian(batch.AsSpan(offset), value);
        Assert.Throws<ProtocolException>(() => Count(new BatchView(batch).Records));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(95)]
    public void A_view_of_less_than_a_header_is_refused(int length)
    {
        var bytes = new byte[length];
        Assert.Throws<ProtocolException>(() => new BatchView(bytes).Length);
    }

    private static void Holds(bool fits, byte[] records, int count = 1)
    {
        if (fits)
        {
            Assert.Equal(count, Count(new RecordEnumerator(records, count, 0)));
        }
        else
        {
            Assert.Equal(
                ErrorCode.CorruptData,
                Assert.Throws<ProtocolException>(() => Count(new RecordEnumerator(records, count, 0))).Code
            );
        }
    }

    private static int Count(RecordEnumerator records)
    {
        int count = 0;
        while (records.MoveNext())
            count++;
        return count;
    }
}
