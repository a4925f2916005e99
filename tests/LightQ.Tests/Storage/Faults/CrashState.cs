using System.Collections.Concurrent;
using System.Text;
using LightQ.Storage;
using LightQ.Storage.State;

namespace LightQ.Tests.Storage.Faults;

/// <summary>
/// One crash of a workload: what is left is started on, used, crashes again, and is started on again.
/// </summary>
internal sealed class CrashState(CrashWorkload workload, int now, CrashKind kind, SimulatedDisk disk, Random random)
{
    private const string AddedRecord = "added in the second life";

    private readonly CrashWorkload _workload = workload;
    private readonly int _now = now;
    private readonly CrashKind _kind = kind;
    private readonly SimulatedDisk _disk = disk;
    private readonly Random _random = random;

    /// <summary>Compares both starts with what clients were told.</summary>
    public void Verify(ConcurrentQueue<string> violations)
    {
        var files = new SimulatedFileSystem(_disk.Clone());
        string last = _now == 0 ? "nothing" : _workload.Files.Operations[_now - 1].ToString();
        List<SecondLife> lives = [];
        var check = new CrashCheck(_kind, message => violations.Enqueue($"{_kind} after {_now} ({last}): {message}"));
        IReadOnlyList<string> records = [];
        int recordsOpened = int.MaxValue,
            recordKept = int.MaxValue;
        using (JournalEnvironment environment = CrashWorkload.Environment(files, new ManualClock()))
        {
            foreach (JournalModel model in _workload.Journals)
            {
                JournalView view = model.ViewAt(_now);
                var life = new SecondLife(model.Options, view, _kind, files);
                lives.Add(life);
                life.Use(check, environment, _random);
            }
            using RecordJournal? catalog = check.OpenRecords(
                environment,
                CrashWorkload.Catalog,
                found =>
                {
                    records = [.. found];
                    return _workload.State.Allows(_now, found);
                }
            );
            if (catalog is not null)
            {
                recordsOpened = files.Now;
                catalog.Append(Encoding.UTF8.GetBytes(AddedRecord));
                recordKept = files.Now;
            }
            check
                .OpenPositions(
                    environment,
                    CrashWorkload.Groups,
                    _workload.State.Keys,
                    (key, offset) => _workload.State.Allows(_now, key, offset)
                )
                ?.Dispose();
        }
        CrashAgain(
            files,
            lives,
            records,
            recordsOpened,
            recordKept,
            (crashedAt, again) =>
                message =>
                    violations.Enqueue(
                        $"{_kind} after {_now} ({last}), then {again} after {crashedAt} "
                            + $"({(crashedAt == 0 ? "nothing" : files.Operations[crashedAt - 1].ToString())}): "
                            + $"{message}"
                    )
        );
    }

    private void CrashAgain(
        SimulatedFileSystem first,
        List<SecondLife> lives,
        IReadOnlyList<string> records,
        int recordsOpened,
        int recordKept,
        Func<int, CrashKind, Action<string>> violation
    )
    {
        int crashedAt = _random.Next(3) == 0 ? first.Operations.Count : _random.Next(first.Operations.Count + 1);
        CrashKind again = (CrashKind)_random.Next(4);
        SimulatedDisk disk = _disk;
        for (int i = 0; i < crashedAt; i++)
            disk.Apply(first.Operations[i]);
        var files = new SimulatedFileSystem(disk.Crash(again, _random));
        var check = new CrashCheck(again, violation(crashedAt, again));
        using JournalEnvironment environment = CrashWorkload.Environment(files, new ManualClock());
        foreach (SecondLife life in lives)
        {
            check
                .OpenJournal(files, environment, life.Options, life.ViewAt(crashedAt))
                ?.AbandonAsync()
                .GetAwaiter()
                .GetResult();
        }

        check
            .OpenRecords(
                environment,
                CrashWorkload.Catalog,
                found =>
                    (
                        crashedAt < recordKept
                        && (
                            crashedAt >= recordsOpened
                                ? found.SequenceEqual(records)
                                : _workload.State.Allows(_now, found)
                        )
                    ) || found.SequenceEqual([.. records, AddedRecord])
            )
            ?.Dispose();
        check
            .OpenPositions(
                environment,
                CrashWorkload.Groups,
                _workload.State.Keys,
                (key, offset) => _workload.State.Allows(_now, key, offset)
            )
            ?.Dispose();
    }
}
