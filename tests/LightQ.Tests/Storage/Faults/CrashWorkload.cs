using System.Text;
using LightQ.Client;
using LightQ.Storage;
using LightQ.Storage.State;

namespace LightQ.Tests.Storage.Faults;

/// <summary>
/// A broker's storage at work, step by step, so that the same seed gives the same changes of the disk in the same
/// order.
/// </summary>
/// <remarks>
/// The writer's thread works while the driver waits; the supply thread only between steps, and not between all. So a
/// segment that is asked for ahead is sometimes there in time and sometimes made by the writer.
/// </remarks>
internal sealed class CrashWorkload : IDisposable
{
    public const string Catalog = "/data/catalog";
    public const string Groups = "/data/groups";

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    private readonly Random _random;
    private readonly ManualClock _clock = new();
    private readonly JournalEnvironment _environment;
    private readonly JournalModel _synced;
    private readonly JournalModel _relaxed;
    private RecordJournal _catalog;
    private OffsetStore _positions;
    private ManualResetEventSlim _supplyGate;
    private int _record;

    public CrashWorkload(Random random)
    {
        _random = random;
        _environment = Environment(Files, _clock);
        _supplyGate = HoldSupply();
        State = new StateModel(Files);
        _catalog = OpenCatalog();
        _positions = OffsetStore.Open(Groups, _environment);
        _synced = Add(
            new JournalOptions
            {
                Directory = "/data/topics/a/0",
                TopicId = new Guid(1, 0, 0, new byte[8]),
                RetentionBytes = 60_000,
            }
        );
        _relaxed = Add(
            new JournalOptions
            {
                Directory = "/data/topics/b/0",
                TopicId = new Guid(2, 0, 0, new byte[8]),
                RetentionBytes = 40_000,
                Flush = Durability.Written,
                ReadLevel = Durability.Written,
            }
        );
    }

    public SimulatedFileSystem Files { get; } = new(new SimulatedDisk());

    public List<JournalModel> Journals { get; } = [];

    public StateModel State { get; }

    /// <summary>Small everything, so that a start is cheap and there are many rolls.</summary>
    public static JournalOptions Small(JournalOptions options) =>
        options with
        {
            RingBytes = 64 * 1024,
            SegmentBytes = 16 * 1024,
            MaxBatchBytes = 8 * 1024,
        };

    public static JournalEnvironment Environment(SimulatedFileSystem files, TimeProvider clock) =>
        new(
            new JournalEnvironmentOptions
            {
                Writers = 1,
                Readers = 1,
                ReadBufferBytes = 16 * 1024,
                TimeProvider = clock,
            },
            files
        );

    public void Run(int changes)
    {
        while (Files.Now < changes)
        {
            Step();
            if (_random.Next(4) != 0)
                LetSupplyWork();
        }
    }

    public void Dispose()
    {
        Files.BeforeSync = _ => { };
        _supplyGate.Set();
        foreach (JournalModel journal in Journals.Where(journal => journal.IsOpen))
            journal.Close(abandon: true);
        _positions.Dispose();
        _catalog.Dispose();
        _environment.Dispose();
    }

    private void Step()
    {
        switch (_random.Next(100))
        {
            case < 45:
                Append(_synced);
                break;
            case < 62:
                Append(_relaxed);
                break;
            case < 70:
                _clock.Advance(TimeSpan.FromSeconds(_random.Next(1, 8)));
                Housekeep();
                break;
            case < 72:
                JournalModel truncated = _random.Next(2) == 0 ? _synced : _relaxed;
                truncated.Truncate(
                    truncated.Journal!.StartOffset
                        + _random.Next((int)(truncated.Journal.ReadableOffset - truncated.Journal.StartOffset) + 1)
                );
                break;
            case < 74:
                Reopen(_random.Next(2) == 0 ? _synced : _relaxed);
                break;
            case < 76:
                CreateOrDelete();
                break;
            case < 88:
                ChangeCatalog();
                break;
            default:
                ChangePositions();
                break;
        }
    }

    private void Append(JournalModel model)
    {
        int batches = _random.Next(1, 6);
        for (int i = 0; i < batches; i++)
            model.Append(_random);
        if (_random.Next(4) == 0)
        {
            // More arrives while the disk is busy with the first: those say that less was durable.
            int more = _random.Next(1, 4);
            Files.BeforeSync = path =>
            {
                if (
                    !path.StartsWith(model.Options.Directory, StringComparison.Ordinal)
                    || !path.EndsWith(".seg", StringComparison.Ordinal)
                )
                {
                    return;
                }

                for (; more > 0; more--)
                    model.Append(_random);
            };
        }
        model.Journal!.Signal();
        WaitIdle(model);
        Files.BeforeSync = _ => { };
    }

    private void Housekeep()
    {
        Action housekeeping = _environment.Housekeeping.RunOnce;
        foreach (JournalModel journal in Journals.Where(journal => journal.IsOpen))
        {
            Action inner = housekeeping;
            housekeeping = () => journal.Keep(inner);
        }
        housekeeping();
        foreach (JournalModel journal in Journals.Where(journal => journal.IsOpen))
            WaitIdle(journal);
        State.KeptPositions();
        NotePromises();
    }

    private void Reopen(JournalModel model)
    {
        bool abandon = _random.Next(2) == 0;
        if (abandon && _random.Next(2) == 0)
            model.Append(_random); // Still in the ring: lost, and never acknowledged.
        model.Close(abandon);
        model.Open(_environment);
    }

    private void CreateOrDelete()
    {
        if (Journals[^1] is { IsOpen: true } last && last != _relaxed)
        {
            last.Delete();
            return;
        }
        int number = Journals.Count;
        JournalModel made = Add(
            new JournalOptions
            {
                Directory = $"/data/topics/c{number}/0",
                TopicId = new Guid(3, (short)number, 0, new byte[8]),
            }
        );
        for (int i = 0; i < 4; i++)
            Append(made);
    }

    private void ChangeCatalog()
    {
        if (_random.Next(12) == 0)
        {
            string[] compacted = [.. State.Records.Where(_ => _random.Next(3) == 0)];
            State.TryRecords(compacted);
            _catalog.Compact(compacted.Select(record => (ReadOnlyMemory<byte>)Encoding.UTF8.GetBytes(record)));
            State.KeptRecords();
            return;
        }
        if (_random.Next(15) == 0)
        {
            _catalog.Dispose();
            State.KeptRecords();
            _catalog = OpenCatalog();
        }
        string added = $"record {++_record} {new string('x', _random.Next(600))}";
        State.TryRecords([.. State.Records, added]);
        if (_random.Next(3) == 0)
        {
            _catalog.Write(Encoding.UTF8.GetBytes(added));
            return;
        }
        _catalog.Append(Encoding.UTF8.GetBytes(added));
        State.KeptRecords();
    }

    private void ChangePositions()
    {
        for (int i = 0; i < 3; i++)
        {
            var key = new OffsetKey($"group{_random.Next(3)}", Guid.Empty, _random.Next(2));
            if (_random.Next(10) == 0)
            {
                State.SetPosition(key, -1);
                _positions.Remove(key);
                continue;
            }
            long offset = _random.Next(1_000_000);
            State.SetPosition(key, offset);
            _positions.Set(key, offset, new byte[_random.Next(200)]);
        }
        if (_random.Next(15) == 0)
        {
            _positions.Dispose();
            _positions = OffsetStore.Open(Groups, _environment);
            State.KeptPositions();
        }
        else if (_random.Next(2) == 0)
        {
            _positions.Flush();
            State.KeptPositions();
        }
        NotePromises();
    }

    private void NotePromises() =>
        State.PromisedPositions(key => _positions.TryGetKept(key, out long kept) ? kept : -1);

    private RecordJournal OpenCatalog() => RecordJournal.Open(Catalog, _environment, _ => { });

    private JournalModel Add(JournalOptions options)
    {
        var model = new JournalModel(Files, Small(options));
        Journals.Add(model);
        model.Open(_environment);
        return model;
    }

    private ManualResetEventSlim HoldSupply()
    {
        var gate = new ManualResetEventSlim();
        using var holding = new ManualResetEventSlim();
        _environment.Supply.Post(() =>
        {
            holding.Set();
            gate.Wait();
        });
        if (!holding.Wait(Limit))
            throw new TimeoutException("The supply thread did not get there in time.");
        return gate;
    }

    /// <summary>Its queue is in order: when it holds again, everything before is done.</summary>
    private void LetSupplyWork()
    {
        _supplyGate.Set();
        _supplyGate = HoldSupply();
    }

    private static void WaitIdle(JournalModel model)
    {
        Journal journal = model.Journal!;
        if (
            !SpinWait.SpinUntil(
                () => journal.IsIdle && (journal.WrittenOffset == journal.EndOffset || journal.Failure is not null),
                Limit
            )
        )
        {
            throw new TimeoutException($"The journal in '{model.Options.Directory}' did not write in time.");
        }

        if (journal.Failure is { } failure)
        {
            throw new InvalidOperationException(
                $"The journal in '{model.Options.Directory}' failed: {failure.Reason}",
                failure.Exception
            );
        }
    }
}
