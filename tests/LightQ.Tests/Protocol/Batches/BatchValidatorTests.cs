using System.Buffers.Binary;
using LightQ.Client;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Checksums;
using Xunit;

namespace LightQ.Tests.Protocol.Batches;

public sealed class BatchValidatorTests
{
    private const int Limit = 1024;

    [Fact]
    public void A_producers_batch_passes()
    {
        Assert.Equal(ErrorCode.None, BatchValidator.CheckPublished(Sample.Batch(), Limit, out _, out string reason));
        Assert.Empty(reason);
    }

    [Fact]
    public void A_batch_at_the_limit_passes_and_one_above_is_too_large()
    {
        byte[] batch = Sample.Batch();
        Assert.Equal(ErrorCode.None, BatchValidator.CheckPublished(batch, batch.Length, out BatchView view, out _));
        Assert.Equal(batch.Length, view.Length);
        Assert.Equal(
            ErrorCode.MessageTooLarge,
            BatchValidator.CheckPublished(batch, batch.Length - 1, out _, out string reason)
        );
        Assert.Contains("longer than the topic allows", reason, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(0u)]
    [InlineData(1u)]
    [InlineData(88u)]
    [InlineData(95u)]
    [InlineData(161u)]
    [InlineData(168u)]
    [InlineData(0x7FFF_FFF8u)]
    [InlineData(0x7FFF_FFFFu)]
    [InlineData(0x8000_0000u)]
    [InlineData(0xFFFF_FFF8u)]
    [InlineData(0xFFFF_FFFFu)]
    public void An_impossible_length_is_malformed(uint length) =>
        Refused(ErrorCode.MalformedBatch, "length", Sample.WithUInt32(Sample.Batch(), BatchLayout.Length, length));

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(95)]
    [InlineData(159)]
    public void A_cut_off_batch_is_malformed(int length) =>
        Refused(ErrorCode.MalformedBatch, "length", Sample.Batch()[..length]);

    [Fact]
    public void Any_flipped_bit_of_the_header_is_found()
    {
        byte[] batch = Sample.Batch();
        for (int bit = 0; bit < BatchLayout.HeaderSize * 8; bit++)
        {
            batch[bit / 8] ^= (byte)(1 << (bit % 8));
            Assert.NotEqual(ErrorCode.None, BatchValidator.CheckPublished(batch, Limit, out _, out string reason));
            Assert.NotEmpty(reason);
            batch[bit / 8] ^= (byte)(1 << (bit % 8));
        }
    }

    [Theory]
    [InlineData(BatchLayout.MagicAndVersion, 0xB6)]
    [InlineData(BatchLayout.MagicAndVersion + 1, 2)]
    [InlineData(BatchLayout.HeaderLength, 0)]
    [InlineData(BatchLayout.HeaderLength, 95)]
    [InlineData(BatchLayout.HeaderLength + 1, 0xFF)]
    public void A_wrong_magic_version_or_header_length_is_malformed_even_with_the_right_checksum(int offset, byte value)
    {
        byte[] batch = Sample.Batch();
        batch[offset] = value;
        Refused(ErrorCode.MalformedBatch, "magic, version, length or checksum", Sample.Resealed(batch));
    }

    [Fact]
    public void A_header_longer_than_the_batch_is_malformed_even_with_the_right_checksum()
    {
        byte[] batch = Sample.WithUInt32(Sample.Batch(), BatchLayout.Length, BatchLayout.HeaderSize);
        batch[BatchLayout.HeaderLength] = 104;
        Refused(ErrorCode.MalformedBatch, "magic, version, length or checksum", Sample.Resealed(batch));
        Assert.False(new BatchView(batch).VerifyHeader());
    }

    [Theory]
    [InlineData(0u, 0u)]
    [InlineData(4u, 5u)]
    [InlineData(4u, 0u)]
    [InlineData(3u, 4u)]
    [InlineData(0x7FFF_FFFFu, 4u)]
    [InlineData(0xFFFF_FFFFu, 0xFFFF_FFFFu)]
    [InlineData(0x8000_0000u, 0x8000_0000u)]
    public void A_span_that_is_not_the_record_count_is_malformed(uint records, uint span)
    {
        byte[] batch = Sample.WithUInt32(Sample.Batch(), BatchLayout.RecordCount, records);
        Refused(ErrorCode.MalformedBatch, "offset span", Sample.WithUInt32(batch, BatchLayout.OffsetSpan, span));
    }

    [Theory]
    [InlineData(8u)]
    [InlineData(0x7FFF_FFFFu)]
    public void More_records_than_fit_the_bytes_are_malformed(uint records)
    {
        byte[] batch = Sample.WithUInt32(Sample.Batch(), BatchLayout.RecordCount, records);
        Refused(
            ErrorCode.MalformedBatch,
            "shorter than a record",
            Sample.WithUInt32(batch, BatchLayout.OffsetSpan, records)
        );
    }

    [Theory]
    [InlineData(0u, "shorter than a record")]
    [InlineData(1u, "shorter than a record")]
    [InlineData(56u, "do not fill")]
    [InlineData(65u, "do not fill")]
    [InlineData(0x7FFF_FFF8u, "do not fill")]
    [InlineData(0x7FFF_FFFFu, "do not fill")]
    [InlineData(0x8000_0000u, "shorter than a record")]
    [InlineData(0xFFFF_FFFFu, "shorter than a record")]
    public void Record_bytes_that_do_not_fill_the_batch_are_malformed(uint bytes, string reason) =>
        Refused(
            ErrorCode.MalformedBatch,
            reason,
            Sample.WithUInt32(Sample.Batch(), BatchLayout.UncompressedLength, bytes)
        );

    [Theory]
    [InlineData(57u)]
    [InlineData(61u)]
    [InlineData(64u)]
    public void Record_bytes_that_end_within_the_padding_fill_the_batch(uint bytes) =>
        Assert.Equal(
            ErrorCode.None,
            BatchValidator.CheckPublished(
                Sample.WithUInt32(Sample.Batch(), BatchLayout.UncompressedLength, bytes),
                Limit,
                out _,
                out _
            )
        );

    [Theory]
    [InlineData(BatchLayout.BaseOffset)]
    [InlineData(BatchLayout.BaseOffset + 4)]
    [InlineData(BatchLayout.AppendTime)]
    [InlineData(BatchLayout.AppendTime + 4)]
    [InlineData(BatchLayout.LeaderEpoch)]
    [InlineData(BatchLayout.PreviousCrc)]
    [InlineData(BatchLayout.DurableBack)]
    [InlineData(BatchLayout.Mac)]
    [InlineData(BatchLayout.Mac + 4)]
    public void A_field_that_only_the_broker_may_set_is_malformed(int offset) =>
        Refused(ErrorCode.MalformedBatch, "only the broker may set", Sample.WithUInt32(Sample.Batch(), offset, 1));

    [Fact]
    public void The_header_holds_whatever_the_payload_is_and_the_payloads_checksum_tells()
    {
        byte[] batch = Sample.Batch();
        batch[^20] ^= 1;
        Assert.Equal(ErrorCode.None, BatchValidator.CheckPublished(batch, Limit, out BatchView view, out _));
        Assert.False(view.VerifyPayload());
    }

    [Fact]
    public void A_run_is_enumerated_batch_by_batch_and_stops_at_rubbish()
    {
        byte[] run = [.. Sample.BatchOf(10), .. Sample.BatchOf(20, 30), .. new byte[100]];
        var batches = new BatchRun(run);
        Assert.True(batches.MoveNext());
        Assert.Equal(1, batches.Current.RecordCount);
        Assert.True(batches.MoveNext());
        Assert.Equal(2, batches.Current.RecordCount);
        Assert.False(batches.MoveNext());
        Assert.Equal(100, batches.Remaining.Length);
    }

    [Fact]
    public void The_payload_checksum_covers_the_padding()
    {
        byte[] batch = Sample.Batch();
        Assert.Equal(
            BinaryPrimitives.ReadUInt32LittleEndian(batch.AsSpan(BatchLayout.PayloadCrc)),
            Crc32C.Compute(batch.AsSpan(BatchLayout.HeaderSize))
        );
        batch[^1] = 1;
        Assert.False(new BatchView(batch).VerifyPayload());
    }

    private static void Refused(ErrorCode code, string reason, byte[] batch)
    {
        Assert.Equal(code, BatchValidator.CheckPublished(batch, Limit, out _, out string found));
        Assert.Contains(reason, found, StringComparison.Ordinal);
    }
}
