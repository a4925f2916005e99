using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Storage.Files;
using LightQ.Storage.Recovery;
using LightQ.Storage.Segments;

namespace LightQ.Storage.Inspection;

/// <summary>
/// Reads everything a journal holds, of a broker that does not run, and says what is wrong with it. Changes nothing.
/// </summary>
/// <example>
/// <code>
/// JournalReport report = JournalInspector.Inspect("/var/lib/lightq/topics/4f…/0", topicId: null, Console.Error.WriteLine);
/// </code>
/// </example>
public static class JournalInspector
{
    /// <summary>Whether a directory is a partition's, as far as the names of its files say.</summary>
    public static bool IsJournal(string directory) => IsJournal(directory, PlatformFileSystem.Choose());

    internal static bool IsJournal(string directory, IFileSystem files) =>
        files.Exists(Path.Combine(directory, CheckpointFile.Name)) || FoundSegment.In(directory, files).Count > 0;

    /// <summary>Whether a directory has segments of a partition, which are made with the first message.</summary>
    public static bool HasSegments(string directory) =>
        FoundSegment.In(directory, PlatformFileSystem.Choose()).Count > 0;

    /// <summary>Inspects one partition of a durable topic.</summary>
    /// <param name="directory">Its directory.</param>
    /// <param name="topicId">The topic it must belong to; null takes what its first segment says.</param>
    /// <param name="progress">Gets the name of each segment before it is read; may be null.</param>
    /// <param name="knownBelow">See <see cref="JournalOptions.KnownBelow"/>.</param>
    /// <exception cref="IOException">The disk refuses to read.</exception>
    public static JournalReport Inspect(
        string directory,
        Guid? topicId = null,
        Action<string>? progress = null,
        Func<uint, long>? knownBelow = null
    ) => Inspect(directory, topicId, PlatformFileSystem.Choose(), progress, knownBelow).Report;

    /// <summary>Inspects a journal of records: the catalog, or the groups' positions.</summary>
    /// <param name="directory">Its directory.</param>
    /// <param name="replay">Gets every record that is valid; may be null.</param>
    /// <exception cref="IOException">
    /// The disk refuses to read; <see cref="JournalCorruptException"/> for a record that is whole and cannot be read,
    /// with <paramref name="replay"/>.
    /// </exception>
    public static JournalReport InspectRecords(string directory, RecordReplay? replay = null) =>
        InspectRecords(directory, PlatformFileSystem.Choose(), replay);

    /// <summary>Whether a directory has, or had, a journal of records.</summary>
    /// <param name="directory">The directory, which may be gone.</param>
    public static bool WasMade(string directory) => File.Exists(RecordEnd.PathOf(directory)) || IsJournal(directory);

    /// <summary>What is damaged or missing of a journal of records, for people; null when nothing is.</summary>
    /// <param name="directory">Its directory; one that was never made is no damage.</param>
    /// <exception cref="IOException">The disk refuses to read.</exception>
    public static string? FindRecordDamage(string directory)
    {
        IFileSystem files = PlatformFileSystem.Choose();
        if (!WasMade(directory))
            return null;
        return InspectRecords(directory, files)
            .Report.Findings.FirstOrDefault(f => f.Kind == FindingKind.Damage)
            ?.Detail;
    }

    /// <summary>Reads the batches of a journal of records, each of one record.</summary>
    /// <param name="directory">Its directory.</param>
    /// <param name="onBatch">Gets every batch, oldest first.</param>
    public static void ReadRecords(string directory, StoredBatchVisitor onBatch)
    {
        IFileSystem files = PlatformFileSystem.Choose();
        new LogContents(InspectRecords(directory, files).Survey, files).Read(onBatch);
    }

    internal static JournalReport InspectRecords(string directory, IFileSystem files, RecordReplay? replay)
    {
        (LogSurvey survey, JournalReport report) = InspectRecords(directory, files);
        if (replay is null)
            return report;
        new LogContents(survey, files).Read(
            (file, position, batch, isValid) =>
            {
                if (!isValid || batch.Kind != BatchKind.Data)
                    return;
                try
                {
                    foreach (RecordView record in batch.Records)
                        replay(record.Body);
                }
                catch (ProtocolException e)
                {
                    throw new JournalCorruptException(
                        directory,
                        file,
                        position,
                        batch.BaseOffset,
                        batch.NextOffset - 1,
                        e.Message.TrimEnd('.')
                    );
                }
            }
        );
        return report;
    }

    /// <summary>Reads the batches of a partition.</summary>
    /// <param name="directory">Its directory.</param>
    /// <param name="topicId">The topic it must belong to; null takes what its first segment says.</param>
    /// <param name="onBatch">Gets every batch, oldest first.</param>
    /// <param name="onHole">Gets every range that holds no batch; may be null.</param>
    public static JournalReport Read(
        string directory,
        Guid? topicId,
        StoredBatchVisitor onBatch,
        Action<RepairLoss>? onHole = null
    )
    {
        IFileSystem files = PlatformFileSystem.Choose();
        (LogSurvey survey, JournalReport report) = Inspect(directory, topicId, files, null);
        new LogContents(survey, files).Read(onBatch, onHole);
        return report;
    }

    internal static (LogSurvey Survey, JournalReport Report) Inspect(
        string directory,
        Guid? topicId,
        IFileSystem files,
        Action<string>? progress,
        Func<uint, long>? knownBelow = null
    )
    {
        var findings = new List<JournalFinding>();
        Checkpoint? checkpoint = null;
        string? refusal = null;
        try
        {
            checkpoint = ReadCheckpoint(directory, files, findings);
        }
        catch (JournalFormatException e)
        {
            refusal = e.Message;
        }
        (uint epoch, string? epochRefusal) = ReadEpoch(directory, files, findings);
        LogSurvey survey = LogSurvey.OfJournal(
            directory,
            files,
            checkpoint,
            topicId,
            knownBelow,
            epoch,
            progress ?? (static _ => { })
        );
        if (refusal is not null)
        {
            survey.Refuse(CheckpointFile.Name, refusal);
        }
        else if (
            checkpoint is null
            && survey.Segments.Count > 0
            && !findings.Exists(f => f.File == CheckpointFile.Name)
        )
        {
            findings.Add(
                new JournalFinding(
                    FindingKind.Damage,
                    CheckpointFile.Name,
                    0,
                    -1,
                    -1,
                    "there is none, so nothing vouches for the log's end"
                )
            );
        }

        if (epochRefusal is not null)
            survey.Refuse(EpochFile.Name, epochRefusal);
        findings.AddRange(survey.Findings);
        return (survey, ReportOf(directory, survey, findings));
    }

    /// <summary>The last epoch of the file of them, 0 for none, and why it must not be touched.</summary>
    private static (uint Epoch, string? Refusal) ReadEpoch(
        string directory,
        IFileSystem files,
        List<JournalFinding> findings
    )
    {
        try
        {
            if (EpochFile.Read(files, directory) is { } epochs)
                return (epochs.Count > 0 ? epochs[^1].Epoch : 0, null);
        }
        catch (JournalFormatException e)
        {
            return (0, e.Message);
        }
        findings.Add(
            new JournalFinding(
                FindingKind.Note,
                EpochFile.Name,
                0,
                -1,
                -1,
                "the file is not valid; the next start rebuilds it from the batches"
            )
        );
        return (0, null);
    }

    internal static (LogSurvey Survey, JournalReport Report) InspectRecords(string directory, IFileSystem files)
    {
        List<FoundSegment> generations = FoundSegment.In(directory, files);
        RecordEnd? noted = RecordEnd.Read(files, directory, out _);
        // The newest generation is all there is; an older one is left from a stop in the middle of a compaction.
        if (generations.Count == 0)
        {
            LogSurvey none = LogSurvey.OfJournal(directory, files, null, null, null, 0, static _ => { });
            if (noted?.FindLoss(null, null) is not { } gone)
                throw new FileNotFoundException($"'{directory}' holds no journal.");
            none.Refuse(
                SegmentName.Of(noted.Value.Generation, SegmentName.Log),
                $"{gone}. Put it back from a copy, or remove '{RecordEnd.PathOf(directory)}' and begin without it"
            );
            return (none, ReportOf(directory, none, [.. none.Findings]));
        }
        LogSurvey survey = LogSurvey.OfRecords(directory, files, generations[^1], static _ => { });
        if (noted is { } note && note.FindLoss(survey.End, CrcAt(survey, files, note.Offset)) is { } loss)
            survey.LoseEnd(note.Offset, loss);
        var findings = survey.Findings.ToList();
        if (RecordEnd.FindLack(directory, noted, survey.End.Offset) is { } lack)
        {
            findings.Add(
                new JournalFinding(
                    FindingKind.Note,
                    generations[^1].Name,
                    0,
                    -1,
                    -1,
                    $"the next start makes anew {lack}"
                )
            );
        }
        return (survey, ReportOf(directory, survey, findings));
    }

    /// <summary>The checksum to which a record at an offset refers, or the next one would.</summary>
    private static uint? CrcAt(LogSurvey survey, IFileSystem files, long offset)
    {
        if (survey.End.Offset == offset)
            return survey.End.ChainCrc;
        uint? crc = null;
        new LogContents(survey, files).Read(
            (_, _, batch, isValid) =>
            {
                if (isValid && batch.BaseOffset == offset)
                    crc = batch.PreviousCrc;
            }
        );
        return crc;
    }

    private static JournalReport ReportOf(string directory, LogSurvey survey, IReadOnlyList<JournalFinding> findings)
    {
        long start = survey.Segments.Count > 0 ? survey.Segments[0].Header.BaseOffset : survey.End.Offset;
        return new JournalReport
        {
            Directory = directory,
            TopicId = survey.Identity.TopicId,
            Epoch = Math.Max(
                survey.Checkpoint?.Epoch ?? 0,
                survey.Segments.Count > 0 ? survey.Segments.Max(s => s.Header.Epoch) : 0
            ),
            Segments = survey.Segments.Count(s => s.File is not null),
            Batches = survey.Tally.Batches,
            Messages = survey.Tally.Messages,
            Bytes = survey.Tally.Bytes,
            StartOffset = Math.Max(survey.Checkpoint?.StartOffset ?? 0, start),
            EndOffset = survey.End.Offset,
            Findings = findings,
        };
    }

    private static Checkpoint? ReadCheckpoint(string directory, IFileSystem files, List<JournalFinding> findings)
    {
        string path = Path.Combine(directory, CheckpointFile.Name);
        if (!files.Exists(path))
            return null;
        using IStorageFile file = files.Open(path, OpenMode.Read);
        Checkpoint? newest = CheckpointFile.ReadNewest(file, out bool hasDamagedSlot);
        if (newest is null)
        {
            findings.Add(
                new JournalFinding(
                    FindingKind.Damage,
                    CheckpointFile.Name,
                    0,
                    -1,
                    -1,
                    "neither of its two slots is valid, so nothing vouches for the log's end"
                )
            );
        }
        else if (hasDamagedSlot)
        {
            findings.Add(
                new JournalFinding(
                    FindingKind.Note,
                    CheckpointFile.Name,
                    0,
                    -1,
                    -1,
                    "one of its two slots is not valid; the other counts"
                )
            );
        }

        return newest;
    }
}
