using System.Buffers;
using FsCheck;
using FsCheck.Fluent;
using LightQ.Client;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Protocol.Records;
using Xunit;
using static LightQ.Tests.Protocol.Properties.WireGenerators;

namespace LightQ.Tests.Protocol.Properties;

/// <summary>Whatever is written is read back.</summary>
public sealed class ReadBackTests
{
    private const int Cases = 500;

    private static Gen<RecordParts> Record =>
        from body in Gen.OneOf(Bytes(300), Gen.Constant<byte[]>(null!))
        from key in Gen.OneOf(Bytes(20), Gen.Constant<byte[]>(null!))
        from headers in Gen.ArrayOf(
            from name in Bytes(10)
            from id in Gen.Choose(1, 255)
            from value in Bytes(40)
            select (name, (byte)id, value)
        )
        select new RecordParts(body, key, headers);

    [Fact]
    public void Hello() =>
        Frame(
            from min in U16
            from max in U16
            from features in U64
            from name in Text
            from mechanism in Text
            from credentials in Text
            select new HelloFrame(min, max, features, name, mechanism, credentials)
        );

    [Fact]
    public void Welcome() =>
        Frame(
            from version in U16
            from features in U64
            from id in AnyGuid
            from connection in U32
            from frame in U32
            from batch in U32
            from message in U32
            from heartbeat in U32
            select new WelcomeFrame(version, features, id, connection, frame, batch, message, heartbeat)
        );

    [Fact]
    public void OpenProducer() =>
        Frame(
            from topic in Text
            from partition in U32
            from level in Enum<Durability>()
            from name in Text
            from instance in U64
            from number in U64
            from returning in U32
            select new OpenProducerFrame(topic, partition, level, name, instance, returning % 2 == 1, number)
        );

    [Fact]
    public void ProducerOpened() =>
        Frame(
            from id in AnyGuid
            from partition in U32
            from partitions in U32
            from hash in U16
            from incarnation in U64
            from epoch in U32
            from producer in U64
            from producerEpoch in U32
            from next in U64
            from window in U32
            from batch in U32
            from level in Enum<Durability>()
            from batches in U32
            from delay in U64
            select new ProducerOpenedFrame(
                id,
                partition,
                partitions,
                (byte)hash,
                incarnation,
                epoch,
                producer,
                producerEpoch,
                next,
                window,
                batch,
                level,
                batches,
                delay
            )
        );

    [Fact]
    public void Subscribe() =>
        Frame(
            from topic in Text
            from partition in U32
            from consumers in Text
            from start in Enum<StartKind>()
            from value in I64
            from last in I64
            from epoch in U32
            from incarnation in U64
            from settle in Enum<SettleMode>()
            from slow in Enum<SlowPolicy>()
            from most in U32
            from member in U32
            from timeout in U32
            from locked in U32
            from atATime in U32
            select new SubscribeFrame(
                topic,
                partition,
                consumers,
                start,
                value,
                last,
                epoch,
                incarnation,
                settle,
                slow,
                most,
                member,
                timeout,
                locked,
                atATime
            )
        );

    [Fact]
    public void Subscribed() =>
        Frame(
            from id in AnyGuid
            from partitions in U32
            from incarnation in U64
            from epoch in U32
            from next in I64
            from start in I64
            from end in I64
            from isMember in Gen.Elements(false, true)
            from most in U32
            from delay in U32
            from longest in U32
            select new SubscribedFrame(
                id,
                partitions,
                incarnation,
                epoch,
                next,
                start,
                end,
                isMember ? new RedeliveryTerms(most, delay, longest) : null
            )
        );

    [Fact]
    public void Credit() => Frame(U32.Select(bytes => new CreditFrame(bytes)));

    [Fact]
    public void Window() => Frame(from most in U32 from atATime in U32 select new WindowFrame(most, atATime));

    [Fact]
    public void Gap() =>
        Frame(
            from a in Offset
            from b in Offset
            from reason in Enum<GapReason>()
            select new GapFrame(Math.Min(a, b), Math.Max(a, b), reason)
        );

    [Fact]
    public void Close() =>
        Frame(from code in Enum<ErrorCode>() from message in Text select new CloseFrame(code, message));

    [Fact]
    public void Closed() =>
        Frame(from code in U16 from message in Text select new ClosedFrame((ErrorCode)code, message));

    [Fact]
    public void Closed_that_names_the_leader() =>
        Frame(
            from message in Text
            from epoch in U32
            from address in Text
            select new ClosedFrame(ErrorCode.NotLeader, message, epoch, address)
        );

    [Fact]
    public void Closed_that_names_the_opening_which_has_a_name() =>
        Frame(
            from message in Text
            from number in U64
            select new ClosedFrame(ErrorCode.Fenced, message, Number: number)
        );

    [Fact]
    public void Ping() => Frame(U64.Select(payload => new PingFrame(payload)));

    [Fact]
    public void Pong() => Frame(U64.Select(payload => new PongFrame(payload)));

    [Fact]
    public void Error() =>
        Frame(from code in Enum<ErrorCode>() from message in Text select new ErrorFrame(code, message));

    [Fact]
    public void GoAway() =>
        Frame(
            from code in Enum<ErrorCode>()
            from left in U32
            from message in Text
            select new GoAwayFrame(code, left, message)
        );

    [Fact]
    public void Frame_headers() =>
        Check(
            from length in Gen.Choose(FrameHeader.Size, int.MaxValue)
            from type in Enum<FrameType>()
            from flags in U16
            from stream in U32
            from tag in U32
            select new FrameHeader(length, type, (byte)flags, stream, tag),
            Cases,
            header =>
            {
                var bytes = new byte[FrameHeader.Size];
                header.Write(bytes);
                Assert.True(FrameHeader.TryRead(bytes, int.MaxValue, out FrameHeader read));
                Assert.Equal(header, read);
            }
        );

    [Fact]
    public void PublishAck() =>
        Check(
            from level in Enum<Durability>()
            from ranges in Gen.ArrayOf(
                from first in U64
                from count in U32
                from error in U16
                from offset in I64
                select new AckRange(first, count, (ErrorCode)error, offset, (offset & 1) == 1, (offset & 2) == 2)
            )
            select (level, ranges),
            Cases,
            ack =>
            {
                var bytes = new byte[PublishAckFrame.SizeOf(ack.ranges.Length)];
                PublishAckFrame.Write(bytes, 1, ack.level, ack.ranges);
                var read = new PublishAckFrame(bytes.AsSpan(FrameHeader.Size));
                Assert.Equal(ack.level, read.Durability);
                Assert.Equal(ack.ranges.Length, read.Count);
                for (int i = 0; i < read.Count; i++)
                    Assert.Equal(ack.ranges[i], read[i]);
            }
        );

    [Fact]
    public void Settle() =>
        Check(
            from ranges in Gen.ArrayOf(
                from kind in Enum<SettleKind>()
                from id in U32
                from first in Offset
                from count in Count
                from delay in U32
                select new SettleRange(kind, id, first, count, delay)
            )
            from reason in Bytes(300)
            select (ranges, reason),
            Cases,
            settle =>
            {
                var bytes = new byte[SettleFrame.SizeOf(settle.ranges.Length, settle.reason.Length)];
                Assert.Equal(bytes.Length, SettleFrame.Write(bytes, 1, 2, settle.ranges, settle.reason));
                var read = new SettleFrame(bytes.AsSpan(FrameHeader.Size));
                Assert.Equal(settle.ranges.Length, read.Count);
                for (int i = 0; i < read.Count; i++)
                    Assert.Equal(settle.ranges[i], read[i]);
                Assert.Equal(settle.reason, read.ReasonUtf8);
            }
        );

    [Fact]
    public void Settled() =>
        Check(
            Gen.ArrayOf(
                from outcome in Enum<SettleOutcome>()
                from id in U32
                from first in Offset
                from count in Count
                select new SettledRange(outcome, id, first, count)
            ),
            Cases,
            ranges =>
            {
                var bytes = new byte[SettledFrame.SizeOf(ranges.Length)];
                Assert.Equal(bytes.Length, SettledFrame.Write(bytes, 1, 2, ranges));
                var read = new SettledFrame(bytes.AsSpan(FrameHeader.Size));
                Assert.Equal(ranges.Length, read.Count);
                for (int i = 0; i < read.Count; i++)
                    Assert.Equal(ranges[i], read[i]);
            }
        );

    [Fact]
    public void GroupDeliver() =>
        Check(
            from start in Gen.Choose(0, 9)
            from count in Gen.Choose(1, 10 - start)
            from id in Count
            from times in U16
            from time in U32
            from baseOffset in Gen.Choose(0, int.MaxValue)
            select (
                baseOffset,
                new GroupDelivery((long)baseOffset + start, (uint)count, id, Math.Max((ushort)1, times), time)
            ),
            Cases,
            values =>
            {
                (int baseOffset, GroupDelivery delivery) = values;
                byte[] batch = Sample.BatchOf(new int[10]);
                BatchWriter.Stamp(batch, new BatchStamp(baseOffset, 1, 1, 1, 1));
                var bytes = new byte[GroupDeliverFrame.HeadSize + batch.Length];
                GroupDeliverFrame.WriteHead(bytes, 1, delivery, batch.Length);
                batch.CopyTo(bytes, GroupDeliverFrame.HeadSize);
                var read = new GroupDeliverFrame(0, bytes.AsSpan(FrameHeader.Size));
                Assert.Equal(delivery, read.Delivery);
                Assert.Equal(batch, read.Batch.Bytes);
            }
        );

    [Fact]
    public void Batches_with_keys_headers_and_tombstones() =>
        Check(
            Gen.NonEmptyListOf(Record),
            Cases,
            records =>
            {
                byte[] bytes = Written(records);
                Assert.Equal(
                    ErrorCode.None,
                    BatchValidator.CheckPublished(bytes, bytes.Length, out BatchView batch, out string reason)
                );
                Assert.Empty(reason);
                BatchWriter.Stamp(bytes, Sample.Stamp);
                Assert.True(batch.VerifyHeader() && batch.VerifyPayload());
                long offset = Sample.Stamp.BaseOffset;
                RecordEnumerator read = batch.Records;
                foreach (RecordParts expected in records)
                {
                    Assert.True(read.MoveNext());
                    Assert.Equal(offset++, read.Current.Offset);
                    expected.Equal(read.Current);
                }
                Assert.False(read.MoveNext());
            }
        );

    private static byte[] Written(IEnumerable<RecordParts> records)
    {
        var output = new ArrayBufferWriter<byte>();
        output.Write(new byte[BatchLayout.HeaderSize]);
        int count = 0;
        foreach (RecordParts record in records)
        {
            record.Write(output);
            count++;
        }
        var buffer = new byte[output.WrittenCount + BatchLayout.Alignment];
        output.WrittenSpan.CopyTo(buffer);
        return buffer[
            ..BatchWriter.Complete(
                buffer,
                output.WrittenCount - BatchLayout.HeaderSize,
                count,
                Sample.Origin,
                Sample.Time
            )
        ];
    }

    private static void Frame<TBody>(Gen<TBody> bodies)
        where TBody : struct, IFrameBody<TBody>, IEquatable<TBody> =>
        Check(
            bodies,
            Cases,
            body =>
            {
                var bytes = new byte[FrameHeader.Size + body.MaxSize];
                int length = FrameCodec.Write(bytes, body, 3, 4);
                Assert.True(FrameHeader.TryRead(bytes, bytes.Length, out FrameHeader header));
                Assert.Equal(new FrameHeader(length, TBody.Type, 0, 3, 4), header);
                Assert.Equal(body, FrameCodec.Read<TBody>(bytes.AsSpan(FrameHeader.Size, header.BodyLength)));
            }
        );

    private static void Check<T>(Gen<T> values, int cases, Action<T> property) => values.Check(cases, property);
}
