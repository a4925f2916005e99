using LightQ.Protocol.Batches;
using LightQ.Storage;
using Xunit;

namespace LightQ.Tests.Storage.Faults;

/// <summary>A journal that was started on what a crash left, and what its clients were told from then on.</summary>
internal sealed class SecondLife(JournalOptions options, JournalView before, CrashKind kind, SimulatedFileSystem files)
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    private readonly JournalView _before = before;
    private readonly List<ModelBatch> _added = [];
    private long _recoveredEnd;
    private long _recoveredStart;
    private uint _epoch;
    private int _openedAt = int.MaxValue;
    private int _keptAt = int.MaxValue;

    public JournalOptions Options { get; } = options with { ProducerSnapshot = null };

    /// <summary>Starts, checks, appends a little, and is killed.</summary>
    public void Use(CrashCheck check, JournalEnvironment environment, Random random)
    {
        Journal? journal = check.OpenJournal(files, environment, Options, _before);
        if (journal is null)
            return;
        _openedAt = files.Now;
        (_recoveredStart, _recoveredEnd, _epoch) = (journal.StartOffset, journal.EndOffset, journal.LeaderEpoch);
        for (int i = random.Next(1, 4); i > 0; i--)
        {
            int number = 1_000_000 + i;
            byte[] bytes = TestBatch.Make(number, random.Next(8, 1500), 1, producerId: 9);
            Assert.Equal(AppendResult.Appended, journal.TryAppend(bytes, out long offset, out long position));
            _added.Add(new ModelBatch(bytes, 9, number, offset, offset + new BatchView(bytes).OffsetSpan, position));
        }
        journal.Signal();
        bool flushes = Options.Flush == LightQ.Client.Durability.Fsync;
        if (
            !SpinWait.SpinUntil(
                () => journal.IsIdle && (journal.WrittenOffset == journal.EndOffset || journal.Failure is not null),
                Limit
            ) || journal.Failure is not null
        )
        {
            throw new InvalidOperationException(
                $"The journal in '{Options.Directory}' did not write: {journal.Failure?.Reason}",
                journal.Failure?.Exception
            );
        }

        if (flushes)
            _keptAt = files.Now;
        journal.AbandonAsync().GetAwaiter().GetResult();
    }

    /// <summary>What holds for a crash after so many changes of this life.</summary>
    public JournalView ViewAt(int now)
    {
        var view = new JournalView
        {
            Phase =
                _openedAt == int.MaxValue && _before.Phase == JournalPhase.There ? JournalPhase.Going : _before.Phase,
            Durable = _before.Durable,
            Written = kind == CrashKind.All ? _before.Written : 0,
            StartAtLeast = _before.StartAtLeast,
            StartAtMost = _before.StartAtMost,
            Epoch = _before.Epoch,
        };
        view.Batches.AddRange(_before.Batches);
        if (now < _openedAt)
            return view;
        // What was readable once is there for good.
        view.Cut(_recoveredEnd);
        view.Batches.AddRange(_added);
        view.Durable = view.Written = now >= _keptAt ? view.End : _recoveredEnd;
        view.StartAtLeast = _recoveredStart;
        view.Epoch = _epoch;
        return view;
    }
}
