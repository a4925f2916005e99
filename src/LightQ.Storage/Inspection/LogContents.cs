using LightQ.Protocol.Batches;
using LightQ.Storage.Files;
using LightQ.Storage.Recovery;
using LightQ.Storage.Segments;

namespace LightQ.Storage.Inspection;

/// <summary>Reads what a survey found: every batch, and what is left of the others.</summary>
internal sealed class LogContents(LogSurvey survey, IFileSystem files)
{
    private const int WindowBytes = 256 * 1024;

    /// <summary>Reads everything, oldest first.</summary>
    /// <param name="onBatch">Gets every batch.</param>
    /// <param name="onHole">Gets every range of bytes that holds no valid batch header; may be null.</param>
    public void Read(StoredBatchVisitor onBatch, Action<RepairLoss>? onHole = null)
    {
        foreach (SurveyedSegment segment in survey.Segments)
        {
            if (segment.File is { } file)
            {
                Read(segment, file, onBatch, onHole);
            }
            else
            {
                onHole?.Invoke(
                    new RepairLoss(
                        segment.Name,
                        segment.Holes[0].Start.Offset,
                        segment.Holes[0].NextOffset - 1,
                        segment.Holes[0].Bytes
                    )
                );
            }
        }
    }

    private void Read(
        SurveyedSegment surveyed,
        FoundSegment file,
        StoredBatchVisitor onBatch,
        Action<RepairLoss>? onHole
    )
    {
        Segment segment = file.Open(files, surveyed.Header);
        try
        {
            var window = new FileWindow(segment.File, WindowBytes);
            Queue<LogHole> holes = new(surveyed.Holes);
            for (long position = segment.BasePosition; position < surveyed.End.Position; )
            {
                while (holes.TryPeek(out LogHole passed) && passed.EndPosition <= position)
                    holes.Dequeue();
                bool isDamaged = holes.TryPeek(out LogHole hole) && hole.Start.Position <= position;
                bool isHeader = BatchScan.TryReadHeader(window, segment, position, segment.Limit, out BatchView header);
                if (isDamaged && (!isHeader || position + header.Length > hole.EndPosition))
                {
                    onHole?.Invoke(
                        new RepairLoss(
                            surveyed.Name,
                            hole.Start.Offset,
                            hole.NextOffset - 1,
                            hole.EndPosition - position
                        )
                    );
                    position = hole.EndPosition;
                    continue;
                }
                if (!isHeader)
                    throw new IOException($"'{file.Path}' changed while it was read.");
                int length = header.Length;
                ReadOnlySpan<byte> bytes = window.Get(
                    segment.FilePosition(position),
                    header.Kind == BatchKind.Gap ? header.HeaderLength : length
                );
                onBatch(surveyed.Name, segment.FilePosition(position), new BatchView(bytes), !isDamaged);
                position += length;
            }
        }
        finally
        {
            segment.Retire();
        }
    }
}
