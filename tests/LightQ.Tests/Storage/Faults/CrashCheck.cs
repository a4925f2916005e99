using System.Text;
using LightQ.Protocol.Batches;
using LightQ.Storage;
using LightQ.Storage.Segments;
using LightQ.Storage.State;

namespace LightQ.Tests.Storage.Faults;

/// <summary>Starts on a disk that a crash left, with the real code, and compares with what clients were told.</summary>
internal sealed class CrashCheck(CrashKind kind, Action<string> violation)
{
    /// <summary>Opens what must be there, reads all of it and leaves it open.</summary>
    /// <returns>The journal; null when none can be expected.</returns>
    public Journal? OpenJournal(
        SimulatedFileSystem files,
        JournalEnvironment environment,
        JournalOptions options,
        JournalView view
    )
    {
        if (
            view.Phase == JournalPhase.Gone
            && (files.HasEntries(options.Directory) || files.List(options.Directory).Count > 0)
        )
        {
            violation($"{options.Directory}: deleted, and still there");
        }

        if (view.Phase != JournalPhase.There)
            return null;
        var producers = new ProducerState();
        Journal journal;
        try
        {
            journal = Journal.Open(options, environment, producers);
        }
        catch (IOException error)
        {
            violation($"{options.Directory}: does not open: {error.Message}");
            return null;
        }
        Check(journal, view, message => violation($"{options.Directory}: {message}"));
        CheckProducers(producers, journal, view, message => violation($"{options.Directory}: {message}"));
        return journal;
    }

    /// <summary>Opens the catalog and reads its records.</summary>
    public RecordJournal? OpenRecords(
        JournalEnvironment environment,
        string directory,
        Func<IReadOnlyList<string>, bool> allowed
    )
    {
        var records = new List<string>();
        try
        {
            var journal = RecordJournal.Open(
                directory,
                environment,
                record => records.Add(Encoding.UTF8.GetString(record))
            );
            if (!allowed(records))
            {
                violation(
                    $"{directory}: records are neither the acknowledged ones nor those being written: {records.Count} "
                        + $"[{string.Join(", ", records.TakeLast(3).Select(Short))}]"
                );
            }

            return journal;
        }
        catch (IOException error)
        {
            violation($"{directory}: does not open: {error.Message}");
            return null;
        }
    }

    /// <summary>Opens the store of positions and looks at every key.</summary>
    public OffsetStore? OpenPositions(
        JournalEnvironment environment,
        string directory,
        IEnumerable<OffsetKey> keys,
        Func<OffsetKey, long, bool> allowed
    )
    {
        try
        {
            var store = OffsetStore.Open(directory, environment);
            foreach (OffsetKey key in keys)
            {
                if (!store.TryGet(key, out long offset, out _))
                    offset = -1;
                if (!allowed(key, offset))
                    violation($"{directory}: {key} is at {offset}, which was neither flushed nor set since");
            }
            return store;
        }
        catch (IOException error)
        {
            violation($"{directory}: does not open: {error.Message}");
            return null;
        }
    }

    private void Check(Journal journal, JournalView view, Action<string> wrong)
    {
        (long start, long end) = (journal.StartOffset, journal.EndOffset);
        long acknowledged = kind == CrashKind.All ? Math.Max(view.Written, view.Durable) : view.Durable;
        if (end < acknowledged)
            wrong($"ends at {end}; {acknowledged} was acknowledged");
        if (end > view.End)
            wrong($"ends at {end}; only {view.End} was ever appended");
        // What was removed before it was durable may be cut off altogether.
        if (start < Math.Min(view.StartAtLeast, end) || start > Math.Max(view.StartAtMost, view.StartAtLeast))
            wrong($"starts at {start} and ends at {end}; {view.StartAtLeast} to {view.StartAtMost} would be right");
        // What was never written nobody can have read.
        long seen = Math.Max(view.Written, view.Durable);
        if (journal.LeaderEpoch < view.Epoch || (end < seen && journal.LeaderEpoch == view.Epoch && view.Epoch != 0))
            wrong($"epoch {journal.LeaderEpoch} after {view.Epoch}, with {seen - end} offsets to be used again");

        if (journal.LeaderEpoch > view.Epoch && journal.Log.Segments.Last is { } last && HasBytesBehind(last))
            wrong("has bytes behind its end, which a later start could take for batches");
        (List<(long Offset, byte[] Bytes)> batches, List<LogGap> gaps) = LogContent.Read(journal);
        if (gaps.Count > 0)
            wrong($"has a gap: {gaps[0]}");
        int expected = view.Batches.FindIndex(batch => batch.NextOffset > start);
        foreach ((long offset, byte[] bytes) in batches)
        {
            if (expected < 0 || expected == view.Batches.Count)
            {
                wrong($"holds a batch at {offset} that nobody appended");
                return;
            }
            ModelBatch published = view.Batches[expected++];
            if (published.BaseOffset != offset || !LogContent.IsSame(published.Bytes, bytes))
            {
                wrong(
                    $"has at {offset} something else than batch {published.Number}, appended at {published.BaseOffset}"
                );
                return;
            }
        }
        long read = batches.Count == 0 ? start : new BatchView(batches[^1].Bytes).NextOffset;
        if (read != end)
            wrong($"can be read to {read} and ends at {end}");
    }

    private static bool HasBytesBehind(Segment segment)
    {
        byte[] behind = new byte[segment.Limit - segment.EndPosition];
        int read = segment.File.Read(behind, segment.FilePosition(segment.EndPosition));
        return behind.AsSpan(0, read).ContainsAnyExcept((byte)0);
    }

    private static void CheckProducers(ProducerState state, Journal journal, JournalView view, Action<string> wrong)
    {
        foreach (
            IGrouping<ulong, ModelBatch> group in view
                .Batches.Where(batch => batch.BaseOffset < journal.EndOffset)
                .GroupBy(batch => batch.Producer)
        )
        {
            ModelBatch last = group.Last();
            bool known = state.LastNumbers.TryGetValue(group.Key, out int number);
            if (known ? number != last.Number : last.BaseOffset >= journal.StartOffset)
                wrong($"producer {group.Key} is taken to be at {number}, and was at {last.Number}");
        }
    }

    private static string Short(string text) => text.Length <= 20 ? text : text[..20];
}
