using System.Globalization;
using System.Text;
using LightQ.Storage.Files;
using LightQ.Storage.Recovery;
using LightQ.Storage.Segments;

namespace LightQ.Storage.Inspection;

/// <summary>
/// Makes a damaged journal whole again: what is lost becomes a gap, what is valid stays at its offset.
/// </summary>
/// <remarks>
/// Every damaged file is copied to <c>quarantine</c> first. Every segment is written anew beside the old one, synced
/// and renamed, so a crash at any moment leaves each segment as it was or as it should be, and the next repair does the
/// rest. The checkpoint stays true throughout: a gap ends exactly where the checkpoint and the next segment say. The
/// checkpoint is left as after an unclean stop, so that the next start raises the epoch.
/// </remarks>
/// <example>
/// <code>
/// JournalRepair repair = JournalRepair.Plan(directory);
/// if (repair.IsNeeded &amp;&amp; repair.Refusal is null)
///     repair.Execute(DateTimeOffset.UtcNow);
/// </code>
/// </example>
public sealed class JournalRepair
{
    private readonly IFileSystem _files;
    private readonly LogSurvey _survey;
    private readonly bool _hasCheckpoint;
    private readonly string _directory;

    private JournalRepair(
        string directory,
        IFileSystem files,
        LogSurvey survey,
        JournalReport report,
        bool hasCheckpoint
    )
    {
        _directory = directory;
        _files = files;
        _survey = survey;
        _hasCheckpoint = hasCheckpoint;
        Report = report;
        Losses =
        [
            .. survey.Segments.SelectMany(s =>
                s.Holes.Select(h => new RepairLoss(s.Name, h.Start.Offset, h.NextOffset - 1, h.Bytes))
            ),
            .. survey.LostEnd is { } end ? [end] : Array.Empty<RepairLoss>(),
        ];
        Refusal =
            survey.Refusal
            ?? (
                survey
                    .Segments.SelectMany(s => s.Holes)
                    .Any(h => h.Bytes > int.MaxValue || h.Offsets is <= 0 or > uint.MaxValue)
                    ? "A damaged range contradicts what surrounds it; restore the file from a copy."
                    : null
            );
    }

    /// <summary>What is wrong.</summary>
    public JournalReport Report { get; }

    /// <summary>What will be lost.</summary>
    public IReadOnlyList<RepairLoss> Losses { get; }

    /// <summary>Why it cannot be repaired; null when it can.</summary>
    public string? Refusal { get; }

    /// <summary>Whether there is anything to do.</summary>
    public bool IsNeeded => Report.IsDamaged;

    /// <summary>What will be done, in order, for people.</summary>
    public IReadOnlyList<string> Steps => [.. DescribeSteps()];

    /// <summary>Plans the repair of a partition. Changes nothing.</summary>
    /// <param name="directory">Its directory.</param>
    /// <param name="topicId">The topic it must belong to; null takes what its first segment says.</param>
    /// <param name="progress">Gets the name of each segment before it is read; may be null.</param>
    /// <param name="knownBelow">See <see cref="JournalOptions.KnownBelow"/>.</param>
    public static JournalRepair Plan(
        string directory,
        Guid? topicId = null,
        Action<string>? progress = null,
        Func<uint, long>? knownBelow = null
    ) => Plan(directory, topicId, PlatformFileSystem.Choose(), progress, knownBelow);

    /// <summary>
    /// Plans the repair of a journal of records: the catalog, or the groups' positions. Changes nothing.
    /// </summary>
    /// <param name="directory">Its directory.</param>
    public static JournalRepair PlanRecords(string directory) => PlanRecords(directory, PlatformFileSystem.Choose());

    internal static JournalRepair Plan(
        string directory,
        Guid? topicId,
        IFileSystem files,
        Action<string>? progress = null,
        Func<uint, long>? knownBelow = null
    )
    {
        (LogSurvey survey, JournalReport report) = JournalInspector.Inspect(
            directory,
            topicId,
            files,
            progress,
            knownBelow
        );
        return new JournalRepair(directory, files, survey, report, hasCheckpoint: true);
    }

    internal static JournalRepair PlanRecords(string directory, IFileSystem files)
    {
        (LogSurvey survey, JournalReport report) = JournalInspector.InspectRecords(directory, files);
        return new JournalRepair(directory, files, survey, report, hasCheckpoint: false);
    }

    /// <summary>Does it.</summary>
    /// <param name="now">For the report's name.</param>
    /// <returns>The report's path.</returns>
    /// <exception cref="InvalidOperationException">It is refused, or there is nothing to do.</exception>
    /// <exception cref="IOException">
    /// The disk refuses; what was done is whole, and the repair can be run again.
    /// </exception>
    public string Execute(DateTimeOffset now)
    {
        if (Refusal is not null || !IsNeeded)
            throw new InvalidOperationException(Refusal ?? "There is nothing to repair.");
        IReadOnlyList<string> steps = Steps;
        var quarantine = new Quarantine(_directory, _files);
        foreach (FoundSegment stray in _survey.Strays)
        {
            quarantine.Keep(stray.Path);
            _files.Delete(stray.Path);
        }
        for (int i = 0; i < _survey.Segments.Count; i++)
        {
            SurveyedSegment segment = _survey.Segments[i];
            if (!segment.NeedsRepair)
                continue;
            if (segment.File is { } file && _files.Exists(file.Path))
                quarantine.Keep(file.Path);
            long next = i + 1 < _survey.Segments.Count ? _survey.Segments[i + 1].FileBytes : 0;
            RepairedSegment.Write(_directory, _files, segment, Report.Epoch, _hasCheckpoint ? next : null);
        }
        if (_hasCheckpoint)
            WriteState();
        else
            ForgetEnd();
        return quarantine.WriteReport(now, ReportText(now, steps));
    }

    /// <summary>The last step: the next start notes the end that there is now.</summary>
    private void ForgetEnd()
    {
        string noted = RecordEnd.PathOf(_directory);
        _files.Delete(noted);
        _files.SyncDirectory(Path.GetDirectoryName(noted)!);
    }

    private void WriteState()
    {
        SegmentHeader first = _survey.Segments.Count > 0 ? _survey.Segments[0].Header : _survey.Identity;
        Checkpoint state =
            _survey.Checkpoint
            ?? new Checkpoint(
                0,
                first.Incarnation,
                first.BaseOffset,
                _survey.End,
                Report.Epoch,
                Clean: false,
                first.Key
            );
        CheckpointFile checkpoints = CheckpointFile.Open(_files, _directory, out _, out _);
        // What groups know of this epoch, they know of what is lost with its end.
        uint epoch = _survey.LosesEnd ? Report.Epoch + 1 : state.Epoch;
        checkpoints.Write(state with { Clean = false, IsBegun = false, Epoch = epoch });
    }

    private IEnumerable<string> DescribeSteps()
    {
        foreach (FoundSegment stray in _survey.Strays)
            yield return $"move {stray.Name} to {Quarantine.Name}";
        foreach (SurveyedSegment segment in _survey.Segments.Where(s => s.NeedsRepair))
        {
            if (segment.File is not null)
                yield return $"copy {segment.Name} to {Quarantine.Name}";
            yield return segment.File is null ? $"make {segment.Name} anew"
            : segment.NeedsHeader ? $"write {segment.Name} anew with the header page it had"
            : $"write {segment.Name} anew";
            foreach (LogHole hole in segment.Holes)
                yield return $"put a gap over offsets {hole.Start.Offset} to {hole.NextOffset - 1} in {segment.Name}";
        }
        if (_survey.LosesEnd)
        {
            yield return _hasCheckpoint
                ? $"end the log at offset {_survey.End.Offset}: what was behind is lost, however much it was, and its "
                    + "offsets are given again, in another epoch"
                : $"let the journal end at record {_survey.End.Offset}";
        }
        if (_hasCheckpoint)
            yield return "mark the stop as unclean: the next start raises the epoch";
    }

    private string ReportText(DateTimeOffset now, IReadOnlyList<string> steps)
    {
        var text = new StringBuilder();
        text.Append(CultureInfo.InvariantCulture, $"Repair of {_directory} at {now:u}\n\nFound:\n");
        foreach (JournalFinding finding in Report.Findings)
        {
            text.Append(
                CultureInfo.InvariantCulture,
                $"  {finding.Kind}: {finding.File} at byte {finding.Position}, offsets {finding.FirstOffset} to "
                    + $"{finding.LastOffset}: {finding.Detail}\n"
            );
        }

        text.Append("\nLost:\n");
        foreach (RepairLoss loss in Losses)
        {
            text.Append(
                CultureInfo.InvariantCulture,
                $"  offsets {loss.FirstOffset} to {loss.LastOffset} ({loss.Bytes} bytes) in {loss.File}\n"
            );
        }

        text.Append("\nDone:\n");
        foreach (string step in steps)
            text.Append("  ").Append(step).Append('\n');
        return text.ToString();
    }
}
