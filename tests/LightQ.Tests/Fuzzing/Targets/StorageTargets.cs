using System.Buffers.Binary;
using LightQ.Storage;
using LightQ.Storage.Backups;
using LightQ.Storage.Inspection;
using LightQ.Storage.Recovery;
using LightQ.Storage.Segments;
using LightQ.Storage.State;
using LightQ.Tests.Protocol;
using static LightQ.Tests.Fuzzing.FuzzInvariantException;

namespace LightQ.Tests.Fuzzing.Targets;

/// <summary>A journal's files: segments, index, checkpoint, epochs, snapshots, and the broker's own records.</summary>
internal static class StorageTargets
{
    private const int MaxSegment = 1024;
    private static readonly HashSet<Type> Refusals = [typeof(JournalFormatException), typeof(JournalCorruptException)];
    private static readonly SegmentHeader Header = new(Guid.Empty, 1, 3, 1000, 5000, Sample.Time - 1, 1, 77);
    private static readonly SegmentHeader Keyed = Header with { Key = new LogKey(5, 6) };

    public static IEnumerable<FuzzTarget> All()
    {
        yield return new FuzzTarget
        {
            Name = "segment-names",
            What = "names of a journal's files",
            Parse = SegmentNames,
            Seeds = FuzzText.Bytes("00000000000000000001.seg", "09223372036854775806.seg", "00000000000000000012.seg"),
            Tokens = FuzzText.Bytes("9223372036854775808", "-1", "+1", ".seg", ".idx", "\u0661"),
            MaxLength = 64,
        };
        yield return new FuzzTarget
        {
            Name = "checkpoints",
            What = "a checkpoint's slot",
            Parse = Checkpoints,
            Seeds =
            [
                Slot(
                    new Checkpoint(
                        4,
                        1,
                        10,
                        new LogEnd(5000, 1000, Sample.Time, 3, 77),
                        2,
                        Clean: true,
                        new LogKey(5, 6)
                    )
                ),
                Slot(default),
            ],
            Seal = (buffer, length) => Seals.Split(buffer.AsSpan(0, Math.Min(length, Checkpoint.Size))),
            Refusals = Refusals,
            MaxLength = 128,
        };
        yield return new FuzzTarget
        {
            Name = "index",
            What = "a segment's index",
            Parse = Index,
            Seeds = [IndexOf(1), IndexOf(3)],
            Seal = (buffer, length) => Seals.Rest(buffer, length, 24),
            MaxLength = 256,
        };
        yield return new FuzzTarget
        {
            Name = "epochs",
            What = "the file of a log's epochs",
            Parse = input => EpochFile.Parse(input, "epochs") is { } epochs && epochs.Count >= 0,
            Seeds =
            [
                Epochs(1, (1, 0)),
                Epochs(1, (1, 0), (2, 1000), (5, 2000)),
                Epochs(2, (1, 0), (2, 1000), (5, 2000)),
            ],
            Seal = SealEpochs,
            Refusals = Refusals,
            MaxLength = 256,
        };
        yield return new FuzzTarget
        {
            Name = "snapshots",
            What = "the file of a snapshot of producers",
            Parse = input =>
                ProducerSnapshotFile.Parse(input) is { } found && found.Snapshot.Length == input.Length - 40,
            Seeds = [Snapshot([]), Snapshot([1, 2, 3, 4, 5, 6, 7, 8])],
            Seal = (buffer, length) => Seals.Rest(buffer, length, 16),
            MaxLength = 256,
        };
        yield return new FuzzTarget
        {
            Name = "segments",
            What = "a segment with its batches: where it ends, what is cut",
            Parse = new Segments(new StoredSegment(MaxSegment)).Parse,
            Seeds =
            [
                StoredSegment.Of(Header, Sample.Batch(), Sample.BatchOf(1, 2)),
                StoredSegment.Of(Header),
                StoredSegment.Of(Keyed, Sample.Batch(), Sample.BatchOf(1, 2)),
            ],
            Seal = Seals.Segment,
            Refusals = Refusals,
            MaxLength = MaxSegment,
            GateExecutions = 50_000,
        };
        yield return new FuzzTarget
        {
            Name = "record-journal",
            What = "a journal of records, replayed",
            Parse = new RecordJournals(new StoredSegment(MaxSegment)).Parse,
            Seeds =
            [
                StoredSegment.Of(Header, Sample.BatchOf(10), Sample.BatchOf(0), Sample.BatchOf(50)),
                StoredSegment.Of(Header, Sample.Batch()),
                StoredSegment.Of(Keyed, Sample.Batch()),
            ],
            Seal = Seals.Segment,
            Refusals = Refusals,
            MaxLength = MaxSegment,
            GateExecutions = 50_000,
        };
        yield return new FuzzTarget
        {
            Name = "backup-manifests",
            What = "what a backup says that it holds, and written again",
            Parse = BackupManifests,
            Seeds = [ManifestOf(new BackupTopic("orders", new string('a', 32), 3, Durable: true)), ManifestOf()],
            Tokens = FuzzText.Bytes("null", "{", "}", "[", "]", ",", "\"length\": ", "\\ud800", "1e999", "../", "true"),
            Refusals = new HashSet<Type> { typeof(BackupException) },
            MaxLength = 1536,
            GateExecutions = 40_000,
        };
        yield return new FuzzTarget
        {
            Name = "inspections",
            What = "a segment, as journal verify and repair see it",
            Parse = new Inspections(new StoredSegment(MaxSegment)).Parse,
            Seeds =
            [
                StoredSegment.Of(Header, Sample.Batch(), Sample.BatchOf(1, 2)),
                StoredSegment.Of(Header, Sample.BatchOf(4)),
                StoredSegment.Of(Keyed, Sample.BatchOf(4)),
            ],
            Seal = Seals.Segment,
            Refusals = Refusals,
            MaxLength = MaxSegment,
            MaxAllocation = 4 * 1024 * 1024,
            GateExecutions = 5_000,
        };
    }

    private static bool BackupManifests(ReadOnlySpan<byte> input)
    {
        var manifest = Manifest(input.ToArray());
        byte[] written = manifest.Encode();
        ThrowUnless(
            Manifest(written).Encode().AsSpan().SequenceEqual(written) && manifest.Bytes >= 0,
            "a manifest that is written again is the same"
        );
        return true;
    }

    private static BackupManifest Manifest(byte[] json) => BackupManifest.Read("backup", new MemoryStream(json));

    private static byte[] ManifestOf(params BackupTopic[] topics) =>
        new BackupManifest
        {
            Format = BackupManifest.CurrentFormat,
            BrokerId = new string('b', 32),
            Version = "1.0.0",
            Time = DateTimeOffset.UnixEpoch.AddMicroseconds(Sample.Time),
            Topics = topics,
            Files =
            [
                new BackupFile("broker-id", 32, new string('0', 64)),
                .. topics
                    .Where(t => t.Durable)
                    .Select(t => new BackupFile($"topics/{t.Id}/0/checkpoint", 128, new string('f', 64))),
            ],
            Damaged = [.. topics.Take(1).Select(t => $"topics/{t.Id}/0")],
        }.Encode();

    private static bool SegmentNames(ReadOnlySpan<byte> input)
    {
        string name = FuzzText.Of(input);
        if (!SegmentName.TryParse(name, SegmentName.Log, out long ordinal))
            return false;
        ThrowUnless(
            SegmentName.Of(ordinal, SegmentName.Log) == name && ordinal > 0,
            "a segment's name is that of its ordinal"
        );
        return true;
    }

    private static byte[] Slot(Checkpoint checkpoint)
    {
        byte[] slot = new byte[Checkpoint.Size + LogKey.Size];
        checkpoint.Write(slot);
        return slot;
    }

    private static bool Checkpoints(ReadOnlySpan<byte> input)
    {
        if (!Checkpoint.TryRead(input, out Checkpoint checkpoint))
            return false;
        Span<byte> again = stackalloc byte[Checkpoint.Size + LogKey.Size];
        checkpoint.Write(again);
        ThrowUnless(
            Checkpoint.TryRead(again, out Checkpoint read) && read == checkpoint,
            "a checkpoint that is written reads back as the same"
        );
        return true;
    }

    private static byte[] IndexOf(int entries)
    {
        byte[] bytes = new byte[24 + (24 * entries)];
        BinaryPrimitives.WriteUInt64LittleEndian(bytes, 0x0031_5844_4951_544C);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(8), 7);
        BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(16), entries);
        for (int i = 0; i < entries; i++)
        {
            BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(24 + (24 * i)), 100 * i);
            BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(32 + (24 * i)), Sample.Time + i);
            BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(40 + (24 * i)), 5000 + (i * SegmentIndex.Spacing));
        }
        Seals.Rest(bytes, bytes.Length, 24);
        return bytes;
    }

    private static bool Index(ReadOnlySpan<byte> input)
    {
        const long Base = 5000,
            End = Base + (4 * SegmentIndex.Spacing);
        var index = new SegmentIndex(Base, 4 * SegmentIndex.Spacing);
        if (!SegmentIndexFile.TryParse(input, index, 7, Base, End))
            return false;
        foreach (SegmentIndexEntry entry in index.Entries)
            ThrowUnless(entry.Position is >= Base and < End, "an index points into its segment");
        index.TryFindOffset(long.MaxValue, out _);
        index.TryFindTime(Sample.Time, out _);
        index.TryFindBehind(Base, out _);
        return true;
    }

    private static byte[] Epochs(byte version, params (uint Epoch, long FirstOffset)[] epochs)
    {
        byte[] bytes = new byte[24 + (16 * epochs.Length)];
        BinaryPrimitives.WriteUInt64LittleEndian(bytes, 0x0053_4850_4551_514C);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(8), version);
        BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(16), epochs.Length);
        for (int i = 0; i < epochs.Length; i++)
        {
            BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(24 + (16 * i)), epochs[i].Epoch);
            BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(32 + (16 * i)), epochs[i].FirstOffset);
        }
        SealEpochs(bytes, bytes.Length);
        return bytes;
    }

    private static void SealEpochs(byte[] buffer, int length)
    {
        if (length > 8 && buffer[8] == 1)
            Seals.Rest(buffer, length, 16);
        else
            Seals.Split(buffer.AsSpan(0, length));
    }

    private static byte[] Snapshot(byte[] state)
    {
        byte[] bytes = [.. new byte[40], .. state];
        BinaryPrimitives.WriteUInt64LittleEndian(bytes, 0x0044_4F52_5051_514C);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(8), 1);
        BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(16), 5000);
        BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(36), state.Length);
        Seals.Rest(bytes, bytes.Length, 16);
        return bytes;
    }

    /// <summary>What <c>lightq journal verify</c> and <c>repair</c> say of a directory with one segment.</summary>
    private sealed class Inspections(StoredSegment file)
    {
        public bool Parse(ReadOnlySpan<byte> input)
        {
            if (file.Load(input) is not { Header.Ordinal: > 0 and < long.MaxValue } segment)
                return false;
            var files = new StoredSegmentFiles(file, SegmentName.Of(segment.Header.Ordinal, SegmentName.Log));
            JournalReport report = JournalInspector.Inspect("fuzzed", null, files, null).Report;
            ThrowUnless(report.Messages >= 0 && report.Bytes <= input.Length, "a report counts what is there");
            var plan = JournalRepair.Plan("fuzzed", null, files);
            ThrowUnless(
                plan.Losses.All(l => l.LastOffset >= l.FirstOffset)
                    && (plan.Refusal is null or { Length: > 0 })
                    && plan.Steps.Count >= 0,
                "a plan says what is lost"
            );
            plan = JournalRepair.PlanRecords("fuzzed", files);
            int bytes = 0;
            JournalInspector.InspectRecords("fuzzed", files, record => bytes += record.Length);
            ThrowUnless(bytes <= input.Length, "records are not longer than their file");
            return plan is { IsNeeded: false, Refusal: null };
        }
    }

    /// <summary>What a start does with the newest segment.</summary>
    private sealed class Segments(StoredSegment file)
    {
        private readonly byte[] _window = new byte[8192];

        public bool Parse(ReadOnlySpan<byte> input)
        {
            if (file.Load(input) is not { } segment)
                return false;
            LogTail found = Find(segment, durableOffset: 0);
            long tail = segment.FilePosition(found.End.Position);
            ThrowUnless(
                tail >= SegmentHeader.PageSize && tail <= file.Length && found.End.Offset >= segment.BaseOffset,
                "a segment's end lies within it"
            );
            if (found.IsCorrupt)
                return false;
            ThrowUnless(
                found.Damaged.All(d => d.Start.Offset < found.DurableOffset && d.Next.Position <= found.End.Position),
                "what is damaged had been synced"
            );
            TailRepair.Cut(file, tail, found.UsedEnd);
            ThrowUnless(
                file.WrittenEnd <= file.Length
                    && !file.Batches[(int)(tail - SegmentHeader.PageSize)..].ContainsAnyExcept((byte)0),
                "behind the end is nothing after a cut"
            );
            LogTail again = Find(segment, found.DurableOffset); // Recovery keeps that in a checkpoint before it cuts.
            ThrowUnless(
                again.End == found.End && again.Damaged.SequenceEqual(found.Damaged),
                "a cut leaves what is before it"
            );
            return true;
        }

        private LogTail Find(Segment segment, long durableOffset)
        {
            var start = new LogEnd(
                segment.BasePosition,
                segment.BaseOffset,
                segment.Header.PreviousTime,
                segment.Header.Ordinal,
                segment.Crc
            );
            return LogTail.Find(new FileWindow(file, _window), segment, start, knownOffset: durableOffset);
        }
    }

    private sealed class RecordJournals(StoredSegment file)
    {
        public bool Parse(ReadOnlySpan<byte> input)
        {
            if (file.Load(input) is not { } segment)
                return false;
            int bytes = 0;
            RecordJournal.Replay("fuzzed", segment, record => bytes += record.Length);
            ThrowUnless(bytes <= input.Length, "records are not longer than their file");
            return true;
        }
    }
}
