using LightQ.Protocol.Batches;
using LightQ.Storage;

namespace LightQ.Tests.Storage.Faults;

/// <summary>Reads a journal as a consumer does.</summary>
internal static class LogContent
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    /// <summary>Every batch from the start to the end, and every gap.</summary>
    public static (List<(long Offset, byte[] Bytes)> Batches, List<LogGap> Gaps) Read(Journal journal)
    {
        var batches = new List<(long, byte[])>();
        var gaps = new List<LogGap>();
        using var ready = new ManualResetEventSlim();
        using var reader = new JournalReader(journal, ready.Set);
        while (true)
        {
            ready.Reset();
            switch (reader.TryRead(64 * 1024, out LogRun run))
            {
                case ReadResult.Run:
                    foreach (BatchView batch in new BatchRun(run.Span))
                        batches.Add((batch.BaseOffset, batch.Bytes.ToArray()));
                    reader.Advance();
                    break;
                case ReadResult.Gap:
                    gaps.Add(reader.Gap);
                    break;
                case ReadResult.Pending:
                    if (!ready.Wait(Limit))
                        throw new TimeoutException("The reader was not called in time.");
                    break;
                case ReadResult.Failed:
                    throw reader.Error!;
                default:
                    return (batches, gaps);
            }
        }
    }

    /// <summary>Whether what was delivered is what was published: the stamp aside, the same bytes.</summary>
    public static bool IsSame(ReadOnlySpan<byte> published, ReadOnlySpan<byte> delivered)
    {
        Span<byte> header = stackalloc byte[BatchLayout.HeaderSize];
        if (
            published.Length != delivered.Length
            || !published[BatchLayout.HeaderSize..].SequenceEqual(delivered[BatchLayout.HeaderSize..])
        )
        {
            return false;
        }

        published[..BatchLayout.HeaderSize].CopyTo(header);
        var view = new BatchView(delivered);
        BatchWriter.Stamp(
            header,
            new BatchStamp(
                view.BaseOffset,
                view.AppendTime,
                view.LeaderEpoch,
                view.PreviousCrc,
                view.DurableBack,
                view.Mac
            )
        );
        return header.SequenceEqual(delivered[..BatchLayout.HeaderSize]);
    }
}
