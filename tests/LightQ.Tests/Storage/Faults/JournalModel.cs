using LightQ.Protocol.Batches;
using LightQ.Storage;
using Xunit;

namespace LightQ.Tests.Storage.Faults;

/// <summary>
/// The log that a journal's clients keep: what they appended and what they were told, and when in terms of the disk's
/// changes.
/// </summary>
/// <remarks>What is told between two changes was true at the first: a crash there must honour it.</remarks>
internal sealed class JournalModel(SimulatedFileSystem files, JournalOptions options) : IJournalListener
{
    private readonly List<(int At, Action<JournalView> Change)> _told = [];
    private Dictionary<ulong, int> _lastNumbers = [];
    private readonly List<ModelBatch> _outstanding = [];
    private int _number;

    public JournalOptions Options => options with { ProducerSnapshot = SaveProducers };

    public Journal? Journal { get; private set; }

    public bool WasToldOfFailure { get; private set; }

    public bool IsOpen => Journal is not null;

    /// <summary>What holds for a crash after so many changes.</summary>
    public JournalView ViewAt(int now)
    {
        var view = new JournalView();
        lock (_told)
        {
            foreach ((int at, Action<JournalView> change) in _told)
            {
                if (at <= now)
                    change(view);
            }
        }
        return view;
    }

    public void Open(JournalEnvironment environment)
    {
        Tell(view => view.Phase = JournalPhase.There);
        var producers = new ProducerState();
        Journal = Journal.Open(Options, environment, producers, this);
        Journal.NotifyWritten = true;
        (long end, uint epoch) = (Journal.EndOffset, Journal.LeaderEpoch);
        _outstanding.Clear();
        _lastNumbers = producers.LastNumbers;
        Tell(view =>
        {
            view.Cut(end);
            (view.Durable, view.Written, view.Epoch) = (end, end, Math.Max(view.Epoch, epoch));
        });
    }

    /// <summary>Appends one batch; the writer is not woken.</summary>
    public void Append(Random random)
    {
        int number = ++_number;
        ulong producer = (ulong)random.Next(1, 4);
        byte[] bytes = TestBatch.Make(
            number,
            random.Next(4) == 0 ? random.Next(8, 2000) : random.Next(8, 300),
            random.Next(1, 3),
            producer
        );
        Append(bytes, producer, number);
    }

    /// <summary>Appends one batch of a producer; nothing happens when the journal has failed.</summary>
    public void Append(int bodyBytes)
    {
        int number = ++_number;
        Append(TestBatch.Make(number, bodyBytes, 1, 1), 1, number);
    }

    public void Append(byte[] bytes, ulong producer, int number)
    {
        AppendResult result = Journal!.TryAppend(bytes, out long offset, out long position);
        if (result == AppendResult.Failed && Journal.Failure is not null)
            return;
        Assert.Equal(AppendResult.Appended, result);
        _lastNumbers[producer] = number;
        var batch = new ModelBatch(bytes, producer, number, offset, offset + new BatchView(bytes).OffsetSpan, position);
        lock (_outstanding)
            _outstanding.Add(batch);
        Tell(view =>
        {
            view.Cut(offset);
            view.Batches.Add(batch);
        });
    }

    public void Truncate(long offset)
    {
        Tell(view => view.StartAtMost = Math.Max(view.StartAtMost, offset));
        Journal!.TruncateBefore(offset);
        Tell(view => view.StartAtLeast = Math.Max(view.StartAtLeast, offset));
    }

    /// <summary>Lets retention move the start.</summary>
    public void Keep(Action housekeeping)
    {
        long end = Journal!.EndOffset;
        Tell(view => view.StartAtMost = Math.Max(view.StartAtMost, end));
        housekeeping();
        long start = Journal.StartOffset;
        Tell(view => view.StartAtLeast = Math.Max(view.StartAtLeast, start));
    }

    public void Close(bool abandon)
    {
        Journal journal = Journal!;
        Journal = null;
        (abandon ? journal.AbandonAsync() : journal.CloseAsync()).GetAwaiter().GetResult();
        if (abandon)
            return;
        long end = journal.EndOffset;
        Tell(view => (view.Durable, view.Written) = (end, end));
    }

    public void Delete()
    {
        Journal journal = Journal!;
        Journal = null;
        Tell(view => view.Phase = JournalPhase.Going);
        journal.DeleteAsync().GetAwaiter().GetResult();
        Tell(view => view.Phase = JournalPhase.Gone);
    }

    public void OnProgress(Journal journal)
    {
        (long written, long durable) = (journal.WrittenPosition, journal.DurablePosition);
        long writtenOffset = 0,
            durableOffset = 0;
        lock (_outstanding)
        {
            foreach (ModelBatch batch in _outstanding)
            {
                if (batch.EndPosition <= written)
                    writtenOffset = batch.NextOffset;
                if (batch.EndPosition <= durable)
                    durableOffset = batch.NextOffset;
            }
            _outstanding.RemoveAll(batch => batch.EndPosition <= durable);
        }
        Tell(view =>
        {
            view.Written = Math.Max(view.Written, writtenOffset);
            view.Durable = Math.Max(view.Durable, durableOffset);
        });
    }

    public void OnFailed(Journal journal) => WasToldOfFailure = true;

    public void OnRested(Journal journal) => journal.TryReleaseMemory();

    public void OnDamaged(Journal journal, JournalDamage damage) => WasToldOfFailure = true;

    private void Tell(Action<JournalView> change)
    {
        lock (_told)
            _told.Add((files.Now, change));
    }

    private byte[] SaveProducers() => ProducerState.Save(_lastNumbers);
}
