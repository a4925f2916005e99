using LightQ.Client;
using LightQ.Protocol.Batches;
using LightQ.Storage;
using LightQ.Storage.Inspection;
using Xunit;

namespace LightQ.Tests.Storage.Inspection;

/// <summary>
/// A journal of many small segments whose batch n has the number n, to be damaged, inspected and repaired.
/// </summary>
internal sealed class InspectedJournal : IAsyncDisposable
{
    private static readonly DateTimeOffset Now = new(2026, 1, 2, 3, 4, 5, TimeSpan.Zero);

    private InspectedJournal(JournalHost host) => Host = host;

    public JournalHost Host { get; }

    public string Directory => Host.Options.Directory;

    /// <summary>Segments that hold batches, oldest first.</summary>
    public string[] Segments =>
        [.. Host.FileNames("*.seg").Where(n => new BatchView(Bytes(n).AsSpan(4096)).Length > 0)];

    public static async Task<InspectedJournal> MakeAsync(
        int batches = 500,
        bool clean = true,
        Func<JournalOptions, JournalOptions>? shape = null
    )
    {
        var journal = new InspectedJournal(new JournalHost(shape));
        journal.Host.Open();
        for (int i = 0; i < batches; i += 5)
            journal.Host.AppendDurable(i, Math.Min(5, batches - i));
        await (clean ? journal.Host.CloseAsync() : journal.Host.KillAsync());
        return journal;
    }

    public byte[] Bytes(string name) => File.ReadAllBytes(Host.PathOf(name));

    public void Change(string name, Action<byte[]> change)
    {
        byte[] bytes = Bytes(name);
        change(bytes);
        File.WriteAllBytes(Host.PathOf(name), bytes);
    }

    /// <summary>Where the batches of a segment are in its file.</summary>
    public List<(int Position, int Length, long BaseOffset, long NextOffset)> Batches(string name)
    {
        var found = new List<(int, int, long, long)>();
        byte[] bytes = Bytes(name);
        long expected = -1;
        for (int at = 4096; at + BatchLayout.HeaderSize <= bytes.Length; )
        {
            var batch = new BatchView(bytes.AsSpan(at));
            if (batch.Length < BatchLayout.HeaderSize || (expected >= 0 && batch.BaseOffset != expected))
                break;
            expected = batch.NextOffset;
            found.Add((at, batch.Length, batch.BaseOffset, batch.NextOffset));
            at += batch.Length;
        }
        return found;
    }

    public JournalReport Inspect() => JournalInspector.Inspect(Directory, Host.Options.TopicId);

    public JournalRepair Plan() => JournalRepair.Plan(Directory, Host.Options.TopicId);

    /// <summary>
    /// Repairs and checks what must hold after every repair: the journal is whole, opens, and gives everything but what
    /// was named, each at its offset.
    /// </summary>
    /// <returns>The gaps that a reader got.</returns>
    public async Task<List<LogGap>> RepairAsync(int batches)
    {
        JournalRepair repair = Plan();
        Assert.True(repair.IsNeeded);
        Assert.Null(repair.Refusal);
        Assert.True(File.Exists(repair.Execute(Now)));
        JournalReport after = Inspect();
        Assert.DoesNotContain(after.Findings, f => f.Kind == FindingKind.Damage);
        Journal journal = Host.Open();
        List<LogGap> gaps = ReadAll(journal.StartOffset, batches);
        Host.AppendDurable(10_000, 50);
        await Host.KillAsync();
        Assert.DoesNotContain(Inspect().Findings, f => f.Kind == FindingKind.Damage);
        return gaps;
    }

    /// <summary>Reads everything; batch n must have offset n unless a gap has it.</summary>
    public List<LogGap> ReadAll(long from, int batches)
    {
        var gaps = new List<LogGap>();
        using JournalReader reader = Host.Reader(from);
        long expected = from;
        while (Host.Next(reader, 4096, out LogRun run) is var result && result != ReadResult.AtEnd)
        {
            if (result == ReadResult.Gap)
            {
                Assert.Equal(expected, reader.Gap.FirstOffset);
                expected = reader.Gap.LastOffset + 1;
                gaps.Add(reader.Gap);
                continue;
            }
            Assert.Equal(ReadResult.Run, result);
            foreach (BatchView batch in new BatchRun(run.Span))
            {
                Assert.Equal(expected, batch.BaseOffset);
                Assert.Equal(expected, TestBatch.NumberOf(batch));
                expected = batch.NextOffset;
            }
            reader.Advance();
        }
        Assert.Equal(batches, expected);
        return gaps;
    }

    public static LogGap Lost(long first, long last) => new(first, last, GapReason.Corrupt);

    public ValueTask DisposeAsync() => Host.DisposeAsync();
}
