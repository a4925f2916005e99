using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Records;
using Xunit;

namespace LightQ.Tests.Protocol.Batches;

public sealed class BatchExtensionTests
{
    private const int Limit = 1024;
    private const long Due = Sample.Time + 1,
        Expiry = Sample.Time + 2;

    /// <summary>One record, "hi", with both times; made from the specification by another program.</summary>
    private const string Golden = """
        80000000 3a39a563 2bef711a b7017400 00030000 01000000 01000000 0a000000
        00000000 00000000 00000000 00000000 00401e18 240a0600 07000000 00000000
        64000000 00000000 02000000 00000000 00000000 00000000 00000000 00000000
        01080140 1e18240a 06000208 02401e18 240a0600 02000000 ffff0000 68690000
        """;

    [Fact]
    public void A_batch_with_both_times_has_its_golden_bytes_and_reads_as_it_was_written()
    {
        byte[] batch = Timed(new BatchProperties(Due, Expiry));
        Hex.Equal(Golden, batch);
        Assert.Equal(ErrorCode.None, BatchValidator.CheckPublished(batch, Limit, out BatchView view, out _));
        Assert.Equal((Due, Expiry, -1L), (view.DueAt, view.ExpiresAt, view.OriginOffset));
        Assert.True(view.VerifyPayload());
        RecordEnumerator records = view.Records;
        Assert.True(records.MoveNext());
        Assert.Equal("hi"u8, records.Current.Body);
    }

    [Theory]
    [InlineData(0, 0, 96)]
    [InlineData(Due, 0, 106)]
    [InlineData(0, Expiry, 106)]
    public void Times_take_room_only_where_they_are_set(long due, long expiry, int headerLength)
    {
        byte[] batch = Timed(new BatchProperties(due, expiry));
        Assert.Equal(ErrorCode.None, BatchValidator.CheckPublished(batch, Limit, out BatchView view, out _));
        Assert.Equal(headerLength, view.HeaderLength);
        Assert.Equal(due, view.DueAt);
        Assert.Equal(expiry == 0 ? long.MaxValue : expiry, view.ExpiresAt);
    }

    [Fact]
    public void A_stamp_keeps_the_extensions()
    {
        byte[] batch = Timed(new BatchProperties(Due, Expiry));
        BatchWriter.Stamp(batch, Sample.Stamp);
        var view = new BatchView(batch);
        Assert.True(view.VerifyHeader() && view.VerifyPayload());
        Assert.Equal((Due, Expiry), (view.DueAt, view.ExpiresAt));
    }

    [Theory]
    [InlineData(0u)]
    [InlineData(1u)]
    [InlineData(2u)]
    [InlineData(8u)]
    [InlineData(9u)]
    [InlineData(11u)]
    public void A_flag_that_a_producer_may_set_is_not_refused_as_unknown(uint bit)
    {
        uint flags = bit < 8 ? bit : 1u << (int)bit;
        ErrorCode code = BatchValidator.CheckPublished(
            Sample.WithUInt32(Sample.Batch(), BatchLayout.Flags, flags),
            Limit,
            out _,
            out _
        );
        // Times are announced, but there is no extension that holds them.
        Assert.Equal(bit < 8 ? ErrorCode.None : ErrorCode.MalformedBatch, code);
    }

    [Fact]
    public void Every_other_codec_or_flag_is_refused_by_its_number()
    {
        for (uint codec = 3; codec < 16; codec++)
        {
            Refused(
                ErrorCode.NotSupported,
                $"0x{codec:x}",
                Sample.WithUInt32(Sample.Batch(), BatchLayout.Flags, codec)
            );
        }

        for (int bit = 4; bit < 32; bit++)
        {
            if (bit is not (8 or 9 or 11 or 12))
            {
                Refused(
                    ErrorCode.NotSupported,
                    $"0x{1u << bit:x}",
                    Sample.WithUInt32(Sample.Batch(), BatchLayout.Flags, 1u << bit)
                );
            }
        }
    }

    [Theory]
    [InlineData("00", ErrorCode.MalformedBatch)]
    [InlineData("0001", ErrorCode.MalformedBatch)]
    [InlineData("0208", ErrorCode.MalformedBatch)]
    [InlineData("0208 01020304 050607", ErrorCode.MalformedBatch)]
    [InlineData("02ff 01020304 05060708", ErrorCode.MalformedBatch)]
    [InlineData("0207 01020304 050607", ErrorCode.MalformedBatch)]
    [InlineData("0209 01020304 05060708 09", ErrorCode.MalformedBatch)]
    [InlineData("0200", ErrorCode.MalformedBatch)]
    [InlineData("0208 00000000 00000000", ErrorCode.MalformedBatch)]
    [InlineData("0208 01020304 050607ff", ErrorCode.MalformedBatch)]
    [InlineData("0208 01020304 05060708 0208 01020304 05060708", ErrorCode.MalformedBatch)]
    [InlineData("0108 01020304 05060708", ErrorCode.MalformedBatch)]
    [InlineData("0308 01020304 05060708", ErrorCode.NotSupported)]
    [InlineData("0000", ErrorCode.NotSupported)]
    [InlineData("0400", ErrorCode.MalformedBatch)]
    [InlineData("0500", ErrorCode.NotSupported)]
    [InlineData("ff08 01020304 05060708", ErrorCode.NotSupported)]
    [InlineData("0208 01020304 05060708", ErrorCode.None)]
    public void A_header_with_an_expiry_holds_just_that(string extensions, ErrorCode expected)
    {
        byte[] batch = Checked(extensions, BatchLayout.HasExpiry, expected);
        // Reading never leaves the header, whatever it says.
        _ = (new BatchView(batch).ExpiresAt, new BatchView(batch).DueAt, new BatchView(batch).OriginOffset);
    }

    [Fact]
    public void An_extension_without_its_flag_is_malformed() =>
        Refused(ErrorCode.MalformedBatch, "contradict", WithExtensions(Hex.Bytes("0208 01020304 05060708"), 0));

    [Theory]
    [InlineData("0401 61", ErrorCode.None)]
    [InlineData("0402 c3a4", ErrorCode.None)]
    [InlineData("0400", ErrorCode.MalformedBatch)]
    [InlineData("0401 ff", ErrorCode.MalformedBatch)]
    [InlineData("0401 c3", ErrorCode.MalformedBatch)]
    [InlineData("0402 61", ErrorCode.MalformedBatch)]
    [InlineData("0401 61 0401 61", ErrorCode.MalformedBatch)]
    [InlineData("0401 61 0208 01020304 05060708", ErrorCode.MalformedBatch)]
    public void A_header_with_a_message_id_holds_just_that(string extensions, ErrorCode expected)
    {
        byte[] batch = Checked(extensions, BatchLayout.HasMessageId, expected);
        _ = new BatchView(batch).MessageId.Length;
    }

    [Fact]
    public void The_longest_id_fits_beside_both_times_and_a_longer_one_is_none()
    {
        string longest = new('x', ProtocolLimits.MaxMessageIdBytes);
        byte[] batch = Timed(new BatchProperties(Due, Expiry, longest));
        Assert.Equal(ErrorCode.None, BatchValidator.CheckPublished(batch, Limit, out BatchView view, out _));
        Assert.Equal(longest, System.Text.Encoding.UTF8.GetString(view.MessageId));
        Assert.Equal((246, Due, Expiry), (view.HeaderLength, view.DueAt, view.ExpiresAt));
        Assert.True(view.HeaderLength <= BatchLayout.MaxHeaderSize);
        Refused(ErrorCode.MalformedBatch, "1 to 128 bytes", Timed(new BatchProperties(0, 0, longest + "x")));
        Assert.True(BatchProperties.IsMessageId(longest) && BatchProperties.IsMessageId(new string('ä', 64)));
        Assert.All(
            ["", longest + "x", new string('ä', 65), "a\ud800"],
            id => Assert.False(BatchProperties.IsMessageId(id))
        );
    }

    [Fact]
    public void Times_that_count_from_the_append_are_points_in_time_once_it_is_appended()
    {
        var times = BatchProperties.Relative(TimeSpan.FromSeconds(5), TimeSpan.FromSeconds(1));
        Assert.Equal(new BatchProperties(5_000_000, 6_000_000, IsRelative: true), times);
        byte[] batch = Timed(times with { MessageId = "a" });
        Assert.Equal(ErrorCode.None, BatchValidator.CheckPublished(batch, Limit, out BatchView view, out _));
        Assert.NotEqual(0u, view.Flags & BatchLayout.HasRelativeTimes);
        BatchWriter.Stamp(batch, new BatchStamp(7, 1_000_000_000, 1, 0, 0));
        view = new BatchView(batch);
        Assert.True(view.VerifyHeader() && view.VerifyPayload());
        Assert.Equal(BatchLayout.HasDueTime | BatchLayout.HasExpiry | BatchLayout.HasMessageId, view.Flags);
        Assert.Equal((1_005_000_000, 1_006_000_000), (view.DueAt, view.ExpiresAt));
        Assert.Equal("a", System.Text.Encoding.UTF8.GetString(view.MessageId));
    }

    [Fact]
    public void Times_that_would_lie_behind_the_end_of_time_end_there()
    {
        byte[] batch = Timed(new BatchProperties(0, long.MaxValue - 1, IsRelative: true));
        BatchWriter.Stamp(batch, new BatchStamp(7, 1_000_000_000, 1, 0, 0));
        Assert.Equal(long.MaxValue, new BatchView(batch).ExpiresAt);
    }

    [Fact]
    public void Only_times_count_from_the_append() =>
        Refused(
            ErrorCode.MalformedBatch,
            "it has none",
            WithExtensions(Hex.Bytes("0401 61"), BatchLayout.HasMessageId | BatchLayout.HasRelativeTimes)
        );

    [Fact]
    public void A_batch_with_an_id_has_one_record()
    {
        byte[] batch = Timed(new BatchProperties(0, 0, "a"));
        batch = Sample.WithUInt32(batch, BatchLayout.RecordCount, 2);
        Refused(ErrorCode.MalformedBatch, "one record", Sample.WithUInt32(batch, BatchLayout.OffsetSpan, 2));
    }

    [Fact]
    public void The_delivery_of_a_delayed_batch_keeps_the_id()
    {
        byte[] delivery = Timed(new BatchProperties(Due, Expiry, "order-1"));
        BatchWriter.Stamp(delivery, Sample.Stamp);
        BatchWriter.MakeCopy(delivery, Sample.Stamp.BaseOffset);
        BatchWriter.MakeDelivery(delivery, Sample.Stamp.BaseOffset);
        BatchWriter.Stamp(delivery, new BatchStamp(2000, Sample.Time + 9, 4, 1, 2));
        var view = new BatchView(delivery);
        Assert.True(view.VerifyHeader() && view.VerifyPayload());
        Assert.Equal((0L, Expiry, 1000L), (view.DueAt, view.ExpiresAt, view.OriginOffset));
        Assert.Equal("order-1"u8, view.MessageId);
    }

    [Theory]
    [InlineData(32, 32 * 256, ErrorCode.None)]
    [InlineData(32, (32 * 256) + 1, ErrorCode.MalformedBatch)]
    [InlineData(128 * 1024, 16 * 1024 * 1024, ErrorCode.None)]
    [InlineData(128 * 1024, (16 * 1024 * 1024) + 1, ErrorCode.MalformedBatch)]
    [InlineData(128 * 1024, int.MaxValue, ErrorCode.MalformedBatch)]
    [InlineData(32, 7, ErrorCode.MalformedBatch)]
    [InlineData(32, -1, ErrorCode.MalformedBatch)]
    public void What_a_compressed_batch_says_of_its_records_is_bounded(
        int payload,
        int uncompressed,
        ErrorCode expected
    )
    {
        byte[] batch = new byte[BatchLayout.HeaderSize + payload];
        BatchWriter.Complete(batch, payload, 1, uncompressed, BatchCodec.Brotli, default, Sample.Origin, Sample.Time);
        Assert.Equal(expected, BatchValidator.CheckPublished(batch, batch.Length, out _, out _));
    }

    [Fact]
    public void Records_that_are_compressed_are_not_read_as_records()
    {
        byte[] batch = Sample.WithUInt32(Sample.Batch(), BatchLayout.Flags, (uint)BatchCodec.Deflate);
        Assert.Equal(BatchCodec.Deflate, new BatchView(batch).Codec);
        Assert.Equal(
            ErrorCode.NotSupported,
            Assert.Throws<ProtocolException>(() => _ = new BatchView(batch).Records).Code
        );
    }

    [Theory]
    [InlineData(0)]
    [InlineData(Expiry)]
    public void The_delivery_of_a_delayed_batch_names_its_origin_and_nobody_sent_it(long expiry)
    {
        byte[] delayed = Timed(new BatchProperties(Due, expiry));
        BatchWriter.Stamp(delayed, Sample.Stamp);
        byte[] delivery = [.. delayed];
        BatchWriter.MakeDelivery(delivery, Sample.Stamp.BaseOffset);
        BatchWriter.Stamp(delivery, new BatchStamp(2000, Sample.Time + 9, 4, 1, 2));
        var before = new BatchView(delayed);
        var after = new BatchView(delivery);
        Assert.True(after.VerifyHeader() && after.VerifyPayload());
        Assert.Equal(
            (0L, 1000L, 2000L, 0ul, 0u),
            (after.DueAt, after.OriginOffset, after.BaseOffset, after.ProducerId, after.ProducerEpoch)
        );
        Assert.Equal(expiry == 0 ? long.MaxValue : expiry, after.ExpiresAt);
        Assert.Equal(before.Payload, after.Payload);
        Assert.Equal(before.Timestamp, after.Timestamp);
        // A producer that sends such a batch is refused.
        BatchWriter.Stamp(delivery, default);
        Refused(ErrorCode.NotSupported, "flags", delivery);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(Expiry)]
    public void A_copy_of_a_delayed_batch_is_as_long_and_names_where_it_was_published_and_so_does_its_delivery(
        long expiry
    )
    {
        byte[] delayed = Timed(new BatchProperties(Due, expiry));
        BatchWriter.Stamp(delayed, Sample.Stamp);
        byte[] copy = [.. delayed];
        BatchWriter.MakeCopy(copy, Sample.Stamp.BaseOffset);
        BatchWriter.Stamp(copy, new BatchStamp(2000, Sample.Time + 9, 4, 1, 2));
        BatchWriter.MakeCopy(copy, Sample.Stamp.BaseOffset); // Of the copy, later.
        BatchWriter.Stamp(copy, new BatchStamp(3000, Sample.Time + 10, 4, 1, 2));
        var before = new BatchView(delayed);
        var after = new BatchView(copy);
        Assert.True(after.VerifyHeader() && after.VerifyPayload());
        Assert.Equal(
            (Due, 1000L, 3000L, 0ul, 0u),
            (after.DueAt, after.OriginOffset, after.BaseOffset, after.ProducerId, after.ProducerEpoch)
        );
        Assert.Equal(
            (before.ExpiresAt, before.Length, before.HeaderLength),
            (after.ExpiresAt, after.Length, after.HeaderLength)
        );
        Assert.Equal(before.Payload, after.Payload);

        byte[] delivery = [.. copy];
        BatchWriter.MakeDelivery(delivery, after.OriginOffset);
        BatchWriter.Stamp(delivery, new BatchStamp(4000, Sample.Time + 11, 4, 1, 2));
        var last = new BatchView(delivery);
        Assert.True(last.VerifyHeader() && last.VerifyPayload());
        Assert.Equal((0L, 1000L, 4000L), (last.DueAt, last.OriginOffset, last.BaseOffset));
        // A producer that sends such a batch is refused.
        BatchWriter.Stamp(copy, default);
        Refused(ErrorCode.NotSupported, "flags", copy);
    }

    [Fact]
    public void A_cancellation_names_batch_and_message_and_is_skipped()
    {
        byte[] note = new byte[BatchWriter.CancellationSize];
        BatchWriter.MakeCancellation(note, 1000, 1003, Sample.Time);
        BatchWriter.Stamp(note, Sample.Stamp);
        var view = new BatchView(note);
        Assert.True(view.VerifyHeader() && view.VerifyPayload());
        Assert.Equal(
            (BatchKind.Control, 1000L, 1003ul, 1u, 1, BatchWriter.CancellationSize),
            (view.Kind, view.OriginOffset, view.BaseSequence, view.OffsetSpan, view.RecordCount, view.Length)
        );
        Assert.Equal(BatchFate.Skip, view.FateAt(Sample.Time));
        // From the specification: length, magic, header length, kind control and flag 10, base sequence, extension 3.
        Assert.Equal("78000000", Convert.ToHexString(note.AsSpan(0, 4)));
        Assert.Equal("B7016A0010040000", Convert.ToHexString(note.AsSpan(12, 8)));
        Assert.Equal("EB03000000000000", Convert.ToHexString(note.AsSpan(64, 8)));
        Assert.Equal(
            "0308E803000000000000" + "00000000FFFF0000" + "000000000000",
            Convert.ToHexString(note.AsSpan(96))
        );
        // A producer that sends such a batch is refused.
        BatchWriter.Stamp(note, default);
        Refused(ErrorCode.NotSupported, "flags", note);
    }

    private static byte[] Timed(BatchProperties properties)
    {
        byte[] buffer = new byte[512];
        int length = RecordWriter.Write(buffer.AsSpan(properties.HeaderLength), "hi"u8);
        return buffer[
            ..BatchWriter.Complete(buffer, length, 1, length, BatchCodec.None, properties, Sample.Origin, Sample.Time)
        ];
    }

    /// <summary>A batch with these extensions, of which the check says what is expected.</summary>
    private static byte[] Checked(string extensions, uint flags, ErrorCode expected)
    {
        byte[] batch = WithExtensions(Hex.Bytes(extensions), flags);
        Assert.Equal(expected, BatchValidator.CheckPublished(batch, Limit, out _, out string reason));
        Assert.Equal(expected == ErrorCode.None, reason.Length == 0);
        return batch;
    }

    private static byte[] WithExtensions(byte[] extensions, uint flags)
    {
        byte[] plain = Timed(default);
        byte[] batch = new byte[BatchLayout.Align(plain.Length - 6 + extensions.Length)];
        plain.AsSpan(0, BatchLayout.HeaderSize).CopyTo(batch);
        extensions.CopyTo(batch, BatchLayout.HeaderSize);
        plain.AsSpan(BatchLayout.HeaderSize, 10).CopyTo(batch.AsSpan(BatchLayout.HeaderSize + extensions.Length));
        batch[BatchLayout.HeaderLength] = (byte)(BatchLayout.HeaderSize + extensions.Length);
        batch = Sample.WithUInt32(batch, BatchLayout.Length, (uint)batch.Length);
        return Sample.WithUInt32(batch, BatchLayout.Flags, flags);
    }

    private static void Refused(ErrorCode code, string reason, byte[] batch)
    {
        Assert.Equal(code, BatchValidator.CheckPublished(batch, Limit, out _, out string found));
        Assert.Contains(reason, found, StringComparison.Ordinal);
    }
}
