using LightQ.Client;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Records;
using Xunit;

namespace LightQ.Tests.Protocol.Batches;

/// <summary>Batch and records, byte by byte. The bytes were made from the specification by another program.</summary>
public sealed class BatchGoldenTests
{
    private const string Golden = """
        a0000000 566c2f83 3856a73a b7016000 00000000 04000000 04000000 3d000000
        00000000 00000000 00000000 00000000 00401e18 240a0600 07000000 00000000
        64000000 00000000 02000000 00000000 00000000 00000000 00000000 00000000
        05000000 ffff0000 68656c6c 6f060000 0002000e 006b3101 61020078 79000304
        00746578 74776f72 6c6421ff ffffff02 0000006b 31000000 00000000 00000000
        """;

    private const string GoldenStamped = """
        a0000000 d94c8cb2 3856a73a b7016000 00000000 04000000 04000000 3d000000
        e8030000 00000000 05401e18 240a0600 00401e18 240a0600 07000000 00000000
        64000000 00000000 02000000 03000000 0df0feca 0c000000 00000000 00000000
        05000000 ffff0000 68656c6c 6f060000 0002000e 006b3101 61020078 79000304
        00746578 74776f72 6c6421ff ffffff02 0000006b 31000000 00000000 00000000
        """;

    [Fact]
    public void A_batch_has_its_golden_bytes() => Hex.Equal(Golden, Sample.Batch());

    [Fact]
    public void A_stamped_batch_has_its_golden_bytes() => Hex.Equal(GoldenStamped, Sample.StampedBatch());

    [Fact]
    public void Stamping_changes_the_header_crc_and_keeps_the_payload_and_its_crc()
    {
        byte[] batch = Sample.Batch(),
            stamped = [.. batch];
        uint crc = BatchWriter.Stamp(stamped, Sample.Stamp);
        var before = new BatchView(batch);
        var after = new BatchView(stamped);
        Assert.Equal(crc, after.HeaderCrc);
        Assert.NotEqual(before.HeaderCrc, after.HeaderCrc);
        Assert.Equal(before.PayloadCrc, after.PayloadCrc);
        Assert.Equal(before.Payload, after.Payload);
        Assert.True(after.VerifyHeader());
        Assert.True(after.VerifyPayload());
    }

    [Fact]
    public void Every_field_of_a_golden_batch_reads_as_it_was_written()
    {
        var batch = new BatchView(Hex.Bytes(GoldenStamped));
        Assert.Equal(160, batch.Length);
        Assert.Equal(BatchLayout.HeaderSize, batch.HeaderLength);
        Assert.Equal(0u, batch.Flags);
        Assert.Equal(BatchKind.Data, batch.Kind);
        Assert.Equal(4, batch.RecordCount);
        Assert.Equal(4u, batch.OffsetSpan);
        Assert.Equal(61, batch.UncompressedLength);
        Assert.Equal(Sample.Stamp.BaseOffset, batch.BaseOffset);
        Assert.Equal(1004, batch.NextOffset);
        Assert.Equal(Sample.Stamp.AppendTime, batch.AppendTime);
        Assert.Equal(Sample.Time, batch.Timestamp);
        Assert.Equal(Sample.Origin, new BatchOrigin(batch.ProducerId, batch.ProducerEpoch, batch.BaseSequence));
        Assert.Equal(Sample.Stamp.LeaderEpoch, batch.LeaderEpoch);
        Assert.Equal(Sample.Stamp.PreviousCrc, batch.PreviousCrc);
        Assert.Equal(Sample.Stamp.DurableBack, batch.DurableBack);
    }

    [Fact]
    public void The_records_of_a_golden_batch_read_as_they_were_written()
    {
        RecordEnumerator records = new BatchView(Hex.Bytes(GoldenStamped)).Records;

        Assert.True(records.MoveNext());
        Assert.Equal(1000, records.Current.Offset);
        Assert.Equal("hello"u8, records.Current.Body);
        Assert.False(records.Current.HasKey);
        Assert.False(records.Current.IsTombstone);
        Assert.True(records.Current.HeaderBytes.IsEmpty);

        Assert.True(records.MoveNext());
        Assert.Equal(1001, records.Current.Offset);
        Assert.Equal("world!"u8, records.Current.Body);
        Assert.Equal("k1"u8, records.Current.Key);
        HeaderEnumerator headers = records.Current.Headers;
        Assert.True(headers.MoveNext());
        Assert.Equal("a"u8, headers.Current.Name);
        Assert.Equal("xy"u8, headers.Current.Value);
        Assert.Equal(0, headers.Current.WellKnownId);
        Assert.True(headers.MoveNext());
        Assert.True(headers.Current.Name.IsEmpty);
        Assert.Equal(WellKnownHeader.ContentType, headers.Current.WellKnownId);
        Assert.Equal("text"u8, headers.Current.Value);
        Assert.False(headers.MoveNext());

        Assert.True(records.MoveNext());
        Assert.True(records.Current.IsTombstone);
        Assert.Equal("k1"u8, records.Current.Key);
        Assert.True(records.Current.Body.IsEmpty);

        Assert.True(records.MoveNext());
        Assert.Equal(1003, records.Current.Offset);
        Assert.True(records.Current.HasKey);
        Assert.True(records.Current.Key.IsEmpty);
        Assert.False(records.Current.IsTombstone);
        Assert.False(records.MoveNext());
        Assert.False(records.MoveNext());
    }

    [Theory]
    [InlineData(BatchKind.Control, 1u, 0x10u)]
    [InlineData(BatchKind.Gap, 500u, 0x20u)]
    public void The_kind_and_span_of_a_batch_are_where_the_layout_says(BatchKind kind, uint span, uint flags)
    {
        var buffer = new byte[BatchLayout.HeaderSize];
        Assert.Equal(BatchLayout.HeaderSize, BatchWriter.Complete(buffer, 0, 0, default, Sample.Time, kind, span));
        var batch = new BatchView(buffer);
        Assert.Equal(flags, batch.Flags);
        Assert.Equal(kind, batch.Kind);
        Assert.Equal(span, batch.OffsetSpan);
        Assert.True(batch.VerifyHeader() && batch.VerifyPayload());
    }
}
