using System.IO.Compression;
using LightQ.Client;
using LightQ.Client.Consuming;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Records;
using LightQ.Tests.Protocol;
using static LightQ.Tests.Fuzzing.FuzzInvariantException;

namespace LightQ.Tests.Fuzzing.Targets;

/// <summary>Batches, their records and headers, and what is compressed.</summary>
internal static class BatchTargets
{
    private const int MaxBatchBytes = 64 * 1024;
    private static readonly HashSet<Type> Refusals = [typeof(ProtocolException)];

    public static IEnumerable<FuzzTarget> All()
    {
        yield return new FuzzTarget
        {
            Name = "records",
            What = "records and headers, and written again",
            Parse = Records,
            Seeds = [RecordsOf(Sample.Batch()), RecordsOf(Sample.BatchOf(0, 10, 100))],
            Refusals = Refusals,
            MaxLength = 512,
        };
        yield return new FuzzTarget
        {
            Name = "batches",
            What = "batches as a broker takes them",
            Parse = Batches,
            Seeds =
            [
                Sample.Batch(),
                Sample.BatchOf(5, 6),
                [.. Sample.Batch(), .. Sample.BatchOf(1)],
                Timed(new BatchProperties(Sample.Time, 0)),
                Timed(new BatchProperties(Sample.Time, Sample.Time + 1)),
                Timed(new BatchProperties(0, 9)),
                Timed(new BatchProperties(0, 0, "id")),
                Timed(new BatchProperties(Sample.Time, 9, "order-1")),
            ],
            Tokens =
            [
                [1, 8, 1, 0, 0, 0, 0, 0, 0, 0],
                [2, 8, 1, 0, 0, 0, 0, 0, 0, 0],
                [3, 8],
                [4, 2, 0xC3, 0xA4],
                [0xB7, 1],
            ],
            Seal = Seals.Batches,
            Refusals = Refusals,
        };
        yield return new FuzzTarget
        {
            Name = "messages",
            What = "delivered batches as a consumer reads them",
            Parse = new Messages().Parse,
            Seeds =
            [
                Sample.StampedBatch(),
                Sample.BatchOf(5, 6, 7),
                Compressed(BatchCodec.Brotli),
                Compressed(BatchCodec.Deflate),
            ],
            Tokens =
            [
                [0, 1, 55, 0],
                "traceparent"u8.ToArray(),
            ],
            Seal = Seals.Batches,
            Refusals = new HashSet<Type> { typeof(ProtocolException), typeof(LightQException) },
            MaxAllocation = 512 * 1024,
        };
        yield return new FuzzTarget
        {
            Name = "compressed",
            What = "compressed batches",
            Parse = new Compression().Parse,
            Seeds = [Compressed(BatchCodec.Brotli), Compressed(BatchCodec.Deflate)],
            Seal = Seals.Batches,
            Refusals = Refusals,
            MaxAllocation = 512 * 1024,
            GateExecutions = 50_000,
        };
    }

    /// <summary>A batch of 40 records, compressed.</summary>
    public static byte[] Compressed(BatchCodec codec)
    {
        byte[] plain = Sample.BatchOf([.. Enumerable.Range(0, 40)]);
        int records = new BatchView(plain).UncompressedLength;
        byte[] batch = new byte[BatchLayout.HeaderSize + records];
        if (
            !BatchCompression.TryCompress(
                codec,
                CompressionLevel.Fastest,
                plain.AsSpan(BatchLayout.HeaderSize, records),
                batch.AsSpan(BatchLayout.HeaderSize),
                out int written
            )
        )
        {
            throw new InvalidOperationException("The seed does not compress.");
        }

        int length = BatchWriter.Complete(batch, written, 40, records, codec, default, Sample.Origin, Sample.Time);
        return batch[..length];
    }

    private static byte[] RecordsOf(byte[] batch) =>
        batch[BatchLayout.HeaderSize..(BatchLayout.HeaderSize + new BatchView(batch).UncompressedLength)];

    private static byte[] Timed(BatchProperties properties)
    {
        byte[] batch = new byte[256];
        int length = RecordWriter.Write(batch.AsSpan(properties.HeaderLength), "later"u8);
        return batch[
            ..BatchWriter.Complete(batch, length, 1, length, BatchCodec.None, properties, Sample.Origin, Sample.Time)
        ];
    }

    private static bool Records(ReadOnlySpan<byte> input)
    {
        Span<byte> again = stackalloc byte[input.Length];
        int count = 0,
            at = 0;
        foreach (RecordView record in new RecordEnumerator(input, int.MaxValue, 0))
        {
            count++;
            at += RecordWriter.Write(
                again[at..],
                record.Body,
                record.Key,
                record.HasKey,
                record.HeaderBytes,
                record.IsTombstone
            );
            ThrowUnless(again[..at].SequenceEqual(input[..at]), "a record that is written reads back as the same");
            foreach (HeaderView header in record.Headers)
                ThrowUnless(header.Name.Length == 0 == (header.WellKnownId != 0), "a header has a name or an id");
            if (at == input.Length)
                break;
        }
        return count != 0;
    }

    private static bool Batches(ReadOnlySpan<byte> input)
    {
        HostileReading.Run(input);
        if (
            BatchValidator.CheckPublished(input, MaxBatchBytes, out BatchView batch, out string reason)
            != ErrorCode.None
        )
        {
            ThrowUnless(reason.Length != 0, "a refusal has a reason");
            return false;
        }
        ThrowUnless(
            batch.NextOffset > batch.BaseOffset && batch.Payload.Length >= 0,
            "an accepted batch has offsets and a payload"
        );
        if (batch.DueAt != 0)
        {
            byte[] delivery = batch.Bytes.ToArray();
            BatchWriter.MakeDelivery(delivery, 5);
            var view = new BatchView(delivery);
            ThrowUnless(
                view.OriginOffset == 5 && view.DueAt == 0 && view.ExpiresAt == batch.ExpiresAt,
                "the delivery of a delayed batch says where it is from"
            );
            byte[] copy = batch.Bytes.ToArray();
            BatchWriter.MakeCopy(copy, 7);
            view = new BatchView(copy);
            ThrowUnless(
                view.OriginOffset == 7
                    && view.DueAt == batch.DueAt
                    && view.ExpiresAt == batch.ExpiresAt
                    && view.Length == batch.Length,
                "the copy of a delayed batch says where it is from and when it is due"
            );
        }
        if (batch.Codec == BatchCodec.None)
        {
            foreach (RecordView record in batch.Records)
                HostileReading.Headers(record.HeaderBytes);
        }
        return true;
    }

    /// <summary>What a consumer does with a run that a broker delivers.</summary>
    private sealed class Messages
    {
        private readonly BatchInflater _inflater = new(MaxBatchBytes);
        private readonly byte[] _memory = new byte[1024];
        private readonly MessageFilter _filter = MessageFilter.Parse("content-type = 'text' or not exists(a)");

        public bool Parse(ReadOnlySpan<byte> input)
        {
            if (!BatchView.TryRead(input, out BatchView batch) || batch.Kind != BatchKind.Data)
                return false;
            input.CopyTo(_memory);
            byte[] memory = _memory;
            int length = batch.Length,
                skip = (int)Math.Clamp(batch.BaseOffset, 0, int.MaxValue);
            if (batch.Codec != BatchCodec.None)
            {
                if (!_inflater.TryInflate(batch))
                    return false;
                (memory, length) = (_inflater.Memory, _inflater.Length);
            }
            _ = (batch.DueAt, batch.ExpiresAt);
            try
            {
                Enumerate(memory, length, 0, batch.RecordCount);
                Enumerate(memory, length, skip, batch.RecordCount - skip);
            }
            finally
            {
                _inflater.Return();
            }
            return true;
        }

        private void Enumerate(byte[] memory, int length, int skip, int count)
        {
            var received = new MessageBatch(
                memory,
                0,
                length,
                skip,
                count,
                0,
                DeliveryLock.None,
                skip > 1 ? _filter : null,
                default
            );
            _ = (received.Timestamp, received.AppendTime, received.Bytes.Length);
            int at = new BatchView(memory.AsSpan(0, length)).HeaderLength;
            if (skip != 0)
            {
                foreach (RecordView record in received)
                    _ = record.Offset;
                return;
            }
            foreach (RecordView record in received)
            {
                var message = new Message(memory, at, record.Offset, 0, DeliveryLock.None);
                at += RecordWriter.SizeOf(record.Body.Length, record.Key.Length, record.HeaderBytes.Length);
                ThrowUnless(
                    message.BodySpan.SequenceEqual(record.Body)
                        && message.Key.Span.SequenceEqual(record.Key)
                        && message.HasKey == record.HasKey,
                    "both ways to read a message see the same"
                );
                _ = (message.Timestamp, message.AppendTime, message.GetText());
                if (message.TryGetHeader("content-type", out ReadOnlySpan<byte> value))
                    _ = value.Length;
                message.TryGetTraceContext(out _);
            }
        }
    }

    private sealed class Compression
    {
        private readonly BatchInflater _inflater = new(MaxBatchBytes);

        public bool Parse(ReadOnlySpan<byte> input)
        {
            if (!BatchView.TryRead(input, out BatchView batch) || !_inflater.TryInflate(batch))
                return false;
            ReadOnlySpan<byte> inflated = _inflater.Memory.AsSpan(0, _inflater.Length);
            ThrowUnless(
                _inflater.Length <= MaxBatchBytes + BatchLayout.MaxHeaderSize + BatchLayout.Alignment
                    || batch.HeaderLength > BatchLayout.MaxHeaderSize,
                "an inflated batch is not above the limit"
            );
            HostileReading.Batch(new BatchView(inflated));
            _inflater.Return();
            return true;
        }
    }
}
